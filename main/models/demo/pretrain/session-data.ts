import type { TrainSample } from '../../../../native/addon.js';
import { makeDataTask } from '../../../envs/generate/data-task.js';
import { NameSource } from '../../../envs/generate/names.js';
import { Rng } from '../../../envs/generate/random.js';
import type { BpeTokenizer } from '../bpe.js';
import { type PiPrompt, withPaths } from '../pi-lines.js';
import { callText, toolLine } from '../render.js';
import { type Step, teach } from '../teacher/teacher.js';
import { RECIPE } from './recipe.js';

/** Makes training rows: session number `index` is the same on every machine. */
export class SessionData {
  private readonly pieces: string[];

  constructor(
    private readonly tokenizer: BpeTokenizer,
    private readonly prompt: PiPrompt,
    private readonly seed: string,
  ) {
    this.pieces = tokenizer.words();
  }

  /** `pieceShare`: share of invented names that are chains of sub-word pieces. */
  sample(index: number, pieceShare: number): TrainSample {
    const rng = new Rng(`${this.seed}/session/${index}`);
    const task = makeDataTask(`${this.seed}/${index}`, 'train', { pieces: this.pieces, pieceShare });
    const { steps } = teach(task, rng);
    const row = new RowBuilder(this.tokenizer);
    const { system, tools } = promptVariant(this.prompt, rng, this.pieces);
    row
      .control('<|system|>', 0)
      .plain(system, 0)
      .control('<|tools|>', 0)
      .plain(tools.join('\n'), 0)
      .control('<|end|>', 0);
    row.control('<|user|>', 0).plain(task.question, CONTEXT).control('<|end|>', CONTEXT);
    for (const step of steps) row.step(step);
    return row.build(RECIPE.data.maxTokens);
  }
}

const CONTEXT = RECIPE.data.contextWeight;

class RowBuilder {
  private readonly ids: number[] = [];
  private readonly weights: number[] = [];

  constructor(private readonly tokenizer: BpeTokenizer) {}

  control(token: Parameters<BpeTokenizer['control']>[0], weight: number): this {
    this.ids.push(this.tokenizer.control(token));
    this.weights.push(weight);
    return this;
  }

  plain(text: string, weight: number): this {
    for (const id of this.tokenizer.encode(text)) {
      this.ids.push(id);
      this.weights.push(weight);
    }
    return this;
  }

  step(step: Step): this {
    if (step.type === 'result')
      return this.control('<|tool|>', CONTEXT).plain(step.text, CONTEXT).control('<|end|>', CONTEXT);
    this.control('<|assistant|>', CONTEXT);
    if (step.type === 'final') this.plain(step.text, 1);
    else {
      const call = callText(step.name, JSON.stringify(step.args));
      this.control('<tool_call>', 1).plain(call, 1).control('</tool_call>', 1);
    }
    return this.control('<|end|>', 1);
  }

  build(maxTokens: number): TrainSample {
    return {
      inputIds: Int32Array.from(this.ids.slice(0, maxTokens)),
      weights: Float32Array.from(this.weights.slice(0, maxTokens)),
    };
  }
}

/** The prompt with other paths, at times with lines left out, another text altogether, or one tool. */
export function promptVariant(
  prompt: PiPrompt,
  rng: Rng,
  pieces: readonly string[],
): { system: string; tools: string[] } {
  const names = new NameSource(rng, 'train', { pieces, pieceShare: 0.3 });
  const word = () => names.invent();
  const user = rng.pick(['dev', 'me', 'user', 'anna', 'bob', word()]);
  const root = rng.pick([
    `/home/${user}/.local/lib`,
    '/usr/lib',
    `/home/${user}/${word()}`,
    `/opt/${word()}`,
    `/Users/${user}/${word()}/.harness/pi`,
    `/${word()}/.harness/pi`,
  ]);
  const cwd = rng.pick([
    '/work',
    '/work',
    `/home/${user}/${word()}`,
    `/tmp/${word()}`,
    `/tmp/${word()}-${rng.int(1, 9999)}/work`,
  ]);
  const tools = prompt.tools.map(toolLine);
  const kept = rng.chance(0.08) ? tools.slice(1, 2) : tools;
  const full = withPaths(prompt, cwd, root);
  const form = rng.next();
  if (form < 0.1)
    return {
      system: full
        .split('\n')
        .filter(() => rng.chance(0.7))
        .join('\n'),
      tools: kept,
    };
  if (form < 0.14) return { system: `${word()} ${word()}\n\n<cwd>\n${cwd}\n</cwd>`, tools: kept };
  return { system: full, tools: kept };
}
