/** The harnesses that can be connected, by name. */
import { TackroomError } from '../../contract/errors.js';
import { hermesConnector } from './connect-hermes.js';
import { opencodeConnector } from './connect-opencode.js';
import { piConnector } from './connect-pi.js';
import type { Connector } from './connector.js';

export const CONNECTORS: readonly Connector[] = [piConnector, opencodeConnector, hermesConnector];

/** Errors: BAD_ARGUMENT for a name that is none of them. */
export function connectorOf(name: string): Connector {
  const connector = CONNECTORS.find((one) => one.name === name);
  if (connector) return connector;
  throw new TackroomError(
    'BAD_ARGUMENT',
    `${JSON.stringify(name)} is no harness that Tackroom can connect.`,
    `Those are ${CONNECTORS.map((one) => one.name).join(', ')}. Any other: base URL http://127.0.0.1:PORT/v1, API key: the token in the home folder.`,
  );
}
