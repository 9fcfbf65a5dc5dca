/** The repair session of the demo: a small project with a fault, what the user asks, and how the scripted model answers. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../native/addon.js';
import { resourceText } from './resource.js';
import type { ScriptStep } from './scripted-upstream.js';

const PROJECT = 'demo-repair/project';
export const REPAIR_CHECK = 'python3 -m unittest -q';
export const repairPrompt = 'The rental invoices come out too low. Run the tests, find the fault and fix it.';

const FAULT = 'return (end - start).days\n';
const FIX = 'return (end - start).days + 1\n';

/** Files of the project by name; `rentals.py` forgets to count the last day. */
export function repairProject(): Record<string, string> {
  const names = readdirSync(join(packageRoot(), 'resources', PROJECT))
    .filter((name) => /\.(?:py|md)$/.test(name))
    .sort();
  return Object.fromEntries(names.map((name) => [name, resourceText(`${PROJECT}/${name}`)]));
}

export interface RepairScriptOptions {
  /** More files of the project that the model reads on its way. */
  alsoRead?: string[];
}

/** Runs the tests, reads the source and the tests, edits, runs the same tests again. */
export function repairScript(options: RepairScriptOptions = {}): ScriptStep[] {
  const reads = ['rentals.py', 'test_rentals.py', ...(options.alsoRead ?? [])];
  const check = { name: 'bash', arguments: { command: REPAIR_CHECK } };
  const readSteps = reads.map(
    (path, index): ScriptStep => ({
      expect: {
        role: 'tool',
        contains: index === 0 ? 'Command exited with code 1' : index === 1 ? FAULT.trim() : undefined,
      },
      text: index === 0 ? 'The tests fail. I look at the code.' : '',
      calls: [{ name: 'read', arguments: { path } }],
    }),
  );
  return [
    { expect: { role: 'user', contains: repairPrompt }, text: 'I run the tests first.', calls: [check] },
    ...readSteps,
    {
      expect: { role: 'tool' },
      text: 'The day of return is not counted.',
      calls: [{ name: 'edit', arguments: { path: 'rentals.py', edits: [{ oldText: FAULT, newText: FIX }] } }],
    },
    { expect: { role: 'tool', contains: 'Successfully replaced' }, text: '', calls: [check] },
    {
      expect: { role: 'tool', contains: 'OK' },
      text: 'All tests pass: the day a boat comes back counts now.',
      calls: [],
    },
  ];
}
