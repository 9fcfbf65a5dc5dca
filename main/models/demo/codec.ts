import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Codec } from '../../engine/codec.js';
import type { ChatMessage, ToolDefinition } from '../../engine/protocol.js';
import { BpeTokenizer } from './bpe.js';
import { parseAnswer } from './parse-answer.js';
import { renderSegments } from './render.js';
import type { TokenizerFile } from './tokenizer-file.js';

/** Codec of a demo model folder; its `tokenizer.json` must be complete (see `completeTokenizer`). */
export function createDemoCodec(dir: string): Codec {
  return demoCodec(new BpeTokenizer(JSON.parse(readFileSync(join(dir, 'tokenizer.json'), 'utf8')) as TokenizerFile));
}

export function demoCodec(tokenizer: BpeTokenizer): Codec {
  return {
    encodePrompt: (messages, tools) => encodePrompt(tokenizer, messages, tools),
    decode: (ids) => tokenizer.decode(ids),
    endIds: new Set([tokenizer.control('<|end|>')]),
    callOpener: '<tool_call>',
    parse: parseAnswer,
  };
}

/** Token ids of the prompt. Control tokens come from the template alone; the same text inside a message stays text. */
export function encodePrompt(
  tokenizer: BpeTokenizer,
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
): number[] {
  const ids: number[] = [];
  for (const { text, control } of renderSegments(messages, tools)) {
    for (const id of tokenizer.encode(text, control)) ids.push(id);
  }
  return ids;
}
