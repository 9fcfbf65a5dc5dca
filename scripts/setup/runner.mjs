// Runs the steps in the order their needs allow, two at a time, and says what each did.
import { rmSync } from 'node:fs';
import { logTail } from './execute.mjs';
import { logFile } from './paths.mjs';
import { say, stepEnded, stepStarted } from './progress.mjs';

const AT_ONCE = 2;

/**
 * One step.
 * @typedef {object} Step
 * @property {string} name     short, file-safe: names the log and the stamp
 * @property {string} title    what the user reads
 * @property {string[]} after  steps that must be done before; names that are not in the plan are ignored
 * @property {number} deadlineMs
 * @property {() => string | null} skip  why there is nothing to do here, or null
 * @property {(until: number) => Promise<void>} run
 * @property {boolean} [optional]  a failure is told and the set-up goes on
 *
 * What became of a step: seconds, and why it was skipped (null: it ran).
 * @typedef {{name: string, seconds: number, skipped: string | null}} Outcome
 */

const UP_TO_DATE = 'up to date';

async function runStep(step, quiet) {
  const began = Date.now();
  const outcome = (skipped) => ({ name: step.name, seconds: (Date.now() - began) / 1000, skipped });
  const reason = step.skip();
  if (reason !== null) {
    if (!(quiet && reason === UP_TO_DATE)) say(`  – ${step.title}: ${reason}`);
    return outcome(reason);
  }
  rmSync(logFile(step.name), { force: true });
  stepStarted(step.title);
  try {
    await step.run(Date.now() + step.deadlineMs);
    stepEnded(step.title, '✓');
    return outcome(null);
  } catch (error) {
    if (step.optional) {
      stepEnded(step.title, '–', `${error.message} It goes on without (log: ${logFile(step.name)}).`);
      return outcome(error.message);
    }
    stepEnded(step.title, '✗', error.message);
    say(`\nThe last lines of ${logFile(step.name)}:\n${logTail(step.name)}\n`);
    throw error;
  }
}

/**
 * Runs the plan. Resolves with the outcomes in the plan's order; rejects with the first failure, after the steps that
 * were running then have ended.
 * @param {Step[]} plan
 * @returns {Promise<Outcome[]>}
 */
export async function runPlan(plan, { quiet = true } = {}) {
  const waiting = [...plan];
  const outcomes = new Map();
  const running = new Map();
  const planned = new Set(plan.map((step) => step.name));
  let failure = null;
  const ready = (step) => step.after.every((name) => !planned.has(name) || outcomes.has(name));
  for (;;) {
    while (failure === null && running.size < AT_ONCE) {
      const next = waiting.findIndex(ready);
      if (next < 0) break;
      const [step] = waiting.splice(next, 1);
      const work = runStep(step, quiet)
        .then((outcome) => outcomes.set(step.name, outcome))
        .catch((error) => {
          failure ??= error;
        })
        .finally(() => running.delete(step.name));
      running.set(step.name, work);
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  if (failure !== null) throw failure;
  if (waiting.length > 0) throw new Error(`These steps wait for each other: ${waiting.map((s) => s.name).join(', ')}.`);
  return plan.map((step) => outcomes.get(step.name));
}
