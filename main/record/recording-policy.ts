/**
 * Which requests are stored. Rollouts and the demo are the product's own work and always are; a request of the user's
 * harness is not while recording is paused, nor when it works in an excluded folder. What is left out stays out: a
 * conversation repeats itself in every request, so one that went on during a pause is not stored afterwards either.
 */
import { isPaused, type RecordingSettings } from '../../contract/recording.js';
import type { Session } from '../../contract/records.js';
import type { ChatMessage } from '../engine/protocol.js';
import type { Store } from '../store/store.js';
import { folderAround } from './folders.js';
import type { ChainLink } from './message-store.js';
import type { SessionHint } from './session-finder.js';
import { recordingSettings } from './settings.js';
import { promptPositions, statedDirectories } from './working-directory.js';

/** Left-out conversations that are remembered, in memory only: even a hash on the disk would be a trace. */
const REMEMBERED = 10_000;
/** Messages whose directories are remembered; the system prompt comes again in every request. */
const CACHED_MESSAGES = 500;

export interface Offered {
  session: SessionHint;
  messages: readonly ChatMessage[];
  createdAt: number;
}

export class RecordingPolicy {
  /** Ends of left-out conversations, and harnesses' ids of left-out sessions. */
  readonly #leftOut = new Set<string>();
  readonly #directories = new Map<string, string[]>();

  constructor(private readonly store: Store) {}

  /**
   * Whether the request may be stored. `known`: the session it goes on with. While a folder is excluded, what does not say
   * where it works is stored only when its session is known to work elsewhere: a harness sums conversations up in requests
   * that name no folder.
   */
  allows(offered: Offered, chain: readonly ChainLink[], known: () => Session | undefined): boolean {
    if (offered.session.origin !== 'user') return true;
    const settings = recordingSettings(this.store);
    const { excluded } = settings;
    if (isPaused(settings, offered.createdAt) || this.#worksIn(excluded, offered, chain)) {
      this.#leaveOut(offered.session, chain);
      return false;
    }
    if (this.#wasLeftOut(offered.session, chain)) return false;
    return excluded.length === 0 || this.#worksElsewhere(settings, offered, chain, known);
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
    { excluded }: RecordingSettings,
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

  #leaveOut(hint: SessionHint, chain: readonly ChainLink[]): void {
    const name = sessionName(hint) ?? chain.at(-1)?.node;
    if (name === undefined) return;
    this.#leftOut.delete(name);
    this.#leftOut.add(name);
    if (this.#leftOut.size > REMEMBERED) this.#leftOut.delete(this.#leftOut.values().next().value!);
  }

  #wasLeftOut(hint: SessionHint, chain: readonly ChainLink[]): boolean {
    if (this.#leftOut.size === 0) return false;
    const name = sessionName(hint);
    return name === undefined ? chain.some(({ node }) => this.#leftOut.has(node)) : this.#leftOut.has(name);
  }
}

/** A harness that names its session is told apart by that; a conversation is known by what was said otherwise. */
const sessionName = ({ harness, harnessSessionId }: SessionHint): string | undefined =>
  harnessSessionId === null ? undefined : `${harness}\n${harnessSessionId}`;
