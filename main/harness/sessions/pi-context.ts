/**
 * What the model sees at an entry of pi's tree: the path from the root, the latest compaction in place of what it summed
 * up, and the edits made to entries on the way.
 */
import type { Place } from './session-writer.js';

export interface PiNode {
  id: string;
  parent: PiNode | null;
  /** The conversation including this entry. */
  place: Place;
  /** The message this entry adds; null: none. */
  said: Place | null;
  toolsHash: string | null;
  isSystem: boolean;
  compaction?: { system: Place | null; summary: Place; keptFrom: string };
  /** `with` null: taken out. */
  edit?: { target: string; with: Place | null };
}

/** Entries that may be looked at in all rebuilds of one file; a file beyond it was made to be slow. */
const BUDGET = 1_000_000;

export class PiContext {
  #budget = BUDGET;

  /** Messages that make up the conversation at `node`, first to last; null: the budget is spent. */
  messages(node: PiNode): Place[] | null {
    const path: PiNode[] = [];
    for (let at: PiNode | null = node; at; at = at.parent) {
      if (this.#budget-- <= 0) return null;
      path.push(at);
    }
    path.reverse();
    const edits = new Map(path.flatMap(({ edit }) => (edit ? [[edit.target, edit.with] as const] : [])));
    const said = (entries: PiNode[]): Place[] =>
      entries.flatMap((entry) => (edits.has(entry.id) ? (edits.get(entry.id) ?? []) : (entry.said ?? [])));
    const at = path.findLastIndex((entry) => entry.compaction);
    const compaction = path[at]?.compaction;
    if (!compaction) return said(path);
    const kept = path.findIndex((entry) => entry.id === compaction.keptFrom);
    const system = compaction.system ?? path.find((entry) => entry.isSystem && entry.said)?.said ?? null;
    return [
      ...(system ? [system] : []),
      compaction.summary,
      ...said(path.slice(kept < 0 ? at : kept, at).filter((entry) => !entry.isSystem)),
      ...said(path.slice(at + 1)),
    ];
  }
}
