/** A kill between any two writes: what is left, the next connect or disconnect mends. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../main/harness/connector.js';
import { EXISTING, Home, MAIN_FILE } from './connect-support.js';

const WRITES = ['mkdirSync', 'openSync', 'writeFileSync', 'renameSync', 'rmSync', 'rmdirSync', 'chmodSync'] as const;
const real = Object.fromEntries(WRITES.map((name) => [name, fs[name]]));

class Killed extends Error {}

/** From the `nth` write below `root` on nothing is written any more, as after a kill; a file is torn in the middle. */
function killAt(nth: number, root: string): { writes: number } {
  const seen = { writes: 0 };
  const open = new Set<unknown>();
  for (const name of WRITES)
    (fs as unknown as Record<string, unknown>)[name] = (...args: unknown[]) => {
      const ours = open.has(args[0]) || String(args[0]).startsWith(root);
      if (ours && ++seen.writes >= nth) {
        if (name === 'writeFileSync' && seen.writes === nth) {
          const bytes = args[1] as Buffer;
          Reflect.apply(real[name] as () => void, fs, [args[0], bytes.subarray(0, bytes.length / 2)]);
        }
        throw new Killed();
      }
      const result: unknown = Reflect.apply(real[name] as () => unknown, fs, args);
      if (ours && name === 'openSync') open.add(result);
      return result;
    };
  syncBuiltinESMExports();
  return seen;
}

function revive(): void {
  Object.assign(fs, real);
  syncBuiltinESMExports();
}

/** Runs `work` killed at each of its writes in turn; `check` looks at what is left, in a fresh home each time. */
async function atEveryWrite(
  prepare: () => Promise<Home>,
  work: (home: Home) => Promise<unknown>,
  check: (home: Home) => Promise<void>,
): Promise<number> {
  for (let nth = 1; ; nth++) {
    const home = await prepare();
    const seen = killAt(nth, home.root);
    const killed = await work(home).then(
      () => false,
      (error: unknown) => {
        if (error instanceof Killed) return true;
        throw error;
      },
    );
    revive();
    if (killed) await check(home);
    home.remove();
    if (!killed) return seen.writes;
  }
}

afterEach(revive);

describe.each(HARNESS_NAMES)('killed while working on %s', (harness) => {
  const fresh = async (existing: boolean): Promise<Home> => {
    const home = new Home(harness);
    if (existing) home.existing();
    return home;
  };
  /** Files alone: a folder that was made before the record of it is all that may stay. */
  const original = async (existing: boolean): Promise<unknown[]> => {
    const home = await fresh(existing);
    const files = home.snapshot(false);
    home.remove();
    return files;
  };

  it.each([true, false])(
    'connect (own settings before: %s)',
    async (existing) => {
      const before = await original(existing);
      const intact = (home: Home): void => {
        // Never half a file, whatever the moment: the harness may start right now.
        const file = join(home.root, MAIN_FILE[harness]);
        if (existing) expect(fs.existsSync(file)).toBe(true);
        if (fs.existsSync(file) && home.read(MAIN_FILE[harness]) !== EXISTING[harness][MAIN_FILE[harness]])
          expect(home.read(MAIN_FILE[harness])).toContain('demo');
      };
      const undone = await atEveryWrite(
        () => fresh(existing),
        (home) => home.connect(),
        async (home) => {
          intact(home);
          await home.disconnect();
          expect(home.snapshot(false)).toEqual(before);
        },
      );
      expect(undone).toBeGreaterThan(8);
      await atEveryWrite(
        () => fresh(existing),
        (home) => home.connect(),
        async (home) => {
          await home.connect({ port: 2 });
          await home.disconnect();
          expect(home.snapshot(false)).toEqual(before);
        },
      );
    },
    120_000,
  );

  it('a second connect with another port', async () => {
    const before = await original(true);
    await atEveryWrite(
      async () => {
        const home = await fresh(true);
        await home.connect();
        return home;
      },
      (home) => home.connect({ port: 2, token: 'tok-2' }),
      async (home) => {
        await home.disconnect();
        expect(home.snapshot(false)).toEqual(before);
      },
    );
  }, 120_000);

  it('a second connect after an edit', async () => {
    const main = MAIN_FILE[harness];
    const edit = (home: Home): void =>
      home.write(
        main,
        harness === 'hermes' ? `${home.read(main)}later: 1\n` : home.read(main).replace('{', '{ "later": 1,'),
      );
    const edited = new Home(harness);
    edited.existing();
    await edited.connect();
    edit(edited);
    await edited.disconnect();
    const expected = edited.snapshot(false);
    edited.remove();
    await atEveryWrite(
      async () => {
        const home = await fresh(true);
        await home.connect();
        edit(home);
        return home;
      },
      (home) => home.connect({ port: 2, token: 'tok-2' }),
      async (home) => {
        await home.disconnect();
        expect(home.snapshot(false)).toEqual(expected);
      },
    );
  }, 120_000);

  it('disconnect', async () => {
    const before = await original(true);
    const connected = async (): Promise<Home> => {
      const home = await fresh(true);
      await home.connect();
      return home;
    };
    const disconnect = (home: Home): Promise<unknown> => home.disconnect();
    await atEveryWrite(connected, disconnect, async (home) => {
      await home.disconnect();
      expect(home.snapshot(false)).toEqual(before);
    });
    await atEveryWrite(connected, disconnect, async (home) => {
      await home.connect();
      await home.disconnect();
      expect(home.snapshot(false)).toEqual(before);
    });
  }, 120_000);
});
