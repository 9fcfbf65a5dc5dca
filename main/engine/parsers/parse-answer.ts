import type { ToolDefinition } from '../protocol.js';
import type { AnswerFormats, Delta, ParsedCall } from './answer-parser.js';
import { MarkupParser } from './markup-parser.js';

export interface CollectedAnswer {
  content: string;
  reasoning: string;
  toolCalls: ParsedCall[];
}

/** Puts the pieces of an answer together. */
export class AnswerCollector {
  content = '';
  reasoning = '';
  readonly toolCalls: ParsedCall[] = [];

  add(deltas: readonly Delta[]): void {
    for (const delta of deltas) {
      if (delta.kind === 'text') this.content += delta.text;
      else if (delta.kind === 'reasoning') this.reasoning += delta.text;
      else if (delta.kind === 'tool_call_start') this.toolCalls.push({ name: delta.name, arguments: '' });
      else if (delta.kind === 'tool_call_args') this.toolCalls.at(-1)!.arguments += delta.text;
    }
  }
}

/** A whole answer at once. */
export function parseAnswer(
  text: string,
  formats: AnswerFormats,
  options: { tools?: readonly ToolDefinition[]; startsInReasoning?: boolean } = {},
): CollectedAnswer {
  const parser = new MarkupParser(formats, options.tools, options.startsInReasoning);
  const collector = new AnswerCollector();
  collector.add(parser.push(text));
  collector.add(parser.finish());
  const { content, reasoning, toolCalls } = collector;
  return { content, reasoning, toolCalls };
}
