/** Harbor task folders from the command line as records of the store. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { Split, Task } from '../../contract/records.js';
import { taskContentHash } from '../envs/content-hash.js';
import { readTaskConfig } from '../envs/task-config.js';
import type { Store } from '../store/store.js';

const isTask = (dir: string): boolean => existsSync(join(dir, 'task.toml'));

/** `dir` itself when it is a task, else the tasks right under it, by name. Errors: NOT_FOUND. */
export function taskDirs(dir: string): string[] {
  const root = resolve(dir);
  if (isTask(root)) return [root];
  const found = existsSync(root)
    ? readdirSync(root)
        .sort()
        .map((name) => join(root, name))
        .filter(isTask)
    : [];
  if (found.length === 0)
    throw new TackroomError(
      'NOT_FOUND',
      `There is no task in ${root}.`,
      'Name a Harbor task folder (with task.toml), or a folder of such folders.',
    );
  return found;
}

/** Records the folders of `dir`; the same content is the same task. */
export function importTasks(store: Store, dir: string, split: Split): Task[] {
  return taskDirs(dir).map((folder) => {
    const contentHash = taskContentHash(folder);
    const known = store.task.list({ where: { contentHash } })[0];
    if (known && known.dir === folder && known.split === split) return known;
    return store.task.put({
      id: `task-${split}-${contentHash.slice(0, 20)}`,
      version: 1,
      createdAt: Date.now(),
      kind: readTaskConfig(folder).category ?? 'unknown',
      split,
      source: folder,
      candidateId: null,
      dir: folder,
      contentHash,
      question: basename(folder),
      status: 'kept',
      reason: null,
    });
  });
}
