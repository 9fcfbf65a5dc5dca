import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { SESSION_READERS } from '../../main/cli/sessions-import.js';
import { type EnvsIo, envsBuildCommand, envsCheckCommand, envsFindCommand } from '../../main/envs/cli.js';
import { importSessions } from '../../main/record/import-sessions.js';
import { compileRules } from '../../main/sanitize/rules.js';
import { sanitizeBytes } from '../../main/sanitize/sanitize.js';
import { openHome } from '../../main/services/paths.js';
import { openStore } from '../../main/store/store.js';
import { loggedExports } from '../../main/trajectory/export-log.js';
import { asClaudeCode, asPi, makePrivate, privateParts, recordScript } from './private-session.js';
import { describeSandbox } from './sandbox-support.js';
import { temporaryFolder } from './support.js';

const root = temporaryFolder();
const who = makePrivate('clean-task');
const script = recordScript(who);

async function run(command: (io: EnvsIo) => Promise<number>): Promise<{ out: string; err: string }> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  await command({ stdout, stderr, signal: new AbortController().signal });
  return { out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

/** Names and contents of all files below a folder. */
function everything(dir: string): string {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return `${file}\n${entry.isFile() ? readFileSync(file, 'latin1') : ''}\n`;
    })
    .join('');
}

/** Imports a session file into a new home; the id of its session. */
async function imported(name: string, text: string): Promise<{ home: string; id: string }> {
  const home = join(root, `home-${name}`);
  mkdirSync(home, { mode: 0o700 });
  const file = join(root, `${name}.jsonl`);
  writeFileSync(file, text);
  const store = openStore(openHome(home).home);
  try {
    const { sessions } = await importSessions(store, file, SESSION_READERS);
    return { home, id: sessions[0]!.session.id };
  } finally {
    store.close();
  }
}

const cleaned = (text: string): string => {
  const { bytes, withheld } = sanitizeBytes(Buffer.from(text));
  expect(withheld).toEqual([]);
  expect(privateParts(who).filter((part) => bytes.includes(part))).toEqual([]);
  return bytes.toString();
};

it('is a session whose files, check and output hold what is private', () => {
  const failed = script.steps.find(({ code }) => code !== 0)!;
  for (const value of [who.user, who.host, who.token, who.home]) {
    expect(failed.args.command).toContain(value);
    expect(failed.output).toContain(value);
    expect(
      script.steps.filter(({ args }) => args.command?.startsWith('cat')).every(({ output }) => output !== ''),
    ).toBe(true);
  }
  expect(script.steps.at(-1)!.code).toBe(0);
});

it('is found with the rules of the user, who may keep it in', async () => {
  const { home, id } = await imported('ruled', asPi(script));
  const find = (rules: string): Promise<{ out: string }> =>
    run((io) =>
      envsFindCommand(
        [],
        { session: id, home, json: true },
        { ...io, registryOf: async () => compileRules(rules, 'r') },
      ),
    );
  const { out } = await find('version: 1\nentities: [{ name: module, values: [ReleaseTest] }]');
  expect(JSON.parse(out)).toMatchObject({
    candidates: [{ kind: 'repair', check: 'python3 -m unittest -q', files: ['release.py'] }],
  });
  const before = JSON.parse((await find('version: 1')).out) as { candidates: { start_sha: string }[] };
  expect(out).not.toContain(before.candidates[0]!.start_sha);
  await expect(
    find('version: 1\ndeny: [{ name: customer, values: ["goes to the wrong folder"] }]'),
  ).rejects.toMatchObject({
    code: 'REFUSED',
  });
});

describeSandbox('a repair task of a cleaned session', () => {
  const forms: [name: string, prepare: () => Promise<{ source: string; home?: string }>][] = [
    [
      'a file of pi, cleaned before',
      async () => {
        const source = join(root, 'clean-pi.jsonl');
        writeFileSync(source, cleaned(asPi(script)));
        return { source };
      },
    ],
    [
      'a file of pi as it is',
      async () => {
        const source = join(root, 'raw-pi.jsonl');
        writeFileSync(source, asPi(script));
        return { source };
      },
    ],
    [
      'a file of Claude Code, cleaned and imported',
      async () => {
        const { id, home } = await imported('clean-claude', cleaned(asClaudeCode(script)));
        return { source: id, home };
      },
    ],
    [
      'a file of Claude Code, imported as it is',
      async () => {
        const { id, home } = await imported('raw-claude', asClaudeCode(script));
        return { source: id, home };
      },
    ],
  ];
  it.each(forms)('%s: passes its trials and holds nothing private', async (name, prepare) => {
    const { source, home } = await prepare();
    const output = join(root, 'tasks', name.replaceAll(/\W+/g, '-'));
    const built = await run((io) => envsBuildCommand(source, { output, home, json: true }, io));
    expect(built.err).toBe('');
    const { built: tasks } = JSON.parse(built.out) as { built: { dir: string }[] };
    expect(tasks).toHaveLength(1);
    const checked = await run((io) =>
      envsCheckCommand(
        tasks.map(({ dir }) => dir),
        { json: true },
        io,
      ),
    );
    const { trials, ok } = JSON.parse(checked.out) as { trials: { ok: boolean }[]; ok: boolean };
    expect(trials.filter((trial) => !trial.ok)).toEqual([]);
    expect(trials.length).toBeGreaterThan(10);
    expect(ok).toBe(true);
    const text = everything(output);
    expect(text).toContain('def test_target');
    expect(privateParts(who).filter((part) => text.includes(part))).toEqual([]);
    if (home === undefined) return;
    const store = openStore(home);
    expect(loggedExports(store)).toMatchObject([{ format: 'task', path: tasks[0]!.dir, state: 'current' }]);
    store.close();
  });
});
