import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { CallEvent, SessionEvent, SessionTrace } from '../../main/envs/session-events.js';

/** A temporary folder that goes when the file's tests are over. */
export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tackroom-test-envs-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export const user = (text = 'go'): SessionEvent => ({ kind: 'user', text });
const call = (name: string, args: Record<string, unknown>, output: string, isError = false): CallEvent => ({
  kind: 'call',
  name,
  arguments: args,
  output,
  isError,
});
export const write = (path: string, content: string): CallEvent =>
  call('write', { path, content }, `Successfully wrote ${path}`);
export const read = (path: string, content: string): CallEvent => call('read', { path }, content);
export const edit = (path: string, oldText: string, newText: string): CallEvent =>
  call('edit', { path, edits: [{ oldText, newText }] }, `Successfully replaced 1 block(s) in ${path}.`);
export const bash = (command: string, code = 0, output = ''): CallEvent =>
  call('bash', { command }, code === 0 ? output : `${output}\n\nCommand exited with code ${code}`, code !== 0);
export const session = (...events: SessionEvent[]): SessionTrace => ({ id: 's', cwd: '/home/dev/proj', events });
