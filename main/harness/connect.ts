/**
 * Points the user's own pi at Tackroom, and takes that back. Nothing else in pi's folder is touched; a file nobody
 * changed in between comes back byte for byte, in one that was changed only Tackroom's entries are removed.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';
import { formatConfig, type JsonObject, modeOf, parseConfig, readBytes, sha256, writeBytes } from './config-file.js';
import { PI_EDITS } from './connect-plan.js';
import {
  backupPath,
  type ConnectState,
  type FileState,
  forget,
  missingFolders,
  readState,
  writeState,
} from './connect-state.js';
import type { PiModelOptions } from './pi-config.js';
import { unifiedDiff } from './unified-diff.js';

export interface ConnectTarget {
  harness: string;
  /** Another home folder; its `.pi/agent` is used. Default: PI_CODING_AGENT_DIR, else `~/.pi/agent`. */
  root?: string;
  /** Print the change, make none. */
  dryRun?: boolean;
}

export interface ConnectOptions extends ConnectTarget {
  /** Of the gateway on 127.0.0.1. */
  port: number;
  /** The install's token (main/proxy/token.ts). */
  token: string;
  /** What pi calls the model: `tackroom/<id>`. Stays the same whatever adapter answers. Default `demo`. */
  modelId?: string;
}

type Io = { stdout: Writable };

/** The token is in the file: it is for its owner only. */
const PRIVATE = 0o600;

interface Change {
  path: string;
  before: string | null;
  after: string | null;
  mode: number;
}

function agentDir(target: ConnectTarget): string {
  if (target.harness !== 'pi')
    throw new TackroomError(
      'UNSUPPORTED',
      `${target.harness} cannot be connected by itself yet.`,
      `Set its base URL to http://127.0.0.1:PORT/${target.harness}/v1 and its API key to the install's token.`,
    );
  if (target.root) return join(resolve(target.root), '.pi', 'agent');
  return process.env.PI_CODING_AGENT_DIR ?? join(homedir(), '.pi', 'agent');
}

function print(io: Io, changes: Change[]): void {
  for (const { path, before, after } of changes) {
    const text = (bytes: string | null): string | null =>
      bytes === null ? null : Buffer.from(bytes, 'latin1').toString('utf8');
    io.stdout.write(unifiedDiff(path, text(before), text(after)));
  }
}

const apply = (changes: Change[]): void => {
  for (const { path, before, after, mode } of changes) if (before !== after) writeBytes(path, after, mode);
};

/** Returns the exit code. Errors: REFUSED for configuration that is not plain JSON, UNSUPPORTED, IO. */
export async function connectCommand(options: ConnectOptions, io: Io): Promise<number> {
  const dir = agentDir(options);
  const known = readState(dir);
  const model: PiModelOptions = {
    baseUrl: `http://127.0.0.1:${options.port}/pi/v1`,
    modelId: options.modelId ?? 'demo',
    apiKey: options.token,
    sessionHeaders: true,
  };
  const changes = PI_EDITS.map((edit): Change => {
    const path = join(dir, edit.name);
    const before = readBytes(path);
    return { path, before, after: formatConfig(edit.enter(parseConfig(path, before), model), before), mode: PRIVATE };
  });
  print(io, changes);
  if (options.dryRun) return 0;
  const folders = known?.folders ?? missingFolders(dir);
  mkdirSync(dir, { recursive: true });
  const files = PI_EDITS.map((edit, at): FileState => {
    const { path, before, after } = changes[at]!;
    const writtenSha256 = sha256(after!);
    const state = known?.files.find((file) => file.name === edit.name);
    if (state)
      return {
        ...state,
        writtenSha256,
        edited: state.edited || before === null || sha256(before) !== state.writtenSha256,
      };
    if (before !== null) copyFileSync(path, backupPath(dir, edit.name));
    return { name: edit.name, mode: before === null ? null : modeOf(path), writtenSha256, edited: false };
  });
  // The record first: whatever happens from here on can be undone.
  writeState(dir, { version: 1, files, folders });
  apply(changes);
  io.stdout.write(`pi now uses ${model.modelId} through Tackroom. To undo: tackroom disconnect pi\n`);
  return 0;
}

function undo(dir: string, name: string, state: FileState | undefined): Change {
  const edit = PI_EDITS.find((one) => one.name === name)!;
  const path = join(dir, name);
  const before = readBytes(path);
  const backup = readBytes(backupPath(dir, name));
  const mode = state?.mode ?? (before === null ? PRIVATE : modeOf(path));
  const untouched =
    before === backup ||
    (before !== null && state !== undefined && !state.edited && sha256(before) === state.writtenSha256);
  if (state && untouched) return { path, before, after: backup, mode };
  if (before === null) return { path, before, after: null, mode };
  const original: JsonObject = parseConfig(path, backup);
  const current = parseConfig(path, before);
  const left = edit.leave(current, original);
  const empty = Object.keys(left).length === 0 && (!state || state.mode === null);
  const after = JSON.stringify(left) === JSON.stringify(current) ? before : empty ? null : formatConfig(left, before);
  return { path, before, after, mode };
}

/** Returns the exit code; what is not connected is left as it is. Errors: REFUSED, UNSUPPORTED, IO. */
export async function disconnectCommand(target: ConnectTarget, io: Io): Promise<number> {
  const dir = agentDir(target);
  const state: ConnectState | null = readState(dir);
  const changes = PI_EDITS.map((edit) =>
    undo(
      dir,
      edit.name,
      state?.files.find((file) => file.name === edit.name),
    ),
  );
  print(io, changes);
  if (target.dryRun) return 0;
  apply(changes);
  if (state) forget(dir, state);
  const changed = state !== null || changes.some(({ before, after }) => before !== after);
  io.stdout.write(changed ? 'pi is as it was before.\n' : 'pi is not connected; nothing to undo.\n');
  return 0;
}
