import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { MapRecorder } from '../../../main/sanitize/map/map-recorder.js';
import { restore } from '../../../main/sanitize/map/restore.js';
import { decodeMap, encodeMap, type OpenedMap } from '../../../main/sanitize/map/restore-map.js';
import { SanitizeStream } from '../../../main/sanitize/stream.js';
import { allLines } from '../own/score.js';

const STEP = process.env.TACKROOM_ALL_WRAPS ? 1 : 9;
const SESSIONS = 20;
const dir = mkdtempSync(join(tmpdir(), 'sanitize-map-own-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function cleaned(input: Buffer): { clean: Buffer; map: OpenedMap } {
  const session = new SanitizeStream(dir);
  const keep = new MapRecorder();
  try {
    session.push(input);
    const clean = Buffer.concat([...session.finish(null, () => undefined, { keep })]);
    return { clean, map: decodeMap(encodeMap(keep.finish(session.pseudonyms).map!)) };
  } finally {
    session.close();
  }
}

/** A blank more, so that no line is as it was cleaned. */
const edited = (lines: readonly string[]): string[] =>
  lines.map((line) => (line.startsWith('{') ? `{ ${line.slice(1)}` : `${line} `));

test('own cases come back, as they were and edited', { timeout: 120_000 }, () => {
  const sessions: string[][] = Array.from({ length: SESSIONS }, () => []);
  const all = allLines().filter((_, i) => i % STEP === 0);
  for (const [i, { wrapped }] of all.entries()) sessions[i % SESSIONS]!.push(wrapped.line);
  let lines = 0;
  let same = 0;
  for (const session of sessions) {
    const input = Buffer.from(session.join('\n'));
    const { clean, map } = cleaned(input);
    expect(clean.equals(input)).toBe(false);
    expect(restore(clean, map, true).bytes.equals(input)).toBe(true);
    const wanted = edited(input.toString().split('\n'));
    const got = restore(Buffer.from(edited(clean.toString().split('\n')).join('\n')), map, false)
      .bytes.toString()
      .split('\n');
    expect(got).toHaveLength(wanted.length);
    for (const [i, line] of got.entries()) {
      lines++;
      if (line === wanted[i]) same++;
      if (wanted[i]!.startsWith('{')) expect(() => JSON.parse(line), line).not.toThrow();
    }
  }
  expect(lines).toBeGreaterThan(1000);
  // The others say the same in another spelling: codes of characters become the characters.
  expect(same / lines).toBeGreaterThan(0.99);
});
