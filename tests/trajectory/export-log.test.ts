import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandIo } from '../../main/cli/io.js';
import { sessionsExportCommand } from '../../main/cli/sessions.js';
import { sessionsExportsCommand } from '../../main/cli/sessions-exports.js';
import { Recorder } from '../../main/record/recorder.js';
import { Decisions } from '../../main/sanitize/review/decisions.js';
import { rulesFile } from '../../main/sanitize/review/policy.js';
import { RULE_SET } from '../../main/sanitize/rule-set.js';
import { openHome } from '../../main/services/paths.js';
import { openStore, type Store } from '../../main/store/store.js';
import { type ExportState, loggedExports, noteExport } from '../../main/trajectory/export-log.js';
import { Vault } from '../../main/vault/vault.js';
import { ask, request, say, system, temporaryHome } from '../record/support.js';

let home: string;
let remove: () => void;
let store: Store;
let recorder: Recorder;
let id: string;
let folder: string;

beforeEach(() => {
  ({ home, remove } = temporaryHome());
  store = openStore(openHome(home).home);
  recorder = new Recorder(store);
  ({ sessionId: id } = recorder.record(request([system, ask('hello')], say('hi'))));
  folder = join(home, "it's out");
  mkdirSync(folder);
});
afterEach(() => {
  store.close();
  remove();
});

async function run<O>(command: (options: O & { home: string }, io: CommandIo) => Promise<number>, options: O) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const { signal } = new AbortController();
  const code = await command(
    { ...options, home },
    { stdin: new PassThrough(), stdout, stderr, interactive: false, signal },
  );
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}
const exported = (output?: string, format = 'atif', raw = false) =>
  run(sessionsExportCommand, { id, format, output, raw });
const states = (): ExportState[] => loggedExports(store).map(({ state }) => state);
const older = (rules: string): void => {
  store.db.prepare('UPDATE session_export SET rules = ?').run(rules);
};

it('knows every cleaned copy, and no raw one', async () => {
  await exported(folder);
  await exported(folder, 'native');
  await exported();
  await exported(folder, 'atif', true);
  await exported(join(folder, 'raw.json'), 'native', true);
  const logged = loggedExports(store);
  expect(logged.map(({ format, path }) => [format, path]).sort()).toEqual([
    ['atif', ''],
    ['atif', join(folder, `${id}.atif.json`)],
    ['native', join(folder, `${id}.native.json`)],
  ]);
  for (const one of logged) expect(one).toMatchObject({ sessionId: id, rules: RULE_SET, state: 'current' });
  const text = readFileSync(join(folder, `${id}.atif.json`), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ extra: { tackroom: { sanitizer: { rules: RULE_SET } } } });
});

it('is stale with an older rule set, and current when it was made again as told', async () => {
  await exported(folder);
  await exported();
  older('2026.11.9');
  const { out, err } = await run(sessionsExportsCommand, { stale: true });
  expect(out.match(/stale: older rules/g)).toHaveLength(2);
  expect(out).toContain('2026.11.9');
  expect(err).toContain(`tackroom sessions export ${id} --format atif\n`);
  const again = join(folder, `${id}.atif.json`).replaceAll("'", "'\\''");
  expect(err).toContain(`tackroom sessions export ${id} --format atif -o '${again}'\n`);
  await exported(join(folder, `${id}.atif.json`));
  await exported();
  expect(states()).toEqual(['current', 'current']);
  expect((await run(sessionsExportsCommand, { stale: true })).out).toBe('');
});

it('is stale when the session went on', async () => {
  await exported(folder);
  recorder.record(request([system, ask('hello'), say('hi'), ask('more')], say('yes')));
  expect(states()).toEqual(['session']);
});

it('is stale when rules or decisions of the user change', async () => {
  await exported(folder);
  writeFileSync(rulesFile(home), 'version: 1\nentities: [{ name: project, values: [hello] }]\n');
  expect(states()).toEqual(['own-rules']);
  await exported(folder);
  expect(states()).toEqual(['current']);
  expect(readFileSync(join(folder, `${id}.atif.json`), 'utf8')).not.toContain('hello');
  const vault = new Vault(home);
  const decision = await new Decisions(store, vault).add(id, { do: 'keep', value: 'hello', family: null });
  expect(states()).toEqual(['own-rules']);
  new Decisions(store, vault).remove(decision);
  expect(states()).toEqual(['current']);
});

it('tells a file that was edited or is gone', async () => {
  await exported(folder);
  writeFileSync(join(folder, `${id}.atif.json`), '{}');
  expect(states()).toEqual(['edited']);
  rmSync(join(folder, `${id}.atif.json`));
  expect(states()).toEqual(['gone']);
  const { exports } = JSON.parse((await run(sessionsExportsCommand, { json: true })).out) as { exports: object[] };
  expect(exports).toMatchObject([{ sessionId: id, state: 'gone', stale: false, again: null }]);
  // Nothing of how it was made.
  expect(JSON.stringify(exports)).not.toMatch(/input|own/i);
});

it('goes with its session, and does not come back', async () => {
  await exported(folder);
  const [row] = loggedExports(store);
  recorder.deleteSession(id);
  expect(loggedExports(store)).toEqual([]);
  noteExport(store, { ...row!, facts: { rules: RULE_SET, inputSha256: 'x', places: 0 } });
  expect(loggedExports(store)).toEqual([]);
});

it('of one file there is one: the last', async () => {
  const { sessionId: other } = recorder.record(request([system, ask('another')], say('hi')));
  const file = join(folder, 'one.json');
  await exported(file);
  await run(sessionsExportCommand, { id: other, format: 'native', output: file });
  expect(loggedExports(store).map(({ sessionId, format }) => [sessionId, format])).toEqual([[other, 'native']]);
});
