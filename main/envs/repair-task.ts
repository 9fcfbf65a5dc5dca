/** A repair candidate as a Harbor task folder: its start state, the recorded check as the tests, the recorded fix as the solution. */
import { posix } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { CleanDocument } from '../sanitize/clean.js';
import { sha256Hex, taskContentHash } from './content-hash.js';
import { stateSha } from './file-history.js';
import { isRunnerConfig, isTestFile, PLANTED_FILE } from './file-kinds.js';
import type { Work } from './find-repair.js';
import { DOCKERFILE } from './harbor-task.js';
import { resourceText } from './resource.js';
import { splitShell } from './shell-split.js';
import { slug, taskToml } from './task-config.js';
import { type FolderFiles, writeTaskFolder } from './task-folder.js';

const AGENT_SECONDS = 600;
/** Harbor counts the start of the verifier container in it. */
const VERIFIER_SECONDS = 600;
/** The check itself; shorter than the verifier, so that an endless loop in the agent's code scores 0. */
const CHECK_SECONDS = 60;

/** What the passing run of the solution proved; measured by the build stage. */
export interface Evidence {
  /** Tests that ran (unittest) or passed (other runners); 0 where the runner prints no count. */
  tests: number;
  skipped: number;
  /** Pattern of the count in the output, for runners other than unittest. */
  summary: string | null;
}

export function repairTaskName(work: Work): string {
  const { check, start_sha, oracle_sha } = work.candidate;
  return `tackroom/repair-${slug(check.split(' ').at(-1) ?? '').slice(0, 20)}-${sha256Hex(`${check}\0${start_sha}\0${oracle_sha}`).slice(0, 12)}`;
}

/** Arguments of `python3 -m unittest` when that is what the check runs, else null. */
export function unittestArguments(check: string): string[] | null {
  const words = splitShell(check)?.[0]?.words.map(({ text }) => text) ?? [];
  return /^python3?$/.test(words[0] ?? '') && words[1] === '-m' && words[2] === 'unittest' ? words.slice(3) : null;
}

/** `rules`: the rule set that the work was cleaned with. */
export function repairTaskFiles(work: Work, evidence: Evidence, rules: string): FolderFiles {
  const { candidate, start, oracle, env } = work;
  const restored = Object.keys(start).filter((path) => isTestFile(path) || isRunnerConfig(path));
  const settings = {
    command: candidate.check,
    cwd: candidate.cwd,
    env,
    unittest: unittestArguments(candidate.check),
    ...evidence,
    timeout_sec: CHECK_SECONDS,
    restored,
    known: [...new Set([...Object.keys(start), ...Object.keys(oracle)])].sort(),
    planted: PLANTED_FILE,
  };
  const removed = candidate.files.filter((path) => oracle[path] === undefined);
  const files: FolderFiles = {
    'task.toml': {
      content: taskToml({
        name: repairTaskName(work),
        description: 'Make a failing check of a small project pass',
        category: 'repair',
        keywords: ['repair'],
        metadata: {
          difficulty: 'easy',
          check: candidate.check,
          start_sha: candidate.start_sha,
          oracle_sha: candidate.oracle_sha,
          sanitizer_rules: rules,
        },
        agentSeconds: AGENT_SECONDS,
        verifierSeconds: VERIFIER_SECONDS,
      }),
    },
    'instruction.md': { content: instruction(work) },
    'environment/Dockerfile': { content: DOCKERFILE },
    'solution/solve.sh': { content: resourceText('envs/solve.sh') + removalLines(removed), executable: true },
    'tests/test.sh': { content: resourceText('envs/repair-test.sh'), executable: true },
    'tests/check.py': { content: resourceText('envs/repair-check.py') },
    'tests/guarded_unittest.py': { content: resourceText('envs/guarded_unittest.py') },
    'tests/check.json': { content: `${JSON.stringify(settings, null, 1)}\n` },
  };
  for (const [path, content] of Object.entries(start)) files[`environment/files/${path}`] = { content };
  for (const path of candidate.files)
    if (oracle[path] !== undefined) files[`solution/files/${path}`] = { content: oracle[path] };
  for (const path of restored) files[`tests/files/${path}`] = { content: start[path]! };
  return files;
}

/** Errors: REFUSED for work that the sanitizer did not make. */
export function writeRepairTask(
  clean: CleanDocument<Work>,
  evidence: Evidence,
  dir: string,
): { name: string; contentHash: string } {
  if (!CleanDocument.is(clean))
    throw new TackroomError('REFUSED', 'A task is only written of what the sanitizer made.', 'Build the task again.');
  const work = restated(clean.value());
  writeTaskFolder(dir, repairTaskFiles(work, evidence, clean.facts.rules));
  return { name: repairTaskName(work), contentHash: taskContentHash(dir) };
}

/** The hashes are of the files as they are now. */
export function restated(work: Work): Work {
  const { candidate, start, oracle } = work;
  return { ...work, candidate: { ...candidate, start_sha: stateSha(start), oracle_sha: stateSha(oracle) } };
}

function instruction({ candidate, env }: Work): string {
  const variables = Object.entries(env)
    .map(([name, value]) => `${name}=${value} `)
    .join('');
  const place = candidate.cwd === '.' ? 'this folder' : `the folder ${posix.normalize(candidate.cwd)}`;
  return `The command \`${variables}${candidate.check}\`, run in ${place}, fails. Find the fault in the code and fix it so that the command passes. Leave the tests and the settings of the test runner as they are.\n`;
}

function removalLines(paths: string[]): string {
  return paths.length === 0
    ? ''
    : `rm -f -- ${paths.map((path) => `'/work/${path.replaceAll("'", "'\\''")}'`).join(' ')}\n`;
}
