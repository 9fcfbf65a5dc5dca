/**
 * Damaged session files of every kind: an import ends without an error, in bounded time; what it stored is whole, the same
 * the second time, and gone without a trace when it is deleted. `npm run fuzz -- --kind import` runs many more;
 * TACKROOM_FUZZ_COUNT, TACKROOM_FUZZ_SEED, TACKROOM_FUZZ_FIRST and TACKROOM_FUZZ_SAVE as in the tokenizers' fuzzing.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MessageStore } from '../../../main/record/message-store.js';
import { Recorder } from '../../../main/record/recorder.js';
import { sessionTranscript } from '../../../main/record/transcript.js';
import { toAtif } from '../../../main/trajectory/to-atif.js';
import { damageBytes, damageText, damageValue, jsonText, Random } from '../../engine/tokenizer/fuzz-random.js';
import { SESSION } from '../../trajectory/support.js';
import {
  HERMES_ROWS,
  hermesDatabase,
  OPENCODE_ROWS,
  opencodeDatabase,
  opencodeExport,
  type Rows,
} from './databases.js';
import { CLAUDE_LINES, CODEX_LINES, PI_LINES } from './sessions.js';
import { contents, type Home, openTestHome } from './support.js';

const COUNT = Number(process.env.TACKROOM_FUZZ_COUNT ?? 60);
const FIRST = Number(process.env.TACKROOM_FUZZ_FIRST ?? 0);
const SEED = Number(process.env.TACKROOM_FUZZ_SEED ?? process.env.TACKROOM_PROPERTY_SEED ?? 20261130);
/** Processor time for one input. */
const LIMIT_MS = 3000;

let dir: string;
let at: Home;
beforeAll(() => {
  dir = process.env.TACKROOM_FUZZ_SAVE ?? mkdtempSync(join(tmpdir(), 'tackroom-fuzz-'));
  mkdirSync(dir, { recursive: true });
  at = openTestHome();
});
afterAll(() => {
  at.close();
  if (!process.env.TACKROOM_FUZZ_SAVE) rmSync(dir, { recursive: true, force: true });
});

/** Damages values, then sometimes the text itself. */
function lines(sound: readonly object[], random: Random): Buffer {
  const list = structuredClone(sound) as object[];
  for (let left = random.below(4); left > 0; left--) damageValue(list as never, random);
  if (random.chance(0.2)) list.push(...structuredClone(list.slice(random.below(list.length))));
  let text = list.map((line) => jsonText(line ?? null)).join(random.chance(0.1) ? '\r\n' : '\n');
  if (random.chance(0.3)) text = damageText(text, random, ['\n', '\0', '"', '}', '\u2028']);
  return random.chance(0.2) ? damageBytes(Buffer.from(text), random) : Buffer.from(text);
}

function document(sound: object, random: Random): Buffer {
  const copy = structuredClone(sound);
  if (random.chance(0.9)) damageValue(copy as never, random);
  const text = jsonText(copy);
  return Buffer.from(random.chance(0.2) ? damageText(text, random) : text);
}

function database(sound: Rows, make: (rows: Rows, file: string) => void, file: string, random: Random): void {
  const rows = structuredClone(sound);
  if (random.chance(0.8)) damageValue(rows as never, random);
  make(rows, file);
  if (random.chance(0.5)) return;
  const bytes = damageBytes(readFileSync(file), random);
  rmSync(file);
  writeFileSync(file, bytes);
}

const KINDS: Record<string, (file: string, random: Random) => void> = {
  'pi.jsonl': (file, random) => writeFileSync(file, lines(PI_LINES, random)),
  'claude.jsonl': (file, random) => writeFileSync(file, lines(CLAUDE_LINES, random)),
  'codex.jsonl': (file, random) => writeFileSync(file, lines(CODEX_LINES, random)),
  'export.json': (file, random) => writeFileSync(file, document(opencodeExport(OPENCODE_ROWS), random)),
  'atif.json': (file, random) => writeFileSync(file, document(toAtif(SESSION, { mode: 'raw' }) as object, random)),
  'hermes.db': (file, random) => database(HERMES_ROWS, hermesDatabase, file, random),
  'opencode.db': (file, random) => database(OPENCODE_ROWS, opencodeDatabase, file, random),
};

/** Number of requests stored. */
async function probe(file: string): Promise<number> {
  const messages = new MessageStore(at.store.db);
  const { sessions, skipped } = await at.import(file);
  for (const { reason } of skipped) if (reason.length > 1000) throw new Error('a reason is as long as a file');
  const ids = new Set(at.store.session.list().map((session) => session.id));
  if (ids.size !== sessions.length) throw new Error(`${ids.size} sessions stored, ${sessions.length} told`);
  let total = 0;
  for (const { session } of sessions) {
    const requests = at.requests(session.id);
    total += requests.length;
    if (requests.length !== session.requests) throw new Error('a count is wrong');
    for (const request of requests)
      if (at.prompt(request).some((message) => message === undefined)) throw new Error('a prompt has a hole');
    if (!sessionTranscript(at.store, messages, session.id)) throw new Error('there is no transcript');
  }
  const before = JSON.stringify(contents(at.store));
  if (total % 2 === 0) at.store.db.exec('DELETE FROM import_source');
  const again = await at.import(file);
  if (again.sessions.some(({ added }) => added > 0)) throw new Error('the second reading adds something');
  if (JSON.stringify(contents(at.store)) !== before) throw new Error('the second reading changes something');
  const recorder = new Recorder(at.store);
  for (const id of ids) recorder.deleteSession(id);
  at.store.db.exec('DELETE FROM import_source');
  const left = Object.entries(contents(at.store)).find(([, rows]) => rows.length > 0);
  if (left) throw new Error(`${left[1].length} rows of ${left[0]} are left after deleting`);
  return total;
}

describe('damaged session files', () => {
  it.each(Object.keys(KINDS))('%s', { timeout: 60_000 + COUNT * 200 }, async (kind) => {
    const file = join(dir, kind);
    let stored = 0;
    let slowestMs = 0;
    for (let input = FIRST; input < FIRST + COUNT; input++) {
      rmSync(file, { force: true });
      KINDS[kind]!(file, new Random(SEED, input));
      const began = process.cpuUsage();
      try {
        if ((await probe(file)) > 0) stored++;
      } catch (error) {
        throw new Error(`${kind}: input ${input} of seed ${SEED} ends in ${String(error)}`, { cause: error });
      }
      const { user, system } = process.cpuUsage(began);
      const ms = (user + system) / 1000;
      if (ms > LIMIT_MS) throw new Error(`${kind}: input ${input} of seed ${SEED} takes ${ms.toFixed(0)} ms`);
      slowestMs = Math.max(slowestMs, ms);
    }
    if (process.env.TACKROOM_FUZZ_COUNT)
      console.log(`${kind}: ${COUNT} inputs, ${stored} with requests, slowest ${slowestMs.toFixed(0)} ms`);
    // Inputs that are all refused at the first character would prove nothing.
    if (COUNT >= 50) expect(stored).toBeGreaterThan(COUNT / 8);
  });
});
