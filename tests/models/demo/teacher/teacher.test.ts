import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkAnswer } from '../../../../main/envs/generate/check-answer.js';
import { KIND_NAMES, makeDataTask } from '../../../../main/envs/generate/data-task.js';
import { Rng } from '../../../../main/envs/generate/random.js';
import { FLAWLESS, teach } from '../../../../main/models/demo/teacher/teacher.js';

const REPLAYED = Number(process.env.TACKROOM_REPLAYED_SESSIONS ?? 48);
/** Python 3.13 repeats source lines in tracebacks and 3.12 dropped the frame of list comprehensions. */
const pythonMinor = Number(
  execFileSync('python3', ['-c', 'import sys;print(sys.version_info[1])'], { encoding: 'utf8' }),
);

/** Output of a command as pi's bash tool gives it. */
function realOutput(cwd: string, command: string): string {
  const run = spawnSync('/bin/bash', ['-c', `exec 2>&1; ${command}`], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
    timeout: 20_000,
  });
  const shown = run.stdout || '(no output)';
  return run.status === 0 ? shown : `${shown}\n\nCommand exited with code ${run.status}`;
}

const lastLines = (text: string) => (text.includes('Traceback') ? text.split('\n').slice(-4).join('\n') : text);

describe('the teacher', () => {
  it('without faults, solves tasks of every kind and both splits', () => {
    for (const split of ['train', 'held'] as const) {
      for (const kind of KIND_NAMES) {
        for (let i = 0; i < 40; i++) {
          const task = makeDataTask(`gold-${i}`, split, { kind });
          const { answer } = teach(task, new Rng(`gold-${i}`), FLAWLESS);
          expect(checkAnswer(task, answer), `${kind} ${i}: ${task.question} gold ${task.answer}, got ${answer}`).toBe(
            true,
          );
        }
      }
    }
  });

  it('fails and wanders about as often as the recipe says', () => {
    let passed = 0;
    let calls = 0;
    const n = 3000;
    for (let i = 0; i < n; i++) {
      const task = makeDataTask(`noisy-${i}`, 'train');
      const { steps, answer } = teach(task, new Rng(`noisy-${i}`));
      passed += Number(checkAnswer(task, answer));
      calls += steps.filter((step) => step.type === 'call').length;
    }
    expect(passed / n).toBeGreaterThan(0.5);
    expect(passed / n).toBeLessThan(0.72);
    expect(calls / n).toBeGreaterThan(3);
    expect(calls / n).toBeLessThan(4.5);
  });

  it(`sees what the real shell and the real python3 print (${REPLAYED} sessions)`, { timeout: 120_000 }, () => {
    let compared = 0;
    for (let i = 0; i < REPLAYED; i++) {
      const task = makeDataTask(`real-${i}`, i % 2 ? 'train' : 'held', { kind: KIND_NAMES[i % KIND_NAMES.length]! });
      const { steps, answer } = teach(task, new Rng(`real-${i}`));
      const dir = mkdtempSync(join(tmpdir(), 'tackroom-teacher-'));
      try {
        for (const [name, text] of Object.entries(task.files)) writeFileSync(join(dir, name), text);
        steps.forEach((step, at) => {
          const next = steps[at + 1];
          if (step.type !== 'call' || next?.type !== 'result') return;
          if (step.name === 'write') writeFileSync(join(dir, step.args.path!), step.args.content!);
          if (step.name !== 'bash') return;
          const real = realOutput(dir, step.args.command!);
          if (pythonMinor <= 11) expect(real, step.args.command).toBe(next.text);
          else expect(lastLines(real), step.args.command).toBe(lastLines(next.text));
          compared++;
        });
        if (answer !== null) expect(readFileSync(join(dir, 'answer.txt'), 'utf8')).toBe(answer);
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    }
    expect(compared).toBeGreaterThan(REPLAYED);
  });
});
