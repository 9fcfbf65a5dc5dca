import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScript, scratchCheckout, writeModule } from './support.mjs';

let root;
beforeAll(() => {
  root = scratchCheckout();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the lock', () => {
  /** Takes the lock and gives it back once `untilFile` exists. */
  const holder = (name, untilFile) =>
    writeModule(
      root,
      `${name}.mjs`,
      `import { existsSync } from 'node:fs';
       import { takeLock } from './scripts/setup/lock.mjs';
       const release = await takeLock((pid) => console.log('waits for ' + pid));
       console.log('has it');
       const timer = setInterval(() => {
         if (!existsSync(${JSON.stringify(join(root, untilFile))})) return;
         clearInterval(timer);
         console.log('gives it back');
         release();
       }, 20);`,
    );
  const says = (run, text) => expect.poll(() => run.output()).toContain(text);

  it('lets one in at a time', async () => {
    const first = runScript(root, holder('first', 'go'));
    await says(first, 'has it');
    const second = runScript(root, holder('second', 'go'));
    await says(second, `waits for ${first.child.pid}`);
    writeFileSync(join(root, 'go'), '');
    const [one, two] = await Promise.all([first.done, second.done]);
    expect(one.out).toBe('has it\ngives it back\n');
    expect(two.out).toBe(`waits for ${first.child.pid}\nhas it\ngives it back\n`);
  });

  it('is taken over from a process that died', async () => {
    const first = runScript(root, holder('first', 'never'));
    await says(first, 'has it');
    first.child.kill('SIGKILL');
    await first.done;
    expect(readFileSync(join(root, 'build', 'setup.lock'), 'utf8')).toBe(`${first.child.pid}\n`);
    const { out } = await runScript(root, holder('second', 'go')).done;
    expect(out).toBe('has it\ngives it back\n');
  });
});

describe('what the machine must bring', () => {
  it('is named with the command that installs it, before anything is downloaded', async () => {
    const bin = join(root, 'bin');
    mkdirSync(bin);
    for (const name of ['npm', 'python3']) symlinkSync('/bin/true', join(bin, name));
    const { code, err } = await runScript(root, 'scripts/setup.mjs', ['--for', 'test'], { PATH: bin, CXX: 'no-such' })
      .done;
    expect(code).toBe(1);
    for (const word of ['git', 'a C++ compiler', 'make', 'python3 3.9']) expect(err).toContain(`✗ ${word}`);
    for (const word of ['apt-get install', 'dnf install', 'xcode-select']) expect(err).toContain(word);
    expect(err).not.toContain('✗ npm');
    expect(existsSync(join(root, 'node_modules'))).toBe(false);
  });

  it('does not include an unknown purpose', async () => {
    const { code, err } = await runScript(root, 'scripts/setup.mjs', ['--for', 'fun']).done;
    expect(code).toBe(2);
    expect(err).toContain('--for takes demo, start, test');
  });
});

describe('the environment of steps', () => {
  const show = (root) =>
    writeModule(
      root,
      'show.mjs',
      `import { stepEnvironment } from './scripts/setup/environment.mjs';
       console.log(JSON.stringify(stepEnvironment()));`,
    );
  const environment = async (env) => JSON.parse((await runScript(root, show(root), [], env).done).out);

  it('keeps a home that can be written', async () => {
    const home = join(root, 'home');
    mkdirSync(home);
    expect((await environment({ HOME: home })).HOME).toBe(home);
  });

  it('replaces a home that is missing, and links the settings of one that cannot be written', async () => {
    expect((await environment({ HOME: '/nonexistent' })).HOME).toBe(join(root, 'build', 'home'));
    const home = join(root, 'readonly');
    mkdirSync(home);
    writeFileSync(join(home, '.npmrc'), 'color=false\n');
    chmodSync(home, 0o500);
    const used = (await environment({ HOME: home })).HOME;
    chmodSync(home, 0o700);
    // Root may write anywhere.
    if (process.getuid?.() !== 0) {
      expect(used).toBe(join(root, 'build', 'home'));
      expect(readFileSync(join(used, '.npmrc'), 'utf8')).toBe('color=false\n');
    } else expect(used).toBe(home);
  });
});
