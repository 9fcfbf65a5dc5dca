/**
 * The two changes that there are to a harness's settings, worked out in full before a byte is written, and made by one process at a
 * time. Nothing else in its folder is touched; a file nobody changed in between comes back byte for byte, from one that was changed
 * only Tackroom's entries are removed.
 */
import { lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { makeFolder } from '../services/paths.js';
import { withLock } from '../services/process-lock.js';
import { readBytes, sameBytes, sha256, writeBytes } from './config-file.js';
import { type Change, planConnect, planUndo } from './connect-plan.js';
import {
  type ConnectRecord,
  forget,
  missingFolders,
  readRecord,
  sweepPartials,
  writeBackups,
  writeRecord,
} from './connect-record.js';
import { type ConfigPlace, DEFAULT_MODEL_ID, type GatewaySettings } from './connector.js';
import { connectorOf } from './connectors.js';
import { unifiedDiff } from './unified-diff.js';

/** Changing takes well below a second; a disk that sleeps takes longer. */
const LOCK_WAIT_MS = 10_000;

export interface ConnectTarget {
  harness: string;
  /** Another home folder. Default: what the harness's own variables say, else the user's. */
  root?: string;
}

export interface ConnectOptions extends ConnectTarget {
  /** Of the gateway on 127.0.0.1. */
  port: number;
  /** The install's token (main/proxy/token.ts). */
  token: string;
  modelId?: string;
  /** Tokens that the model behind the gateway holds, where known. */
  contextTokens?: number | null;
}

export interface PlannedChange {
  /** Empty: there is nothing to change. */
  diff: string;
  /** What the user should know before, a sentence each. */
  notes: string[];
  /** Names this very change: another one, however similar, has another. */
  digest: string;
}

export interface ChangeOptions {
  /** Told before anything is written. */
  onPlan?(plan: PlannedChange): void;
  /** Told when another Tackroom is at it, and who. */
  onWait?(holder: string): void;
  /** Of the plan that the user saw; any other is not made. */
  digest?: string;
}

interface Planned extends PlannedChange {
  apply(): void;
}

/** Of `harness` at the gateway of this machine. */
export function gatewaySettings({ harness, port, token, modelId, contextTokens }: ConnectOptions): GatewaySettings {
  return {
    baseUrl: `http://127.0.0.1:${port}/${harness}/v1`,
    modelId: modelId ?? DEFAULT_MODEL_ID,
    token,
    contextTokens: contextTokens ?? null,
  };
}

function described(changes: readonly Change[]): Omit<PlannedChange, 'notes'> {
  const text = (bytes: Buffer | null): string | null => bytes?.toString('utf8') ?? null;
  const digestOf = (bytes: Buffer | null): string | null => bytes && sha256(bytes);
  return {
    diff: changes.map(({ path, before, after }) => unifiedDiff(path, text(before), text(after))).join(''),
    digest: sha256(JSON.stringify(changes.map(({ path, before, after }) => [path, digestOf(before), digestOf(after)]))),
  };
}

function writeAll(changes: readonly Change[]): void {
  for (const { path, before, after, mode } of changes) {
    if (sameBytes(before, after)) continue;
    // The harness, or its owner, may have written it while the change was being worked out.
    if (!sameBytes(readBytes(path), before))
      throw new TackroomError(
        'BUSY',
        `${path} was changed just now, so it was left alone.`,
        'Run the same command again.',
      );
    writeBytes(path, after, mode);
  }
}

const sweep = ({ dir, files }: ConfigPlace, known: ConnectRecord | null): void =>
  sweepPartials(dir, [...new Set([...files, ...(known?.files ?? [])].map(({ name }) => name))]);

/** Errors: REFUSED for what cannot be edited, or on a conflict. */
export function planConnecting(options: ConnectOptions): Planned {
  const connector = connectorOf(options.harness);
  const whose = { root: options.root, env: process.env };
  const settings = gatewaySettings(options);
  const place = connector.locate(whose);
  const known = readRecord(place.dir);
  const { changes, files } = planConnect(place, settings, known);
  return {
    ...described(changes),
    notes: connector.notes(settings, whose),
    apply() {
      const folders = known?.folders ?? missingFolders(place.dir);
      makeFolder(place.dir);
      sweep(place, known);
      const record: ConnectRecord = {
        version: 2,
        port: options.port,
        baseUrl: settings.baseUrl,
        tokenSha256: sha256(options.token),
        files,
        folders,
      };
      // The record first: whatever happens from here on can be undone.
      writeRecord(place.dir, record);
      writeBackups(place.dir, record);
      writeAll(changes);
    },
  };
}

/** Errors: REFUSED on a conflict. */
export function planDisconnecting(target: ConnectTarget): Planned & { connected: boolean; dir: string } {
  const place = connectorOf(target.harness).locate({ root: target.root, env: process.env });
  const record = readRecord(place.dir);
  const changes = record?.files.map((file) => planUndo(place.dir, file)) ?? [];
  return {
    ...described(changes),
    notes: [],
    connected: record !== null,
    dir: place.dir,
    apply() {
      sweep(place, record);
      if (!record) return;
      writeAll(changes);
      forget(place.dir, record);
    },
  };
}

/** Of this user, whichever home or shell: two Tackrooms may want to enter the same harness. */
function lockFolder(): string {
  const user = process.getuid?.();
  const dir = join(tmpdir(), user === undefined ? 'tackroom-locks' : `tackroom-locks-${user}`);
  makeFolder(dir);
  const info = lstatSync(dir);
  if (!info.isDirectory() || (user !== undefined && info.uid !== user))
    throw new TackroomError('REFUSED', `${dir} belongs to somebody else, so nothing was changed.`, 'Remove it.');
  return dir;
}

async function change<P extends Planned>(
  what: string,
  target: ConnectTarget,
  plan: () => P,
  { onPlan, onWait, digest }: ChangeOptions,
): Promise<P> {
  const { dir } = connectorOf(target.harness).locate({ root: target.root, env: process.env });
  const lock = join(lockFolder(), sha256(resolve(dir)).slice(0, 20));
  return withLock(lock, { what: `${what} ${target.harness}`, waitMs: LOCK_WAIT_MS, onWait }, () => {
    const planned = plan();
    if (digest !== undefined && planned.digest !== digest)
      throw new TackroomError(
        'BUSY',
        `The settings of ${target.harness} were changed since they were shown, so nothing was done.`,
        'Look at the change again.',
      );
    onPlan?.(planned);
    planned.apply();
    return planned;
  });
}

/** Errors: REFUSED for what cannot be edited or conflicts, BUSY, IO. */
export const connectNow = (options: ConnectOptions, how: ChangeOptions = {}): Promise<PlannedChange> =>
  change('connecting', options, () => planConnecting(options), how);

/** Errors: REFUSED on a conflict, BUSY, IO. What is not connected is left as it is. */
export const disconnectNow = (
  target: ConnectTarget,
  how: ChangeOptions = {},
): Promise<PlannedChange & { connected: boolean; dir: string }> =>
  change('disconnecting', target, () => planDisconnecting(target), how);
