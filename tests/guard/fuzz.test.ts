/** Damaged calls and conversations: every call gets a verdict, in bounded time, the same the second time. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkResponse } from '../../main/guard/guard.js';
import type { GuardInput } from '../../main/guard/types.js';
import { damageText, damageValue, jsonText, type Random } from '../engine/tokenizer/fuzz-random.js';
import { fuzz, fuzzCount } from '../support/fuzz.js';
import { TOOLS, USER } from './support.js';

const COUNT = fuzzCount(600);
const LIMIT_MS = 1000;
const spellings = Object.values(
  JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/guard/spellings.json'), 'utf8')) as Record<
    string,
    string[]
  >,
).flat();
const SNIPPETS = [
  '$(',
  '`',
  "'",
  '"',
  '\\',
  '\n',
  '|',
  '<<E\n',
  '\nE\n',
  '${',
  '}',
  ' eval ',
  ' sh -c ',
  '*',
  '{a,b}',
  '\0',
  '\ud800',
];

function script(random: Random): string {
  const parts = Array.from({ length: 1 + random.below(4) }, () => random.pick(spellings));
  const text = parts.join(random.pick(['\n', '; ', ' && ', ' | ', ' ', "' '", '" "', ')$(']));
  return random.chance(0.9) ? damageText(text, random, SNIPPETS) : text;
}

function argumentsOf(random: Random): string {
  const value = random.pick([
    { command: script(random) },
    { path: 'run.sh', content: script(random) },
    { path: 'a.py', edits: [{ oldText: 'a', newText: script(random) }] },
    { url: `https://docs.example.com/${damageText('guide', random)}` },
    { patch: `*** Begin Patch\n*** Add File: a.sh\n+${script(random).replaceAll('\n', '\n+')}\n*** End Patch` },
  ]);
  if (random.chance(0.2)) damageValue(value as never, random);
  const text = jsonText(value);
  return random.chance(0.1) ? damageText(text, random) : text;
}

const call = (id: string, random: Random) => ({
  id,
  name: random.chance(0.9) ? random.pick(TOOLS).function.name : damageText('bash', random),
  arguments: argumentsOf(random),
});

function inputOf(random: Random): GuardInput {
  const messages: GuardInput['request']['messages'] = [{ role: 'system', content: 'Agent.' }, USER];
  for (let turn = random.below(4); turn > 0; turn--) {
    const { name, arguments: text, id } = call(`old${turn}`, random);
    messages.push(
      {
        role: 'assistant',
        content: random.pick([null, 'I run it.', script(random)]),
        tool_calls: [{ id, type: 'function', function: { name, arguments: text } }],
      },
      { role: 'tool', tool_call_id: id, content: random.pick(['', 'ok', script(random)]) },
    );
  }
  return {
    harness: random.pick(['pi', 'opencode', 'hermes', 'unknown']),
    profile: random.pick(['training', 'desktop']),
    request: { messages, tools: TOOLS },
    toolCalls: Array.from({ length: 1 + random.below(3) }, (_, at) => call(`c${at}`, random)),
  };
}

describe('damaged calls', () => {
  it('each get a verdict', { timeout: 60_000 + COUNT * 100 }, () =>
    fuzz('guard', COUNT, LIMIT_MS, (random) => {
      const input = inputOf(random);
      const verdicts = checkResponse(input).map(({ ms: _, ...verdict }) => verdict);
      expect(verdicts.map(({ toolCallId }) => toolCallId)).toEqual(input.toolCalls.map(({ id }) => id));
      for (const { verdict, rule, reason } of verdicts) {
        expect(['allow', 'suspicious', 'block']).toContain(verdict);
        if (rule === '' || reason.length > 1000) throw new Error('a reason is missing or without end');
      }
      if (random.chance(0.05)) expect(checkResponse(input).map(({ ms: _, ...verdict }) => verdict)).toEqual(verdicts);
      return verdicts.some(({ verdict }) => verdict !== 'block');
    }),
  );
});
