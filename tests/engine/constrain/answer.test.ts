/** Where an answer in JSON begins and ends, with the built-in model's own tokens. */
import { expect, it } from 'vitest';
import { Constraints } from '../../../main/engine/constrain/constraints.js';
import { openCodec } from '../../../main/engine/open-codec.js';
import type { ToolDefinition } from '../../../main/engine/protocol.js';
import { demoModelDir } from '../../../main/services/paths.js';
import { idsIn } from './walk.js';

const VOCAB = 2048;
const jsonSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const tool: ToolDefinition = { type: 'function', function: { name: 'bash', parameters: { type: 'object' } } };
const { codec } = openCodec(demoModelDir());
const constraints = new Constraints(codec, VOCAB);
const bytesOf = (id: number): string => Buffer.from(codec.tokenBytes!(id) ?? []).toString('utf8');

/** Tokens that spell `text` one after the other, each the longest that is allowed. */
async function spell(text: string, tools: ToolDefinition[]): Promise<number[]> {
  const constraint = (await constraints.of({ jsonSchema, tools }))!;
  for (let rest = text; rest !== ''; ) {
    const fits = idsIn(constraint.allowed()).filter((id) => bytesOf(id) !== '' && rest.startsWith(bytesOf(id)));
    const id = fits.sort((a, b) => bytesOf(b).length - bytesOf(a).length)[0]!;
    expect(id, rest).toBeDefined();
    constraint.accept(id);
    rest = rest.slice(bytesOf(id).length);
  }
  return idsIn(constraint.allowed());
}

it.each([
  ['alone', []],
  ['beside tool calls', [tool]],
])('begins and ends with its value: %s', async (_, tools) => {
  const first = await spell('', tools);
  expect(first.length).toBeGreaterThan(0);
  for (const id of first) expect(bytesOf(id)).toMatch(/^[{<]/);
  expect(new Set(await spell('{"ok": true}', tools))).toEqual(codec.endIds);
});

it('calls may stand on lines of their own', async () => {
  const call = '<tool_call>\n{"name": "bash", "arguments": {}}\n</tool_call>';
  const next = await spell(`${call}\n${call}\n`, [tool]);
  expect(next.some((id) => codec.endIds.has(id))).toBe(true);
  expect(next.some((id) => bytesOf(id).startsWith('<'))).toBe(true);
});
