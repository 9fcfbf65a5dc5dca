import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loginItemCommand } from '../../main/cli/login-item.js';
import { fileLoginItem, type LoginItem } from '../../main/services/login-item.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tackroom-login-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Words as hard as a path can be. */
const COMMAND = ['/bin/with "quotes" $HOME `x` \\ 100% & <b>', '--home', '/a b', 'serve', '--gateway-only'] as const;
const itemFor = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv = { HOME: home }): LoginItem =>
  fileLoginItem(COMMAND, platform, env)!;

/** As a desktop reads Exec: the string's escapes, then the quoted words, then the doubled percent sign. */
function wordsOf(entry: string): string[] {
  const value = /^Exec=(.*)$/m.exec(entry)![1]!.replace(/\\\\/g, '\\');
  return [...value.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) =>
    word!.replace(/\\(["`$\\])/g, '$1').replaceAll('%%', '%'),
  );
}

describe.each([
  ['linux', '.config/autostart'],
  ['darwin', 'Library/LaunchAgents'],
] as const)('on %s', (platform, folder) => {
  it('is one file of its own, made and removed', () => {
    mkdirSync(join(home, folder), { recursive: true });
    writeFileSync(join(home, folder, 'other'), 'x');
    const item = itemFor(platform);
    expect([item.isOn(), dirname(item.place!)]).toEqual([false, join(home, folder)]);
    item.set(true);
    item.set(true);
    expect([item.isOn(), readdirSync(join(home, folder)).length]).toEqual([true, 2]);
    item.set(false);
    item.set(false);
    expect([item.isOn(), readdirSync(join(home, folder))]).toEqual([false, ['other']]);
  });

  it('leaves alone what somebody else wrote there', () => {
    const item = itemFor(platform);
    mkdirSync(dirname(item.place!), { recursive: true });
    writeFileSync(item.place!, 'mine');
    expect(item.isOn()).toBe(false);
    for (const on of [true, false]) expect(() => item.set(on)).toThrow(/not written by Tackroom/);
    expect(readFileSync(item.place!, 'utf8')).toBe('mine');
  });
});

it('starts what it was told to, word for word', () => {
  const linux = itemFor('linux', { XDG_CONFIG_HOME: join(home, 'xdg') });
  linux.set(true);
  const entry = readFileSync(join(home, 'xdg', 'autostart', 'tackroom-gateway.desktop'), 'utf8');
  expect(wordsOf(entry)).toEqual([...COMMAND]);
  const mac = itemFor('darwin');
  mac.set(true);
  const read = "import plistlib,sys,json; print(json.dumps(plistlib.load(open(sys.argv[1],'rb'))))";
  const agent = JSON.parse(execFileSync('python3', ['-c', read, mac.place!], { encoding: 'utf8' })) as object;
  expect(agent).toMatchObject({ RunAtLoad: true, ProgramArguments: [...COMMAND] });
});

it('has no file on Windows', () => expect(fileLoginItem(COMMAND, 'win32', {})).toBeNull());

describe.skipIf(process.platform !== 'linux')('tackroom login-item (Linux)', () => {
  const before = { ...process.env };
  afterEach(() => {
    process.env = { ...before };
  });
  it('writes for the home that is meant, into the folder that the session reads', async () => {
    process.env.XDG_CONFIG_HOME = join(home, 'config');
    const run = async (what: string): Promise<string> => {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const io = { stdin: new PassThrough(), stdout, stderr, interactive: false, signal: new AbortController().signal };
      expect(await loginItemCommand({ home, what }, io)).toBe(0);
      return String(stdout.read());
    };
    const place = join(home, 'config', 'autostart', 'tackroom-gateway.desktop');
    expect(await run('on')).toContain(place);
    const [program, script, ...rest] = wordsOf(readFileSync(place, 'utf8'));
    expect([program, existsSync(script!), rest]).toEqual([
      process.execPath,
      true,
      ['--home', home, 'serve', '--gateway-only'],
    ]);
    expect(await run('status')).toContain(place);
    expect(await run('off')).not.toContain(place);
    expect(existsSync(place)).toBe(false);
    await expect(run('maybe')).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  });
});
