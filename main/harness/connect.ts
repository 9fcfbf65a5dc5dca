/**
 * Points the user's own harness at Tackroom, and takes that back. Nothing else in the harness's folder is touched; a file
 * nobody changed in between comes back byte for byte, from one that was changed only Tackroom's entries are removed.
 */
import { existsSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';
import { makeFolder } from '../services/paths.js';
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
import { type ConfigPlace, type Connector, DEFAULT_MODEL_ID, type GatewaySettings } from './connector.js';
import { connectorOf } from './connectors.js';
import { findHarness } from './find-harness.js';
import { type TestCall, testCall } from './test-call.js';
import { unifiedDiff } from './unified-diff.js';

export interface ConnectTarget {
  harness: string;
  /** Another home folder. Default: what the harness's own variables say, else the user's. */
  root?: string;
  /** Print the change, make none. */
  dryRun?: boolean;
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

interface Io {
  stdout: Writable;
  stderr: Writable;
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

function print(io: Io, changes: readonly Change[]): void {
  const text = (bytes: Buffer | null): string | null => bytes?.toString('utf8') ?? null;
  for (const { path, before, after } of changes) io.stdout.write(unifiedDiff(path, text(before), text(after)));
}

function apply(changes: readonly Change[]): void {
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

/** Says what was found. Errors: HARNESS_MISSING, unless it was used here, its home was named, or nothing is to change. */
async function announce(connector: Connector, target: ConnectTarget, io: Io): Promise<void> {
  const { name } = connector;
  const found = await findHarness(connector, { root: target.root, env: process.env });
  if (found) {
    io.stderr.write(`${name} ${found.version ?? '(it did not say which version)'} at ${found.path}\n`);
    return;
  }
  const { root, dryRun } = target;
  const named = root !== undefined || connector.homeVariables.some((variable) => process.env[variable]);
  // Whoever has its settings has used it: it may be on the PATH of another shell.
  const used = existsSync(connector.locate({ root, env: process.env }).dir);
  if (!named && !used && !dryRun)
    throw new TackroomError(
      'HARNESS_MISSING',
      `There is no ${name} on the PATH or where its installers put it, so nothing was changed.`,
      `Install it, add it to the PATH, or name the home folder it will use with --root.`,
    );
  io.stderr.write(
    `No ${name} was found on the PATH or where its installers put it; its settings are written all the same.\n`,
  );
}

/** Returns the exit code: 1 where something else answers at the port. Errors: HARNESS_MISSING, REFUSED, BUSY, IO. */
export async function connectCommand(options: ConnectOptions, io: Io): Promise<number> {
  const connector = connectorOf(options.harness);
  const whose = { root: options.root, env: process.env };
  await announce(connector, options, io);
  const settings = gatewaySettings(options);
  const place = connector.locate(whose);
  const known = readRecord(place.dir);
  const { changes, files } = planConnect(place, settings, known);
  print(io, changes);
  for (const note of connector.notes(settings, whose)) io.stderr.write(`Note: ${note}\n`);
  if (options.dryRun) return 0;
  const folders = known?.folders ?? missingFolders(place.dir);
  makeFolder(place.dir);
  sweep(place, known);
  const { port } = options;
  const record: ConnectRecord = {
    version: 2,
    port,
    baseUrl: settings.baseUrl,
    tokenSha256: sha256(options.token),
    files,
    folders,
  };
  // The record first: whatever happens from here on can be undone.
  writeRecord(place.dir, record);
  writeBackups(place.dir, record);
  apply(changes);
  io.stdout.write(
    `${connector.name} now uses ${settings.modelId} through Tackroom. To undo: tackroom disconnect ${connector.name}\n`,
  );
  return report(await testCall(settings), connector.name, port, io);
}

function report(call: TestCall, name: string, port: number, io: Io): number {
  switch (call.outcome) {
    case 'arrived':
      io.stdout.write(`A test call arrived and was answered in ${Math.round(call.ms)} ms.\n`);
      return 0;
    case 'nobody':
      io.stdout.write(`No gateway runs at port ${port} yet. Start it: tackroom serve\n`);
      return 0;
    case 'stranger':
      io.stderr.write(
        `What answers at port ${port} is not the gateway of this home, so ${name} has no model now.\n  Stop that program, or choose another port: tackroom connect ${name} --port N\n`,
      );
      return 1;
    case 'failed':
      io.stderr.write(
        `A test call reached the gateway, but it had no answer: ${call.reason}\n  Run \`tackroom doctor\`, or connect again when the model is loaded.\n`,
      );
      return 1;
  }
}

/** Returns the exit code; what is not connected is left as it is. Errors: REFUSED on a conflict, BUSY, IO. */
export async function disconnectCommand(target: ConnectTarget, io: Io): Promise<number> {
  const connector = connectorOf(target.harness);
  const place = connector.locate({ root: target.root, env: process.env });
  const record = readRecord(place.dir);
  const changes = record?.files.map((file) => planUndo(place.dir, file)) ?? [];
  print(io, changes);
  if (target.dryRun) return 0;
  sweep(place, record);
  if (!record) {
    io.stdout.write(`${connector.name} is not connected in ${place.dir}; nothing to undo.\n`);
    return 0;
  }
  apply(changes);
  forget(place.dir, record);
  io.stdout.write(`${connector.name} is as it was before.\n`);
  return 0;
}
