import { afterAll, expect, it } from 'vitest';
import { makeDataTask } from '../../../../main/envs/generate/data-task.js';
import { Rng } from '../../../../main/envs/generate/random.js';
import { CommandWorker, type Files } from '../../../../main/models/demo/simulate/command-worker.js';
import { teach } from '../../../../main/models/demo/teacher/teacher.js';

const worker = new CommandWorker();
afterAll(() => worker.close());

it('prints what the teacher sees and keeps the files', { timeout: 60_000 }, async () => {
  let commands = 0;
  for (let i = 0; i < 40; i++) {
    const task = makeDataTask(`worker-${i}`, 'train');
    const { steps, answer } = teach(task, new Rng(`worker-${i}`), undefined);
    let files: Files = { ...task.files };
    for (const [at, step] of steps.entries()) {
      if (step.type !== 'call') continue;
      if (step.name === 'write') files = { ...files, [step.args.path!]: step.args.content! };
      if (step.name !== 'bash') continue;
      const result = await worker.run(files, step.args.command!);
      files = result.files;
      const seen = steps[at + 1];
      const plain = (text: string) => (text.includes('Traceback') ? text.split('\n').slice(-4).join('\n') : text);
      expect(plain(result.output), step.args.command).toBe(seen?.type === 'result' ? plain(seen.text) : '');
      commands++;
    }
    expect(files['answer.txt'] ?? null).toBe(answer);
  }
  expect(commands).toBeGreaterThan(80);
});

it('ends a command that takes too long', { timeout: 20_000 }, async () => {
  expect((await worker.run({}, 'sleep 30')).output).toBe('Command timed out after 5 seconds');
  expect((await worker.run({}, 'python3 -c "while True: pass"')).output).toBe('Command timed out after 5 seconds');
  expect((await worker.run({}, 'exit 3')).output).toBe('(no output)\n\nCommand exited with code 3');
});
