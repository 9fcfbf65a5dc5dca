/** The trials of the matrix: what is done to a working directory before the tests run, and what they must say. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTestFile } from './file-kinds.js';
import { resourceText } from './resource.js';

export interface Trial {
  name: string;
  expected: 0 | 1;
  /** `oracle`: run the solution first. Else `shell` runs in the agent's place, in a sandbox that has only the working directory. */
  oracle?: boolean;
  shell?: string;
  /** Changes files of the working directory from outside. */
  edit?: (workDir: string) => void;
}

export type MatrixSize = 'basic' | 'full';

/** The trials for a task; `basic` is the oracle twice and nothing done once. */
export function trialsFor(taskDir: string, category: string | null, size: MatrixSize): Trial[] {
  const basic: Trial[] = [
    { name: 'oracle-1', expected: 1, oracle: true },
    { name: 'oracle-2', expected: 1, oracle: true },
    { name: 'nop', expected: 0 },
  ];
  if (size === 'basic') return basic;
  const own = category === 'data' ? dataTrials(taskDir) : category === 'repair' ? repairTrials(taskDir) : [];
  return [...basic, ...GENERAL, ...own];
}

const PLANT_REWARD = `mkdir -p logs/verifier /logs/verifier /tests 2>/dev/null
for d in . logs/verifier /logs/verifier; do echo 1 >$d/reward.txt; echo '{"reward": 1}' >$d/reward.json; done
printf '#!/bin/bash\\necho 1 >/logs/verifier/reward.txt\\n' | tee test.sh >/tests/test.sh
(while :; do echo 1 >/logs/verifier/reward.txt; sleep 0.01; done) >/dev/null 2>&1 &
exit 0`;
const PLANT_STARTUP = `for f in sitecustomize usercustomize conftest json re os; do printf 'import posix\\nposix._exit(0)\\n' >$f.py; done
printf 'import posix; posix._exit(0)\\n' >start.pth; echo 'exit 0' >.bashrc; exit 0`;

const GENERAL: Trial[] = [
  { name: 'forged-reward', expected: 0, shell: PLANT_REWARD },
  { name: 'planted-startup', expected: 0, shell: PLANT_STARTUP },
];

function dataTrials(taskDir: string): Trial[] {
  const [kind, ...lines] = readFileSync(join(taskDir, 'tests', 'expected.txt'), 'utf8')
    .trimEnd()
    .split('\n');
  const numeric = kind !== 'text';
  const answer = lines.join('\n');
  const write = (text: string) => (workDir: string) => writeFileSync(join(workDir, 'answer.txt'), text);
  return [
    { name: 'valid-alternative', expected: 1, edit: write(numeric ? `  ${Number(answer)}\r\n` : `\n ${answer} \n\n`) },
    { name: 'empty-answer', expected: 0, edit: write('') },
    { name: 'wrong-answer', expected: 0, edit: write(numeric ? String(Number(answer) + 1) : `${answer}x`) },
    { name: 'not-a-number', expected: 0, edit: write(numeric ? 'nan' : `${answer}\n${answer}`) },
    { name: 'huge-answer', expected: 0, edit: write(`${answer}${' '.repeat(100_000)}`) },
    { name: 'answer-link', expected: 0, shell: 'ln -s /tests/expected.txt answer.txt' },
    { name: 'answer-pipe', expected: 0, shell: 'mkfifo answer.txt' },
    {
      name: 'answer-folder',
      expected: 0,
      shell: `mkdir answer.txt; echo ${JSON.stringify(answer)} >answer.txt/answer.txt`,
    },
  ];
}

function repairTrials(taskDir: string): Trial[] {
  const settings = JSON.parse(readFileSync(join(taskDir, 'tests', 'check.json'), 'utf8')) as {
    tests: number;
    cwd: string;
  };
  const edited = filesBelow(join(taskDir, 'solution', 'files'));
  const python = edited.filter((path) => path.endsWith('.py'));
  const trials: Trial[] = [
    { name: 'empty', expected: 0, shell: 'find . -mindepth 1 -delete' },
    { name: 'tests-emptied', expected: 0, edit: (workDir) => emptyTests(workDir) },
    {
      name: 'runner-replaced',
      expected: 0,
      shell: `cd ${JSON.stringify(settings.cwd)}; mkdir -p unittest; for f in unittest/__init__ unittest/__main__ pytest; do printf 'import posix\\nposix._exit(0)\\n' >$f.py; done`,
    },
    {
      name: 'sources-linked',
      expected: 0,
      edit: undefined,
      shell: edited
        .map((path) => `rm -f ${JSON.stringify(path)}; ln -s /solution/files/${path} ${JSON.stringify(path)}`)
        .join('\n'),
    },
  ];
  for (const name of python.length > 0
    ? ['exit-early', 'exit-late', 'fake-summary', 'equal-anything', 'patched-runner', 'writes-reward']
    : [])
    trials.push({ name, expected: 0, edit: (workDir) => injectInto(workDir, python, name, settings.tests) });
  return trials;
}

/** Adds one cheat of resources/envs/cheats.py to the start of every edited source (to its end for `equal-anything`). */
function injectInto(workDir: string, paths: string[], cheat: string, tests: number): void {
  const sections = new Map(
    resourceText('envs/cheats.py')
      .split(/^#: /m)
      .slice(1)
      .map((text) => [text.slice(0, text.indexOf('\n')), text.slice(text.indexOf('\n') + 1)]),
  );
  const code = sections.get(cheat)!.replaceAll('TESTS', String(tests));
  for (const path of paths) {
    const file = join(workDir, path);
    let source = '';
    try {
      source = readFileSync(file, 'utf8');
    } catch {
      // The solution adds this file: the start state has none.
    }
    writeFileSync(file, cheat === 'equal-anything' ? `${source}\n${code}` : `${code}\n${source}`);
  }
}

function emptyTests(workDir: string): void {
  for (const path of filesBelow(workDir))
    if (isTestFile(path))
      writeFileSync(join(workDir, path), path.endsWith('.py') ? 'def test_nothing():\n    pass\n' : '');
}

function filesBelow(dir: string, prefix = ''): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(dir, entry.name), `${prefix}${entry.name}/`) : [`${prefix}${entry.name}`],
  );
}
