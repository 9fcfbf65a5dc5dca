/**
 * A made-up token and a home path for the data of the demo, so that the sanitizer has something to find. The token is
 * made at run time: no credential, real or not, stands in the repository.
 */
import { createHash } from 'node:crypto';
import type { DataTask } from '../envs/generate/data-task.js';
import { makeGithubToken } from './made-up-token.js';

export interface Planted {
  token: string;
  homePath: string;
}

export function makePlanted(seed: number): Planted {
  const digest = createHash('sha256').update(`planted ${seed}`).digest();
  return { token: makeGithubToken(digest), homePath: `/home/marlowe-${digest.toString('hex', 0, 2)}/exports/april` };
}

/** The task's files with both strings in the label column of the first rows, where `head` shows them. */
export function plantInTask(task: DataTask, planted: Planted): Record<string, string> {
  const { file, label, format, header } = task.schema;
  const text = task.files[file]!;
  const values = [planted.token, planted.homePath];
  if (format === 'csv') {
    const lines = text.split('\n');
    const column = header.indexOf(label);
    values.forEach((value, i) => {
      const cells = lines[i + 1]!.split(',');
      cells[column] = value;
      lines[i + 1] = cells.join(',');
    });
    return { ...task.files, [file]: lines.join('\n') };
  }
  if (format !== 'json') return task.files;
  const lines = text.split('\n');
  values.forEach((value, i) => {
    const at = lines.findIndex((line, n) => n > i && line.trimStart().startsWith('{'));
    const row = JSON.parse(lines[at]!.replace(/,\s*$/, '')) as Record<string, unknown>;
    row[label] = value;
    const tail = /,\s*$/.test(lines[at]!) ? ',' : '';
    lines[at] = `${JSON.stringify(row).replaceAll('":', '": ').replaceAll(',"', ', "')}${tail}`;
  });
  return { ...task.files, [file]: lines.join('\n') };
}
