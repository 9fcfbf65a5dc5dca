/** Who gets how many prompt tokens into the next forward pass. */
import type { Priority } from './waiting-queue.js';

export interface Prefilling {
  /** Prompt tokens still to do. */
  left: number;
  waitedMs: number;
  priority: Priority;
}

/** Shortest remaining prompt first; one millisecond of waiting counts like one token less, so a long one gets its turn. */
const TOKENS_PER_WAITED_MS = 1;
/** The user's prompt goes before a rollout's that is shorter, or older, by less than this. */
const ROLLOUT_HANDICAP_TOKENS = 30_000;

/** Tokens for each, in the order given; they add up to at most `budget`. */
export function sharePrefill(waiting: readonly Prefilling[], budget: number): number[] {
  const shares = new Array<number>(waiting.length).fill(0);
  const rank = ({ left, waitedMs, priority }: Prefilling): number =>
    left - waitedMs * TOKENS_PER_WAITED_MS + (priority === 'rollout' ? ROLLOUT_HANDICAP_TOKENS : 0);
  const order = waiting.map((_, i) => i).sort((a, b) => rank(waiting[a]!) - rank(waiting[b]!) || a - b);
  let left = budget;
  for (const i of order) {
    shares[i] = Math.min(left, waiting[i]!.left);
    left -= shares[i]!;
  }
  return shares;
}

const LEAST_TOKENS = 16;
/** Fewer do not fill the processor's caches. */
const LEAST_ALONE = 64;
/** A pass of prompts alone may take longer; it still ends soon for those who arrive or cancel meanwhile. */
const ALONE_GAPS = 8;
/** Weight of the last pass in the running estimate. */
const NEWEST = 0.3;

/** How many prompt tokens fit into a pass of a given length, learned from the passes so far. */
export class PrefillBudget {
  #msPerToken = 0;

  constructor(
    private readonly most: number,
    private readonly gapMs: number,
  ) {}

  /** After a pass over `tokens` in all that took `ms`. Short ones say nothing about the speed of a prompt. */
  observe(tokens: number, ms: number): void {
    if (tokens < LEAST_TOKENS) return;
    const now = ms / tokens;
    this.#msPerToken = this.#msPerToken === 0 ? now : (1 - NEWEST) * this.#msPerToken + NEWEST * now;
  }

  /** Prompt tokens for the next pass; few while others decode, and not many at first, when the speed is not known. */
  tokens(othersDecode: boolean): number {
    const [least, gapMs] = othersDecode ? [LEAST_TOKENS, this.gapMs] : [LEAST_ALONE, this.gapMs * ALONE_GAPS];
    const fitting = this.#msPerToken === 0 ? LEAST_ALONE : Math.floor(gapMs / this.#msPerToken);
    return Math.max(least, Math.min(this.most, fitting));
  }
}
