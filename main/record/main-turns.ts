/**
 * Tells the agent's own turns from the requests a harness makes beside them (titles, summaries): a main turn does not look like one of
 * those, and it offers tools or goes on with a conversation that did (hermes drops the tools in its last turn).
 */
import type { Purpose } from '../../contract/records.js';
import { isAuxiliary } from './purpose.js';

export interface Turn {
  id: string;
  toolsHash: string | null;
  promptNode: string;
  purpose?: Purpose;
}

/**
 * Ids of the main turns. `path` gives the nodes from the root to a node. In a session without any tools every request that
 * does not look otherwise is a main turn.
 */
export function mainTurns(all: readonly Turn[], path: (node: string) => { node: string }[]): Set<string> {
  const turns = all.filter(({ purpose }) => !isAuxiliary(purpose));
  const withTools = turns.filter((turn) => turn.toolsHash !== null);
  if (withTools.length === 0) return new Set(turns.map((turn) => turn.id));
  const leaves = new Set(withTools.map((turn) => turn.promptNode));
  const continues = (turn: Turn): boolean => path(turn.promptNode).some(({ node }) => leaves.has(node));
  return new Set(turns.filter((turn) => turn.toolsHash !== null || continues(turn)).map((turn) => turn.id));
}
