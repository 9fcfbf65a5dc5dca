/** A generated data question as a Harbor task folder. Layout: formats.md 4. */

import { sha256Hex, taskContentHash } from './content-hash.js';
import { ANSWER_FILE, type DataTask } from './generate/data-task.js';
import { resourceText } from './resource.js';
import { slug, taskToml } from './task-config.js';
import { type FolderFiles, writeTaskFolder } from './task-folder.js';

/** Agents and the verifier run in the same plain image; the tasks need nothing but Python. */
export const DOCKERFILE = `FROM python:3.11-slim
WORKDIR /work
COPY files/ /work/
`;
const AGENT_SECONDS = 300;
/** Harbor counts the start of the verifier container in it, which takes a minute on a loaded machine. */
const VERIFIER_SECONDS = 300;

/** `tackroom/data-KIND-SEED`; a seed that is no valid name keeps part of its hash, so two seeds never share a name. */
export function dataTaskName(task: Pick<DataTask, 'kind' | 'split' | 'seed'>): string {
  const plain = slug(task.seed);
  const seed = plain === task.seed ? plain : `${plain}-${sha256Hex(task.seed).slice(0, 8)}`;
  return `tackroom/data-${slug(task.kind).replaceAll('_', '-')}-${task.split}-${seed}`;
}

/** Files of the folder by path. */
export function dataTaskFiles(task: DataTask): FolderFiles {
  const files: FolderFiles = {
    'task.toml': {
      content: taskToml({
        name: dataTaskName(task),
        description: 'Answer a question about a small data file',
        category: 'data',
        keywords: ['data', task.kind],
        metadata: { difficulty: 'easy', kind: task.kind, seed: task.seed, vocabulary: task.split },
        agentSeconds: AGENT_SECONDS,
        verifierSeconds: VERIFIER_SECONDS,
      }),
    },
    'instruction.md': { content: `${task.question}\n` },
    'environment/Dockerfile': { content: DOCKERFILE },
    'solution/solve.sh': { content: resourceText('envs/solve.sh'), executable: true },
    [`solution/files/${ANSWER_FILE}`]: { content: `${task.answer}\n` },
    'tests/test.sh': { content: resourceText('envs/data-test.sh'), executable: true },
    'tests/check.py': { content: resourceText('envs/data-check.py') },
    'tests/expected.txt': {
      content: `${task.numeric ? `number ${task.tolerance}` : 'text'}
${task.answer}
`,
    },
  };
  for (const [path, content] of Object.entries(task.files)) files[`environment/files/${path}`] = { content };
  return files;
}

/** Writes (or replaces) the task folder `dir`. */
export function writeDataTask(task: DataTask, dir: string): { name: string; contentHash: string } {
  writeTaskFolder(dir, dataTaskFiles(task));
  return { name: dataTaskName(task), contentHash: taskContentHash(dir) };
}
