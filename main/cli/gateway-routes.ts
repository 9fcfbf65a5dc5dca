/** What decides where a harness's requests go is in the store; gateways that run are told to look again. */
import { connect } from 'node:net';
import { TackroomError } from '../../contract/errors.js';
import { Harness } from '../../contract/records.js';
import { gatewaySockets } from '../services/leftovers.js';
import { openHome } from '../services/paths.js';
import { RpcClient } from '../services/rpc.js';

/** Tells the running gateways of this home, if there are any, to look at the deployments again. */
export async function reloadRoutes(home: string): Promise<void> {
  for (const socket of gatewaySockets(openHome(home))) if (await answers(socket)) await reload(socket);
}

function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}

async function reload(socket: string): Promise<void> {
  const client = new RpcClient(socket, 'gateway', 1000);
  try {
    await client.call('routes.reload', {}, { timeoutMs: 5000 });
  } finally {
    client.close();
  }
}

/** Throws BAD_ARGUMENT. */
export const parseHarness = (name: string): Harness => {
  const parsed = Harness.safeParse(name);
  if (!parsed.success)
    throw new TackroomError('BAD_ARGUMENT', `There is no harness ${name}.`, `Known: ${Harness.options.join(', ')}.`);
  return parsed.data;
};
