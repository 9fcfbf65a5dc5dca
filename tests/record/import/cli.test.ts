import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandIo } from '../../../main/cli/io.js';
import { sessionsListCommand, sessionsSearchCommand, sessionsShowCommand } from '../../../main/cli/sessions.js';
import { sessionsImportCommand } from '../../../main/cli/sessions-import.js';
import { traceFromStore } from '../../../main/envs/session-source.js';
import { rawExport } from '../../../main/trajectory/export-session.js';
import { validateAtif } from '../../../main/trajectory/validate-atif.js';
import { CLAUDE_LINES, PI_LINES } from './sessions.js';
import { type Home, openTestHome } from './support.js';

let at: Home;
let source: string;
beforeEach(() => {
  at = openTestHome();
  source = join(at.home, 'source');
  mkdirSync(source);
  writeFileSync(join(source, 'a.jsonl'), CLAUDE_LINES.map((line) => JSON.stringify(line)).join('\n'));
  writeFileSync(join(source, 'b.jsonl'), `${PI_LINES.map((line) => JSON.stringify(line)).join('\n')}\n{"torn`);
});
afterEach(() => at.close());

/** Runs a command on the test's home; returns its exit status and what it wrote. */
async function run<O>(
  command: (options: O & { home: string }, io: CommandIo) => Promise<number>,
  options: O,
  signal = new AbortController().signal,
) {
  const out = new PassThrough();
  const err = new PassThrough();
  const io: CommandIo = { stdin: new PassThrough(), stdout: out, stderr: err, interactive: false, signal };
  const code = await command({ ...options, home: at.home }, io);
  return { code, out: String(out.read() ?? ''), err: String(err.read() ?? '') };
}

const importAll = () => run(sessionsImportCommand, { path: source, harness: 'auto', json: true });

it('tells in one document what was imported and what was skipped', async () => {
  const { code, out } = await importAll();
  expect(code).toBe(0);
  const told = JSON.parse(out) as { sessions: { id: string }[]; skipped: unknown[] };
  expect(told.sessions).toMatchObject([
    { harness: 'claude-code', requests: 2, tool_calls: 2, added_requests: 2, title: 'Fix the test' },
    { harness: 'pi', requests: 4, tool_calls: 1, added_requests: 4, title: 'Fix the test' },
  ]);
  expect(told.skipped).toEqual([
    { path: join(source, 'b.jsonl'), line: PI_LINES.length + 1, reason: 'torn last line' },
  ]);
  const again = JSON.parse((await importAll()).out) as typeof told;
  expect(again.sessions).toMatchObject([{ added_requests: 0 }, { added_requests: 0 }]);
});

it('reads one harness alone when told to, and refuses one it does not know', async () => {
  const { out } = await run(sessionsImportCommand, { path: source, harness: 'pi', json: true });
  expect((JSON.parse(out) as { sessions: unknown[] }).sessions).toHaveLength(1);
  await expect(run(sessionsImportCommand, { path: source, harness: 'vim' })).rejects.toMatchObject({
    code: 'BAD_ARGUMENT',
  });
});

it('ends with 1 for a file without sessions, and stops when it is told to', async () => {
  writeFileSync(join(source, 'c.json'), '{}');
  expect((await run(sessionsImportCommand, { path: join(source, 'c.json'), harness: 'auto', json: true })).code).toBe(
    1,
  );
  const here = relative(process.cwd(), join(source, 'c.json'));
  expect((await run(sessionsImportCommand, { path: here, harness: 'auto' })).err).toContain('holds no sessions');
  await expect(
    run(sessionsImportCommand, { path: source, harness: 'auto' }, AbortSignal.abort()),
  ).rejects.toMatchObject({ code: 'CANCELLED' });
});

it('is shown, listed and found as what it is', async () => {
  await importAll();
  expect((await run(sessionsListCommand, { limit: '10' })).out).toMatch(/claude-code +import/);
  const found = JSON.parse((await run(sessionsSearchCommand, { text: 'subtracts "return a"', json: true })).out) as {
    sessions: { id: string; source: { harness: string } }[];
  };
  expect(found.sessions.map((session) => session.source.harness)).toEqual(['claude-code']);
  const shown = (await run(sessionsShowCommand, { id: found.sessions[0]!.id })).out;
  expect(shown).toContain('--- tool (exit code 1)\nExit code 1');
});

it('is a source for tasks and for ATIF, with exit codes and without what nobody typed', async () => {
  await importAll();
  const { id } = at.store.session.list({ where: { harness: 'pi' } })[0]!;
  const trace = traceFromStore(at.store, id);
  expect(trace.cwd).toBe('/home/dev/calc');
  expect(trace.events.filter((event) => event.kind === 'call')).toMatchObject([
    { name: 'bash', exitCode: 1, isError: true },
  ]);
  expect(trace.events.filter((event) => event.kind === 'user').map((event) => event.text)).toEqual([
    'Fix the test',
    'And then?',
  ]);
  const document = rawExport(at.store, id, 'atif');
  expect(validateAtif(document).filter(({ level }) => level === 'error')).toEqual([]);
  expect(JSON.stringify(document)).toContain('"exit_code":1');
});
