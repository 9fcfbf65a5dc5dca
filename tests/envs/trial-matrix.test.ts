import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildRepairTask } from '../../main/envs/build-repair.js';
import { findWork } from '../../main/envs/find.js';
import { makeDataTask } from '../../main/envs/generate/data-task.js';
import { writeDataTask } from '../../main/envs/harbor-task.js';
import { repairProject } from '../../main/envs/scripted-repair.js';
import { runTaskCommand } from '../../main/envs/task-sandbox.js';
import { checkTask, checkTasks, dropReason } from '../../main/envs/trial-matrix.js';
import { describeSandbox } from './sandbox-support.js';
import { bash, edit, read, session, temporaryFolder, user } from './support.js';

const root = temporaryFolder();
const project = repairProject();
const CHECK = 'python3 -m unittest -q';
/** The demo's repair, as a session. */
const repairWork = (failCode = 1, output = '') =>
  findWork([
    session(
      user(),
      bash(CHECK, failCode, output),
      read('rentals.py', project['rentals.py']!),
      read('test_rentals.py', project['test_rentals.py']!),
      edit('rentals.py', 'return (end - start).days\n', 'return (end - start).days + 1\n'),
      bash(CHECK, 0, 'OK'),
    ),
  ]).works[0]!;

describeSandbox('the trial matrix', (driver) => {
  it('keeps data tasks: oracle and a valid alternative 1, everything else 0', async () => {
    const dirs = [
      ['a', 'count_where'],
      ['b', 'top_label'],
      ['c', 'mean_all'],
    ].map(([seed, kind]) => {
      const dir = join(root, `data-${seed}`);
      writeDataTask(makeDataTask(seed!, 'train', { kind: kind as 'mean_all' }), dir);
      return dir;
    });
    for (const result of await checkTasks(dirs, { driver })) {
      expect(result.trials.filter(({ ok }) => !ok)).toEqual([]);
      expect(result).toMatchObject({ ok: true });
      expect(result.trials.length).toBeGreaterThanOrEqual(13);
      expect(dropReason(result)).toBeNull();
    }
  });

  it('keeps a repair task whose cheats all earn 0', async () => {
    const built = await buildRepairTask(repairWork(), join(root, 'repair'), { driver });
    expect(built).toMatchObject({ built: true });
    const result = await checkTask(join(root, 'repair'), { driver });
    expect(result.trials.filter(({ ok }) => !ok)).toEqual([]);
    expect(result.trials.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'oracle-1',
        'oracle-2',
        'nop',
        'empty',
        'tests-emptied',
        'runner-replaced',
        'exit-early',
        'exit-late',
        'equal-anything',
        'patched-runner',
        'writes-reward',
      ]),
    );
  });

  it('ends what the check left running but no process that was there before it', async () => {
    const dir = join(root, 'beside');
    await buildRepairTask(repairWork(), dir, { driver });
    // Harbor's container runs `sh -c "sleep infinity"` beside the tests: without it there is no container.
    const script = 'sleep 60 & keeper=$!; /tests/test.sh; cat /logs/verifier/reward.txt; kill -0 $keeper && echo kept';
    const logs = join(root, 'beside-logs');
    mkdirSync(logs);
    const run = await runTaskCommand(driver, {
      name: 'beside',
      argv: ['bash', '-c', script],
      cwd: '/work',
      mounts: [
        { source: join(dir, 'environment', 'files'), target: '/work', readonly: false },
        { source: join(dir, 'tests'), target: '/tests', readonly: true },
        { source: logs, target: '/logs/verifier', readonly: false },
      ],
      memoryBytes: 1024 ** 3,
      timeoutMs: 20_000,
    });
    expect(run.output).toMatch(/\n0\nkept\n$/);
  });

  it('drops a task whose oracle fails or whose nop passes', async () => {
    const dir = join(root, 'spoiled');
    writeDataTask(makeDataTask('x', 'train', { kind: 'top_label' }), dir);
    writeFileSync(join(dir, 'solution', 'files', 'answer.txt'), 'no such thing');
    const wrong = await checkTask(dir, { driver, size: 'basic' });
    expect([wrong.ok, dropReason(wrong)]).toEqual([false, 'trial:oracle-1']);
    writeFileSync(join(dir, 'tests', 'test.sh'), '#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n');
    expect(dropReason(await checkTask(dir, { driver, size: 'basic' }))).toBe('trial:nop');
    writeFileSync(join(dir, 'tests', 'test.sh'), '#!/bin/bash\ntrue\n');
    expect(dropReason(await checkTask(dir, { driver, size: 'basic' }))).toBe('trial:oracle-1:no_score');
  });
});

describeSandbox('buildRepairTask', (driver) => {
  it('refuses a state that fails in another way, or not at all', async () => {
    const dir = join(root, 'refused');
    const result = await buildRepairTask(repairWork(5), dir, { driver });
    expect(result).toMatchObject({ built: false, reason: 'build:fails_differently' });
    const otherTest = await buildRepairTask(
      repairWork(1, 'FAIL: test_other (test_rentals.RentalTest.test_other)'),
      dir,
      { driver },
    );
    expect(otherTest).toMatchObject({ built: false, reason: 'build:fails_differently' });
    const work = repairWork();
    expect(await buildRepairTask({ ...work, start: work.oracle }, dir, { driver })).toMatchObject({
      built: false,
      reason: 'build:start_passes',
    });
    expect(await buildRepairTask({ ...work, oracle: work.start }, dir, { driver })).toMatchObject({
      built: false,
      reason: 'build:solution_fails',
    });
  });
});
