/**
 * Which requests are stored. Rollouts and the demo are the product's own work and always are; a request of the user's
 * harness is not while recording is paused, nor when it works in an excluded folder. What is left out stays out: a
 * conversation repeats itself in every request, so one that went on during a pause is not stored afterwards either.
 */
import { isPaused } from '../../contract/recording.js';
import type { Session } from '../../contract/records.js';
import type { ChatMessage } from '../engine/protocol.js';
import type { Store } from '../store/store.js';
import { folderAround } from './folders.js';
import { type ChainLink, chainOf } from './message-store.js';
import type { SessionHint } from './session-finder.js';
import { recordingSettings } from './settings.js';
import { promptPositions, statedDirectories } from './working-directory.js';

/** Left-out conversations that are remembered, in memory only: even a hash on the disk would be a trace. */
const REMEMBERED = 20_000;
/** Messages whose directories are remembered; the system prompt comes again in every request. */
const CACHED_MESSAGES = 500;

/** What the settings were when a request began: it is stored only where they allow it then and at its end. */
export interface Began {
  paused: boolean;
  excluded: readonly string[];
}

export interface Offered {
  session: SessionHint;
  messages: readonly ChatMessage[];
  createdAt: number;
  /** Absent where nobody saw it begin. */
  began?: Began | undefined;
}

export class RecordingPolicy {
  /** Ends of left-out conversations, and harnesses' ids of left-out sessions: a fork has another id and repeats the former. */
  readonly #leftOut = new Set<string>();
  readonly #directories = new Map<string, string[]>();

  constructor(private readonly store: Store) {}

  /** To be asked when a request of the user's harness begins. */
  begin(messages: readonly ChatMessage[]): Began {
    const settings = recordingSettings(this.store);
    const paused = isPaused(settings, Date.now());
    // At once: what goes on from it may end before it does.
    if (paused) this.#remember(chainOf(messages).at(-1)?.node);
    return { paused, excluded: settings.excluded };
  }

  /**
   * Whether the request may be stored. `known`: the session it goes on with. While a folder is excluded, what does not say
   * where it works is stored only when its session is known to work elsewhere: a harness sums conversations up in requests
   * that name no folder.
   */
  allows(offered: Offered, chain: readonly ChainLink[], known: () => Session | undefined): boolean {
    if (offered.session.origin !== 'user') return true;
    const settings = recordingSettings(this.store);
    const paused = offered.began?.paused || isPaused(settings, offered.createdAt);
    const excluded = [...settings.excluded, ...(offered.began?.excluded ?? [])];
    if (paused || this.#worksIn(excluded, offered, chain) || this.#wasLeftOut(offered.session, chain, known)) {
      this.#remember(sessionName(offered.session), chain.at(-1)?.node);
      return false;
    }
    return excluded.length === 0 || this.#worksElsewhere(excluded, offered, chain, known);
  }

  /** The one directory that the prompt names; undefined: it names none, or several. */
  directory(messages: readonly ChatMessage[], chain: readonly ChainLink[]): string | undefined {
    const stated = this.#stated(messages, chain);
    return stated.length === 1 ? stated[0] : undefined;
  }

  #worksIn(excluded: readonly string[], { messages }: Offered, chain: readonly ChainLink[]): boolean {
    return (
      excluded.length > 0 && this.#stated(messages, chain).some((dir) => folderAround(dir, excluded) !== undefined)
    );
  }

  #worksElsewhere(
    excluded: readonly string[],
    { messages }: Offered,
    chain: readonly ChainLink[],
    known: () => Session | undefined,
  ): boolean {
    if (this.#stated(messages, chain).length > 0) return true;
    const cwd = known()?.cwd;
    return cwd !== undefined && folderAround(cwd, excluded) === undefined;
  }

  #stated(messages: readonly ChatMessage[], chain: readonly ChainLink[]): string[] {
    const found = promptPositions(messages).flatMap((at) => {
      const { message } = chain[at]!;
      const cached = this.#directories.get(message) ?? statedDirectories(messages[at]!);
      if (this.#directories.size >= CACHED_MESSAGES) this.#directories.clear();
      this.#directories.set(message, cached);
      return cached;
    });
    return [...new Set(found)];
  }

  #remember(...names: (string | undefined)[]): void {
    for (const name of names) {
      if (name === undefined) continue;
      this.#leftOut.delete(name);
      this.#leftOut.add(name);
      if (this.#leftOut.size > REMEMBERED) this.#leftOut.delete(this.#leftOut.values().next().value!);
    }
  }

  #wasLeftOut(hint: SessionHint, chain: readonly ChainLink[], known: () => Session | undefined): boolean {
    if (this.#leftOut.size === 0) return false;
    const name = sessionName(hint);
    if (name === undefined) return chain.some(({ node }) => this.#leftOut.has(node));
    if (this.#leftOut.has(name)) return true;
    // A fork repeats what was said before its last message. Who begins with the same words again has been asked that before.
    const repeated = chain.slice(0, -1).filter(({ node }) => this.#leftOut.has(node));
    return repeated.some(({ node }) => !this.#asked(known()?.id, node));
  }

  #asked(sessionId: string | undefined, node: string): boolean {
    const request = 'SELECT 1 FROM request WHERE promptNode = ? AND +sessionId = ? LIMIT 1';
    return sessionId !== undefined && this.store.db.prepare(request).get(node, sessionId) !== undefined;
  }
}

/** A session that its harness names is known by that too, when its conversation was summed up. */
const sessionName = ({ harness, harnessSessionId }: SessionHint): string | undefined =>
  harnessSessionId === null ? undefined : `${harness}\n${harnessSessionId}`;
