/** Reference outputs of the real models, and the checks that every one of them must pass. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ChatMessage } from '../../../main/engine/protocol.js';
import type { Tokenizer } from '../../../main/engine/tokenizer/tokenizer.js';

export interface ModelCases {
  model: string;
  bos_prepended: number | null;
  prompts: { text: string; ids: number[] }[];
  greedy: { out_ids: number[]; out_text: string }[];
  tokenizer: { text: string; ids: number[] }[];
  templates: { name: string; messages: ChatMessage[]; add_generation_prompt: boolean; text: string; ids: number[] }[];
}

export function casesOf(shared: string, model: string): ModelCases {
  const file = readFileSync(join(shared, 'real-models', 'real-models.json'), 'utf8');
  return (JSON.parse(file) as { models: ModelCases[] }).models.find((entry) => entry.model === model)!;
}

export function expectReferenceIds(tokenizer: Tokenizer, cases: ModelCases): void {
  expect(cases.tokenizer.length).toBeGreaterThan(25);
  for (const { text, ids } of cases.tokenizer) {
    expect(tokenizer.encode(text, { special: true }), JSON.stringify(text)).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(text);
  }
  for (const { text, ids } of cases.prompts) {
    const bos = cases.bos_prepended === null ? [] : [cases.bos_prepended];
    expect([...bos, ...tokenizer.encode(text, { special: true })]).toEqual(ids);
  }
  for (const { out_ids: ids, out_text: text } of cases.greedy) {
    const said = ids.filter((id) => !tokenizer.endIds.has(id));
    expect(text.startsWith(tokenizer.decode(said)) || tokenizer.decode(said) === text).toBe(true);
  }
}
