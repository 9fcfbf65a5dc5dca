/** Messages of opencode in the form of the wire; the database and `opencode export` hold the same JSON. */
import type { ChatMessage } from '../../engine/protocol.js';
import type { ImportedResult } from './session-writer.js';
import { asCount, asExitCode, asRecord, asText } from './values.js';

export type Part = Record<string, unknown>;

export interface OpencodeMessage {
  id: string;
  info: Record<string, unknown>;
  parts: Part[];
}

export const COMPACTED_QUESTION = 'What did we do so far?';

/** `opencode run "two words"` sends the argument with quotes around it that nobody typed. */
export function typedText(text: string): string {
  const inner = /^"([\s\S]*)"$/.exec(text)?.[1];
  return inner !== undefined && /\s/.test(inner) && !inner.includes('"') ? inner : text;
}

export function userText(parts: readonly Part[]): { text: string; synthetic: boolean } {
  const said = parts.filter((part) => part.type === 'text' && part.ignored !== true);
  const texts = said.map((part) => {
    const text = asText(part.text) ?? '';
    return part.synthetic === true ? text : typedText(text);
  });
  // Text files come a second time, as text.
  const files = parts.filter((part) => part.type === 'file' && !/^text\//.test(asText(part.mime) ?? ''));
  texts.push(...files.map((part) => `[file ${asText(part.filename) ?? asText(part.mime) ?? ''}]`));
  return {
    text: texts.join('\n'),
    synthetic: said.length > 0 && files.length === 0 && said.every((part) => part.synthetic === true),
  };
}

/** Parts of one message by model call: each begins with a step-start. Attempts that gave nothing are no call. */
export function stepsOf(parts: readonly Part[]): Part[][] {
  const steps: Part[][] = [];
  let step: Part[] = [];
  for (const part of parts) {
    if (part.type === 'step-start') {
      steps.push(step);
      step = [];
    } else step.push(part);
  }
  steps.push(step);
  return steps.filter((one) => one.some(({ type }) => type === 'text' || type === 'reasoning' || type === 'tool'));
}

export function stepAnswer(parts: readonly Part[]): ChatMessage | null {
  const text = (type: string): string =>
    parts.map((part) => (part.type === type ? (asText(part.text) ?? '') : '')).join('');
  const calls = parts.flatMap((part) => {
    if (part.type !== 'tool') return [];
    const args = JSON.stringify(asRecord(asRecord(part.state).input));
    return [
      {
        id: asText(part.callID) ?? '',
        type: 'function' as const,
        function: { name: asText(part.tool) ?? '', arguments: args },
      },
    ];
  });
  const content = text('text');
  const reasoning = text('reasoning');
  if (content === '' && reasoning === '' && calls.length === 0) return null;
  return {
    role: 'assistant',
    content,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Calls that were still running have no result. The model never sees the exit code of a command. */
export function stepResults(parts: readonly Part[]): ImportedResult[] {
  return parts.flatMap((part) => {
    const state = asRecord(part.state);
    if (part.type !== 'tool' || (state.status !== 'completed' && state.status !== 'error')) return [];
    const failed = state.status === 'error';
    const exitCode = failed ? null : asExitCode(asRecord(state.metadata).exit);
    return [
      {
        callId: asText(part.callID) ?? '',
        text: asText(failed ? state.error : state.output) ?? '',
        exitCode,
        isError: failed || (exitCode !== null && exitCode !== 0),
      },
    ];
  });
}

export function tokensOf(tokens: unknown): { promptTokens: number; completionTokens: number; cachedTokens: number } {
  const { input, output, reasoning, cache, total } = asRecord(tokens);
  const cachedTokens = asCount(asRecord(cache).read);
  const promptTokens = asCount(input) + cachedTokens + asCount(asRecord(cache).write);
  const whole = asCount(total);
  // Whether `output` counts reasoning differs between versions; `total` does.
  const completionTokens = whole > promptTokens ? whole - promptTokens : asCount(output) + asCount(reasoning);
  return { promptTokens, completionTokens, cachedTokens };
}
