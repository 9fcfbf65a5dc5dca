/** Which harnesses of this user have no model when a gateway ends. */
import { readRecord } from './connect-record.js';
import type { HarnessName, Whose } from './connector.js';
import { CONNECTORS } from './connectors.js';

/** Those whose settings call `port`. What cannot be read is left to `tackroom doctor`. */
export function connectedTo(port: number, whose: Whose = { env: process.env }): HarnessName[] {
  const calls = (locate: (typeof CONNECTORS)[number]['locate']): boolean => {
    try {
      return readRecord(locate(whose).dir)?.port === port;
    } catch {
      return false;
    }
  };
  return CONNECTORS.filter(({ locate }) => calls(locate)).map(({ name }) => name);
}
