/** What a harness's settings say of Tackroom, and whether that is true. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toErrorShape } from '../../contract/errors.js';
import { knownPort } from '../services/gateway-port.js';
import { sameBytes, sha256 } from './config-file.js';
import { planUndo } from './connect-plan.js';
import { type ConnectRecord, readRecord } from './connect-record.js';
import type { Connector, Whose } from './connector.js';
import { whoAnswers } from './test-call.js';

export type ConnectionState =
  | { state: 'none' }
  /** Nothing of ours is left in any file, as after an edit by hand. */
  | { state: 'edited' }
  /** The token of another home. */
  | { state: 'elsewhere'; port: number }
  /** This home's gateway listens at `ours`; null: it has no port yet. */
  | { state: 'other-port'; port: number; ours: number | null }
  | { state: 'reaches' | 'nobody' | 'stranger'; port: number }
  | { state: 'unreadable'; reason: string; hint: string | null };

/** Looks only: unlike `installToken` it makes none. */
export function tokenOf(home: string): string | null {
  try {
    return readFileSync(join(home, 'token'), 'utf8').trim();
  } catch {
    return null;
  }
}

const leftAlone = (dir: string, { files }: ConnectRecord): boolean =>
  files.map((file) => planUndo(dir, file)).every(({ before, after }) => sameBytes(before, after));

async function judge(dir: string, record: ConnectRecord, home: string): Promise<ConnectionState> {
  const { port } = record;
  const token = tokenOf(home);
  if (leftAlone(dir, record)) return { state: 'edited' };
  if (token === null || sha256(token) !== record.tokenSha256) return { state: 'elsewhere', port };
  const ours = knownPort(home);
  if (ours !== port) return { state: 'other-port', port, ours };
  const who = await whoAnswers(`http://127.0.0.1:${port}`, token);
  return { state: who === 'ours' ? 'reaches' : who, port };
}

/** Changes nothing, never throws. */
export async function connectionState({ locate }: Connector, home: string, whose: Whose): Promise<ConnectionState> {
  try {
    const { dir } = locate(whose);
    const record = readRecord(dir);
    return record ? await judge(dir, record, home) : { state: 'none' };
  } catch (error) {
    const { message, hint } = toErrorShape(error);
    return { state: 'unreadable', reason: message, hint: hint ?? null };
  }
}
