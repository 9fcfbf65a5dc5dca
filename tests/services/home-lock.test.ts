import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { toErrorShape } from '../../contract/errors.js';
import { isHomeInUse, lockHome } from '../../main/services/home-lock.js';
import { type Bundle, bundle } from '../record/bundle.js';
import { temporaryHome } from '../record/support.js';

let holder: Bundle;
let folder: ReturnType<typeof temporaryHome>;
beforeAll(async () => {
  holder = await bundle('tests/services/home-lock-holder.ts');
}, 60_000);
afterAll(() => holder.remove());
beforeEach(() => {
  folder = temporaryHome();
});
afterEach(() => folder.remove());

const refusal = (): string => {
  try {
    lockHome(folder.home)();
    return '';
  } catch (error) {
    const { code, message, hint } = toErrorShape(error);
    return `${code} ${message} ${hint}`;
  }
};

it('refuses a second owner by name until the first one is gone, also when it was killed', async () => {
  const child = spawn(process.execPath, [holder.file, folder.home], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  expect(refusal()).toMatch(
    `BUSY The home ${folder.home} is in use by \`tackroom serve --open\` (process ${child.pid}, `,
  );
  expect(isHomeInUse(folder.home)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isHomeInUse(folder.home)).toBe(false);
  const release = lockHome(folder.home, 'tackroom demo');
  expect(refusal()).toContain(`\`tackroom demo\` (process ${process.pid}, `);
  release();
});

it('refuses a second owner in the same process, and names no owner it cannot read', () => {
  const release = lockHome(folder.home, 'tackroom demo');
  expect(refusal()).toContain(`process ${process.pid}`);
  release();
  expect(refusal()).toBe('');
});
