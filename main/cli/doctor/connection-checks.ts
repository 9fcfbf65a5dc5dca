/** Harnesses whose settings point at Tackroom: does what they point at exist, and is it this one? */
import { type ConnectionState, connectionState, tokenOf } from '../../harness/connection-state.js';
import { CONNECTORS } from '../../harness/connectors.js';
import { whoAnswers } from '../../harness/test-call.js';
import { knownPort } from '../../services/gateway-port.js';
import type { Check } from './check.js';

interface Finding {
  detail: string;
  /** Empty: all is well. */
  hint: string;
}

/** The port at which this home's gateway answers now, or null. */
export async function runningGateway(home: string): Promise<number | null> {
  const [port, token] = [knownPort(home), tokenOf(home)];
  if (port === null || token === null) return null;
  return (await whoAnswers(`http://127.0.0.1:${port}`, token)) === 'ours' ? port : null;
}

/** null: there is nothing to say. */
function findingOf(name: string, found: ConnectionState): Finding | null {
  const again = `tackroom connect ${name}`;
  switch (found.state) {
    case 'none':
      return null;
    case 'edited':
      return {
        detail: `${name} was connected, but its settings no longer say so`,
        hint: `Run: ${again}, or tackroom disconnect ${name}`,
      };
    case 'elsewhere':
      return {
        detail: `${name} has the token of another home, for port ${found.port}`,
        hint: `Run: ${again} (with the --home that it shall use)`,
      };
    case 'other-port':
      return {
        detail: `${name} calls port ${found.port}, this home's gateway listens at ${found.ours ?? 'none yet'}`,
        hint: `Run: ${again}`,
      };
    case 'reaches':
      return { detail: `${name} reaches the gateway at port ${found.port}`, hint: '' };
    case 'nobody':
      return {
        detail: `${name} calls port ${found.port}, where no gateway runs`,
        hint: `Start it: tackroom serve, or give ${name} its own model back: tackroom disconnect ${name}`,
      };
    case 'stranger':
      return {
        detail: `${name} calls port ${found.port}, where another program answers`,
        hint: `Stop that program, or run: ${again} --port N`,
      };
    case 'unreadable':
      return { detail: `${name}: ${found.reason}`, hint: found.hint ?? 'Check its configuration files.' };
  }
}

/** `root`: another home folder of the harnesses. */
export async function checkConnections(home: string, root?: string): Promise<Check> {
  const found = await Promise.all(
    CONNECTORS.map(async (connector) =>
      findingOf(connector.name, await connectionState(connector, home, { root, env: process.env })),
    ),
  );
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
