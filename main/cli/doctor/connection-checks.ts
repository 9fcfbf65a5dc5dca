/** Harnesses whose settings point at Tackroom: does what they point at exist, and is it this one? */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sameBytes, sha256 } from '../../harness/config-file.js';
import { planUndo } from '../../harness/connect-plan.js';
import { type ConnectRecord, readRecord } from '../../harness/connect-record.js';
import type { Connector } from '../../harness/connector.js';
import { CONNECTORS } from '../../harness/connectors.js';
import { whoAnswers } from '../../harness/test-call.js';
import { knownPort } from '../../services/gateway-port.js';
import { type Check, reasonOf } from './check.js';

interface Finding {
  detail: string;
  /** Empty: all is well. */
  hint: string;
}

/** Looks only: unlike `installToken` it makes none. */
function tokenOf(home: string): string | null {
  try {
    return readFileSync(join(home, 'token'), 'utf8').trim();
  } catch {
    return null;
  }
}

/** The port at which this home's gateway answers now, or null. */
export async function runningGateway(home: string): Promise<number | null> {
  const [port, token] = [knownPort(home), tokenOf(home)];
  if (port === null || token === null) return null;
  return (await whoAnswers(`http://127.0.0.1:${port}`, token)) === 'ours' ? port : null;
}

/** Nothing of ours is left in any file, as after an edit by hand. */
const leftAlone = (dir: string, { files }: ConnectRecord): boolean =>
  files.map((file) => planUndo(dir, file)).every(({ before, after }) => sameBytes(before, after));

async function judge(name: string, dir: string, record: ConnectRecord, home: string): Promise<Finding> {
  const { port } = record;
  const again = `tackroom connect ${name}`;
  const token = tokenOf(home);
  if (leftAlone(dir, record))
    return {
      detail: `${name} was connected, but its settings no longer say so`,
      hint: `Run: ${again}, or tackroom disconnect ${name}`,
    };
  if (token === null || sha256(token) !== record.tokenSha256)
    return {
      detail: `${name} has the token of another home, for port ${port}`,
      hint: `Run: ${again} (with the --home that it shall use)`,
    };
  const fixed = knownPort(home);
  if (fixed !== port)
    return {
      detail: `${name} calls port ${port}, this home's gateway listens at ${fixed ?? 'none yet'}`,
      hint: `Run: ${again}`,
    };
  const who = await whoAnswers(`http://127.0.0.1:${port}`, token);
  if (who === 'ours') return { detail: `${name} reaches the gateway at port ${port}`, hint: '' };
  return who === 'nobody'
    ? {
        detail: `${name} calls port ${port}, where no gateway runs`,
        hint: `Start it: tackroom serve, or give ${name} its own model back: tackroom disconnect ${name}`,
      }
    : {
        detail: `${name} calls port ${port}, where another program answers`,
        hint: `Stop that program, or run: ${again} --port N`,
      };
}

async function find({ name, locate }: Connector, home: string, root: string | undefined): Promise<Finding | null> {
  try {
    const { dir } = locate({ root, env: process.env });
    const record = readRecord(dir);
    return record && (await judge(name, dir, record, home));
  } catch (error) {
    const hint = (error as { hint?: unknown }).hint;
    return {
      detail: `${name}: ${reasonOf(error)}`,
      hint: typeof hint === 'string' ? hint : 'Check its configuration files.',
    };
  }
}

/** `root`: another home folder of the harnesses. */
export async function checkConnections(home: string, root?: string): Promise<Check> {
  const found = await Promise.all(CONNECTORS.map((connector) => find(connector, home, root)));
  const findings = found.filter((finding) => finding !== null);
  const hints = findings.map(({ hint }) => hint).filter((hint) => hint !== '');
  return {
    id: 'connections',
    title: 'Connected',
    status: hints.length > 0 ? 'warning' : 'ok',
    detail: findings.map(({ detail }) => detail).join('; ') || 'no harness is connected',
    hint: hints.join('; '),
  };
}
