import type { NativeSequence } from '../../../../native/addon.js';
import { checkAnswer } from '../../../envs/generate/check-answer.js';
import { ANSWER_FILE, type DataTask } from '../../../envs/generate/data-task.js';
import type { BpeTokenizer } from '../bpe.js';
import { parseAnswer } from '../parse-answer.js';
import type { CommandWorker, Files } from './command-worker.js';

export const LIMITS = {
  calls: 15,
  /** Tokens of a whole episode, of one turn, and of a tool result in characters. */
  context: 900,
  turn: 128,
  resultChars: 1500,
};

/** One simulated session of the model on a task: the tokens so far, and what the working directory holds. */
export class Episode {
  readonly ids: number[];
  /** 1 for sampled tokens; aligned with `ids`, like the log-probabilities. */
  readonly mask: number[];
  readonly logprobs: number[];
  calls = 0;
  done = false;
  /** Tokens that the cache does not hold yet. */
  pending: number[];
  files: Files;
  private turnStart: number;

  constructor(
    readonly task: DataTask,
    prompt: readonly number[],
    readonly sequence: NativeSequence,
    /** Tokens of the prompt that the sequence already holds. */
    held: number,
    readonly seed: number,
    private readonly tokenizer: BpeTokenizer,
    private readonly worker: CommandWorker,
  ) {
    this.ids = [...prompt];
    this.mask = prompt.map(() => 0);
    this.logprobs = prompt.map(() => 0);
    this.pending = prompt.slice(held);
    this.turnStart = this.ids.length;
    this.files = { ...task.files };
  }

  get solved(): boolean {
    return checkAnswer(this.task, this.files[ANSWER_FILE] ?? null);
  }

  /** Takes a sampled token; true where the turn is over and `act` has to follow. */
  push(token: number, logprob: number): boolean {
    this.append([token], 1, logprob);
    const turn = this.ids.length - this.turnStart;
    return token === this.tokenizer.control('<|end|>') || turn >= LIMITS.turn || this.ids.length >= LIMITS.context;
  }

  /** Runs the tool call of the finished turn, or ends the episode. */
  async act(): Promise<void> {
    const turn = this.ids.slice(this.turnStart);
    const finished = turn.at(-1) === this.tokenizer.control('<|end|>');
    const call = finished ? parseAnswer(this.tokenizer.decode(turn.slice(0, -1))).toolCalls[0] : undefined;
    if (!call) {
      this.done = true;
      return;
    }
    this.calls++;
    const result = (await this.tool(call.name, JSON.parse(call.arguments) as Record<string, unknown>)).slice(
      0,
      LIMITS.resultChars,
    );
    const { tokenizer } = this;
    const next = [
      tokenizer.control('<|tool|>'),
      ...tokenizer.encode(result),
      tokenizer.control('<|end|>'),
      tokenizer.control('<|assistant|>'),
    ];
    if (this.calls >= LIMITS.calls || this.ids.length + next.length + 40 > LIMITS.context) {
      this.done = true;
      return;
    }
    this.append(next, 0, 0);
    this.turnStart = this.ids.length;
  }

  private append(ids: number[], mask: number, logprob: number): void {
    for (const id of ids) {
      this.ids.push(id);
      this.mask.push(mask);
      this.logprobs.push(logprob);
      this.pending.push(id);
    }
  }

  /** pi's tools as far as the model uses them. */
  private async tool(name: string, args: Record<string, unknown>): Promise<string> {
    const path = String(args.path ?? '').replace(/^\/work\//, '');
    if (name === 'bash') {
      if (typeof args.command !== 'string') return 'Validation failed for tool "bash":\n  - command: Invalid input';
      const { output, files } = await this.worker.run(this.files, args.command);
      this.files = files;
      return output;
    }
    if (name === 'read') return this.files[path] ?? `ENOENT: no such file or directory, access '/work/${path}'`;
    if (name === 'write' && /^[\w.-]+$/.test(path)) {
      this.files = { ...this.files, [path]: String(args.content) };
      return `Successfully wrote to ${path}`;
    }
    return `Tool ${name} not found`;
  }
}
