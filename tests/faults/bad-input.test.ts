/** What people really run into: each gives one sentence with what to do, a non-zero exit code, and loses nothing. */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../main/store/ids.js';
import { openStore } from '../../main/store/store.js';

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/tackroom.mjs');
const MODEL = join(ROOT, 'build/demo-model');
const READY = existsSync(join(ROOT, 'dist/main/cli/index.js')) && existsSync(join(MODEL, 'model.safetensors'));
const LIMIT_MS = 90_000;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tackroom-bad-'));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

function tackroom(
  args: string[],
  env: Record<string, string> = {},
): { status: number | null; stderr: string; stdout: string } {
  const result = spawnSync(process.execPath, [BIN, '--home', join(dir, 'home'), ...args], {
    encoding: 'utf8',
    timeout: LIMIT_MS,
    env: { ...process.env, ...env },
  });
  return { status: result.status, stderr: result.stderr, stdout: result.stdout };
}

/** One sentence with the code, one hint, nothing that looks like a stack. */
function expectClear(result: { status: number | null; stderr: string }, code: string, says: RegExp): void {
  expect(result.status, result.stderr).not.toBe(0);
  expect(result.status).not.toBeNull();
  const line = result.stderr.split('\n').find((l) => l.startsWith('tackroom: ')) ?? '';
  expect(line, result.stderr).toContain(`(${code})`);
  expect(line).toMatch(says);
  expect(result.stderr).toMatch(/\n {2}\S/);
  expect(result.stderr).not.toMatch(/\n\s+at /);
}

describe.skipIf(!READY || !existsSync('/dev/full'))('an output that takes nothing', () => {
  it.each(['doctor', 'sessions list', 'sanitize README.md', 'sanitize --each-line README.md'])('%s', (command) => {
    const full = openSync('/dev/full', 'w');
    const args = [BIN, '--home', join(dir, 'home'), ...command.split(' ')];
    const stdio = ['ignore', full, 'pipe'] as const;
    const { status, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      timeout: LIMIT_MS,
      cwd: ROOT,
      stdio: [...stdio],
    });
    closeSync(full);
    expectClear({ status, stderr }, 'IO', /cannot be written/);
    expect(stderr.match(/cannot be written/g)).toHaveLength(1);
  });
});

function modelCopy(name: string): string {
  const copy = join(dir, name);
  cpSync(MODEL, copy, { recursive: true });
  return copy;
}

const serve = (model: string, extra: string[] = [], env: Record<string, string> = {}) =>
  tackroom(['serve', '--model', model, '--port', '0', '--ui-port', '0', ...extra], env);

describe('bad input', () => {
  if (!READY) {
    it('needs a set-up checkout', ({ skip }) => skip('the program or the demo model is missing: run npm run setup'));
    return;
  }

  it(
    'numbers that are none, before anything is started',
    () => {
      for (const args of [
        ['demo', '--seed', '1e99'],
        ['demo', '--ui-port', 'x'],
        ['serve', '--port=-1'],
        ['sessions', 'list', '--limit', 'x'],
        ['rollout', '--task', '.', '--temperature', 'warm'],
        ['eval', '--tasks', '.', '--samples', '0'],
      ]) {
        const result = tackroom(args);
        expectClear(result, 'BAD_ARGUMENT', /must be a (?:whole )?number from/);
        expect(result.status, args.join(' ')).toBe(2);
        expect(result.stderr).not.toContain('State in');
      }
    },
    LIMIT_MS,
  );

  it(
    'files that are not there, and folders in their place',
    () => {
      expectClear(tackroom(['sanitize', '/nowhere/x']), 'IO', /\/nowhere\/x does not exist/);
      expectClear(tackroom(['guard', 'check', '/nowhere/x', '--jsonl']), 'IO', /\/nowhere\/x does not exist/);
      expectClear(tackroom(['sanitize', dir]), 'IO', /directory/);
    },
    LIMIT_MS,
  );

  it(
    'sanitize reads stdin when no file is named',
    () => {
      const result = spawnSync(process.execPath, [BIN, 'sanitize'], { encoding: 'utf8', input: 'plain words\n' });
      expect(result).toMatchObject({ status: 0, stdout: 'plain words\n' });
    },
    LIMIT_MS,
  );

  it('an unknown model', () => expectClear(serve(join(dir, 'nowhere')), 'MODEL_NOT_FOUND', /nowhere/), LIMIT_MS);

  it(
    'a truncated weight file',
    () => {
      const model = modelCopy('truncated');
      truncateSync(join(model, 'model.safetensors'), 700_000);
      expectClear(serve(model), 'MODEL_CORRUPT', /model\.safetensors/);
    },
    LIMIT_MS,
  );

  it(
    'a weight file that is something else',
    () => {
      const model = modelCopy('noise');
      writeFileSync(join(model, 'model.safetensors'), 'GIF89a, surely'.repeat(1000));
      expectClear(serve(model), 'MODEL_CORRUPT', /model\.safetensors/);
    },
    LIMIT_MS,
  );

  it(
    'an architecture that is not supported',
    () => {
      const model = modelCopy('unknown-architecture');
      const file = join(model, 'config.json');
      const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
      writeFileSync(file, JSON.stringify({ ...config, architectures: ['MysteryForCausalLM'], model_type: 'mystery' }));
      expectClear(serve(model), 'MODEL_UNSUPPORTED', /mystery/i);
    },
    LIMIT_MS,
  );

  it(
    'a tokenizer of another model',
    () => {
      const model = modelCopy('other-tokenizer');
      const file = join(model, 'tokenizer.json');
      const tokenizer = JSON.parse(readFileSync(file, 'utf8')) as { added_tokens: { id: number; content: string }[] };
      tokenizer.added_tokens.push({ ...tokenizer.added_tokens[0]!, id: 150_000, content: '<|far|>' });
      writeFileSync(file, JSON.stringify(tokenizer));
      expectClear(serve(model), 'TOKENIZER_MISMATCH', /do not belong together|is not its tokenizer/);
      rmSync(file);
      expectClear(serve(model), 'TOKENIZER_MISMATCH', /no tokenizer\.json/);
    },
    LIMIT_MS,
  );

  it(
    'a port that is in use, of the gateway and of the window',
    async () => {
      const holder = createServer();
      await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', () => resolve()));
      const { port } = holder.address() as { port: number };
      try {
        expectClear(
          tackroom(['serve', '--port', String(port), '--ui-port', '0']),
          'PORT_IN_USE',
          new RegExp(String(port)),
        );
        expectClear(
          tackroom(['serve', '--port', '0', '--ui-port', String(port)]),
          'PORT_IN_USE',
          new RegExp(String(port)),
        );
      } finally {
        holder.close();
      }
    },
    LIMIT_MS,
  );

  it(
    'no sandbox',
    () => expectClear(tackroom(['demo', '--short'], { TACKROOM_SANDBOX: 'none' }), 'NO_SANDBOX', /sandbox/i),
    LIMIT_MS,
  );

  it(
    'pi is not installed',
    () => {
      expectClear(
        tackroom(['demo', '--short'], { TACKROOM_PI_DIR: join(dir, 'no-pi') }),
        'HARNESS_MISSING',
        /pi is not installed/,
      );
    },
    LIMIT_MS,
  );

  it(
    'a full disk: nothing that was acknowledged is lost',
    ({ skip }) => {
      const small = join(dir, 'small');
      mkdirSync(small);
      if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', small]).status !== 0)
        skip('a small file system can only be mounted as root');
      try {
        const store = openStore(small);
        const kept: string[] = [];
        let failure: unknown;
        for (let i = 0; i < 5000 && !failure; i++) {
          const id = newId('run');
          try {
            store.run.put({
              id,
              version: 1,
              createdAt: i,
              updatedAt: i,
              name: 'x'.repeat(2000),
              status: 'planned',
              step: 0,
              steps: 1,
              config: {},
              error: null,
              waitingFor: null,
              etaMs: null,
              bestCheckpointId: null,
            });
            kept.push(id);
          } catch (error) {
            failure = error;
          }
        }
        store.close();
        expect(failure).toBeDefined();
        expect(kept.length).toBeGreaterThan(10);
        const result = spawnSync(process.execPath, [BIN, '--home', small, 'demo', '--short'], { encoding: 'utf8' });
        expectClear(result, 'DISK_FULL', /needs \d+ MB/);
        const again = openStore(small);
        expect(kept.filter((id) => !again.run.get(id))).toEqual([]);
        again.close();
      } finally {
        spawnSync('umount', [small]);
      }
    },
    LIMIT_MS,
  );

  it(
    'wrong usage',
    () => {
      expect(tackroom(['demo', '--seed', 'x']).status).toBe(2);
      expect(tackroom(['nonsense']).status).toBe(2);
      expect(tackroom(['adapters', 'swap', 'x', '--harness', 'emacs']).status).toBe(2);
      expect(tackroom(['adapters', 'show', 'nothing']).stderr).toMatch(/There is no adapter nothing/);
    },
    LIMIT_MS,
  );
});
