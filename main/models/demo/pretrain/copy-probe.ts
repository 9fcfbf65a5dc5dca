import type { NativeModel } from '../../../../native/addon.js';
import { makeDataTask } from '../../../envs/generate/data-task.js';
import type { Split } from '../../../envs/generate/pools.js';
import { Rng } from '../../../envs/generate/random.js';
import type { BpeTokenizer } from '../bpe.js';
import { encodePrompt } from '../codec.js';
import type { PiPrompt } from '../pi-lines.js';
import { withPaths } from '../pi-lines.js';
import { callText } from '../render.js';
import { FLAWLESS, teach } from '../teacher/teacher.js';

/** A prompt followed by the right command, and where in it the quoted names stand. */
interface Probe {
  ids: Int32Array;
  /** Token positions of each name. */
  spans: number[][];
}

export interface ProbeResult {
  /** Share of quoted names copied right, and of commands with every name right (teacher-forced argmax). */
  span: number;
  command: number;
}

/** Prompts after an `ls`, where the next command quotes names from the question. */
export function copyProbes(tokenizer: BpeTokenizer, prompt: PiPrompt, split: Split, count: number): Probe[] {
  const probes: Probe[] = [];
  for (let i = 0; probes.length < count; i++) {
    const task = makeDataTask(`probe-${i}`, split);
    const { steps } = teach(task, new Rng(`probe-${i}`), { ...FLAWLESS, listNamed: 1 });
    const [, listing, call] = steps;
    if (listing?.type !== 'result' || call?.type !== 'call' || !call.args.command?.startsWith('python3')) continue;
    const messages = [
      { role: 'system' as const, content: withPaths(prompt, '/work', '/opt/agents/.harness/pi') },
      { role: 'user' as const, content: task.question },
      {
        role: 'assistant' as const,
        content: null,
        tool_calls: [{ id: '1', type: 'function' as const, function: { name: 'bash', arguments: '{"command":"ls"}' } }],
      },
      { role: 'tool' as const, content: listing.text, tool_call_id: '1' },
    ];
    const start = [...encodePrompt(tokenizer, messages, prompt.tools), tokenizer.control('<tool_call>')];
    const text = callText('bash', JSON.stringify(call.args));
    const tokens = tokenizer.encode(text);
    probes.push({
      ids: Int32Array.from([...start, ...tokens]),
      spans: quotedSpans(tokenizer, tokens, text, start.length),
    });
  }
  return probes;
}

function quotedSpans(tokenizer: BpeTokenizer, tokens: number[], text: string, offset: number): number[][] {
  const ends: number[] = [];
  let length = 0;
  for (const token of tokens) {
    length += tokenizer.decode([token]).length;
    ends.push(length);
  }
  return [...text.matchAll(/'([^']+)'/g)].map((match) => {
    const from = match.index + 1;
    const to = from + match[1]!.length;
    return tokens
      .map((_, i) => i)
      .filter((i) => ends[i]! > from && (ends[i - 1] ?? 0) < to)
      .map((i) => offset + i);
  });
}

/** Runs the probes through the model. */
export async function runProbes(model: NativeModel, probes: Probe[]): Promise<ProbeResult> {
  const vocab = model.info.vocabSize;
  let spans = 0;
  let right = 0;
  let commands = 0;
  for (const probe of probes) {
    const logits = await model.logits(probe.ids);
    const copied = probe.spans.map((span) =>
      span.every((at) => argmax(logits, (at - 1) * vocab, vocab) === probe.ids[at]),
    );
    spans += copied.length;
    right += copied.filter(Boolean).length;
    commands += Number(copied.every(Boolean));
  }
  return { span: right / spans, command: commands / probes.length };
}

function argmax(values: Float32Array, from: number, length: number): number {
  let best = from;
  for (let i = from + 1; i < from + length; i++) if (values[i]! > values[best]!) best = i;
  return best - from;
}
