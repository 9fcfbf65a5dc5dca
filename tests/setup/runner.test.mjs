import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScript, scratchCheckout, writeModule } from './support.mjs';

let root;
beforeAll(() => {
  root = scratchCheckout();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Runs a plan whose steps are real processes; prints the outcomes or the failure as JSON. */
function runPlan(steps) {
  const file = writeModule(
    root,
    'plan.mjs',
    `import { execute } from './scripts/setup/execute.mjs';
     import { runPlan } from './scripts/setup/runner.mjs';
     const node = (name, code, ms = 20_000) => (until) =>
       execute(name, process.execPath, ['-e', code], { until: Math.min(until, Date.now() + ms) });
     const step = (name, after, code, more = {}) =>
       ({ name, title: name, after, deadlineMs: 20_000, skip: () => null, run: node(name, code, more.ms), ...more });
     try {
       console.log(JSON.stringify({ ok: await runPlan(${steps}) }));
     } catch (error) {
       console.log(JSON.stringify({ failed: error.message }));
     }`,
  );
  return runScript(root, file).done;
}

describe('steps', () => {
  it('start when what they need is done, at most two at a time', async () => {
    const log = JSON.stringify(join(root, 'order.txt'));
    const mark = (name) =>
      `const fs = require('fs'); const at = (x) => fs.appendFileSync(${log}, x + '${name} ');
       at('+'); setTimeout(() => at('-'), 150)`;
    const { out } = await runPlan(
      `[step('a', [], ${JSON.stringify(mark('a'))}), step('b', [], ${JSON.stringify(mark('b'))}),
        step('c', [], ${JSON.stringify(mark('c'))}), step('d', ['a', 'c', 'not-in-plan'], ${JSON.stringify(mark('d'))})]`,
    );
    expect(JSON.parse(out).ok.map((outcome) => outcome.name)).toEqual(['a', 'b', 'c', 'd']);
    const order = readFileSync(join(root, 'order.txt'), 'utf8').trim().split(' ');
    let [running, most] = [0, 0];
    for (const mark of order) {
      running += mark.startsWith('+') ? 1 : -1;
      most = Math.max(most, running);
    }
    expect(most).toBe(2);
    expect(order.indexOf('+d')).toBeGreaterThan(order.indexOf('-a'));
    expect(order.indexOf('+d')).toBeGreaterThan(order.indexOf('-c'));
  });

  it('that fail show the end of their log, stop what follows and name the log', async () => {
    const code = "for (let i = 1; i <= 50; i++) console.log('line ' + i); process.exit(3)";
    const { out, err } = await runPlan(
      `[step('bad', [], ${JSON.stringify(code)}), step('next', ['bad'], "require('fs').writeFileSync('next.txt', '')")]`,
    );
    expect(JSON.parse(out).failed).toMatch(/failed \(exit 3\)/);
    expect(err).toContain('line 50');
    expect(err).toContain('line 22');
    expect(err).not.toContain('line 20\n');
    expect(err).toContain(join('build', 'logs', 'bad.log'));
    expect(existsSync(join(root, 'next.txt'))).toBe(false);
  });

  it('are stopped at their deadline, with everything they started', async () => {
    const pidFile = join(root, 'grandchild.pid');
    const code = `const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
      require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(c.pid)); setInterval(() => {}, 1000)`;
    const { out } = await runPlan(`[step('slow', [], ${JSON.stringify(code)}, { ms: 5000 })]`);
    expect(JSON.parse(out).failed).toMatch(/not done by its deadline/);
    const grandchild = Number(readFileSync(pidFile, 'utf8'));
    await expect.poll(() => stillRuns(grandchild)).toBe(false);
  });

  it('that are optional fail without failing the plan', async () => {
    const { out, err } = await runPlan(
      `[step('extra', [], 'process.exit(1)', { optional: true }), step('after', ['extra'], '')]`,
    );
    const [extra, after] = JSON.parse(out).ok;
    expect(extra.skipped).toMatch(/failed/);
    expect(after.skipped).toBe(null);
    expect(err).toContain('It goes on without');
  });

  it('that wait for each other are an error, not a hang', async () => {
    const { out } = await runPlan(`[step('x', ['y'], ''), step('y', ['x'], '')]`);
    expect(JSON.parse(out).failed).toMatch(/wait for each other: x, y/);
  });
});

function stillRuns(pid) {
  try {
    process.kill(pid, 0);
    // A zombie that nobody has reaped yet has ended.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
