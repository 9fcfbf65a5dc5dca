import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withLock } from '../../main/services/process-lock.js';
import { temporaryHome } from '../record/support.js';

let folder: ReturnType<typeof temporaryHome>;
let file: string;
let holder: string;
beforeEach(() => {
  folder = temporaryHome();
  file = join(folder.home, 'lock');
  holder = `${file}.holder`;
});
afterEach(() => folder.remove());

const locked = <T>(work: () => T): Promise<T> => withLock(file, { what: 'testing', waitMs: 0 }, work);

it('is free again when it could not be written who holds it', async () => {
  mkdirSync(holder);
  await expect(locked(() => 'done')).rejects.toMatchObject({ code: 'EISDIR' });
  rmdirSync(holder);
  expect(await locked(() => 'done')).toBe('done');
});

it('is free again when it could not be removed who held it', async () => {
  const work = (): string => {
    rmSync(holder);
    mkdirSync(join(holder, 'full'), { recursive: true });
    return 'done';
  };
  expect(await locked(work)).toBe('done');
  rmSync(holder, { recursive: true });
  expect(await locked(() => 'again')).toBe('again');
});
