import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MarkupParser } from '../../../main/engine/parsers/markup-parser.js';
import { answerIn, anyAnswer, FORMATS, TOOLS } from './answers.js';

const WHOLE: Readonly<Record<string, string>> = {
  qwen3:
    '<think>\nA <tool_call> comes.\n</think>\n\nOk: <tool\n<tool_call>\n{"name": "bash", "arguments": {"command": "</tool_call>"}}\n</tool_call>\n<tool_call>{bad}</tool_call> end',
  coder:
    'Ok\n<tool_call>\n<function=bash>\n<parameter=command>\nls </parameter> x\n</parameter>\n</function>\n</tool_call>\n<function=edit>\n</function>\n</tool_call>',
  lfm2: '<|tool_call_start|>[bash(command="a<|tool_call_end|>b"), edit(path=\'ж\')]<|tool_call_end|>\nDone <|tool_call',
  llama3:
    '{"name": "bash", "parameters": {"command": "ls; ls"}}; {"name": "edit", "parameters": {}} ; <|python_tag|>{"x"',
};

describe('an answer that arrives in pieces', () => {
  it.each(Object.keys(WHOLE))('%s: is the same for every place it is cut at, and character by character', (name) => {
    const text = WHOLE[name]!;
    const formats = FORMATS[name]!;
    const expected = answerIn([text], formats);
    expect(expected.toolCalls.length).toBeGreaterThan(0);
    for (let at = 0; at <= text.length; at++)
      expect(answerIn([text.slice(0, at), text.slice(at)], formats), `cut at ${at}`).toEqual(expected);
    expect(answerIn([...text], formats)).toEqual(expected);
  });

  it.each(Object.keys(FORMATS))('%s: is the same for any text, never throws, and calls have JSON objects', (name) => {
    const formats = FORMATS[name]!;
    fc.assert(
      fc.property(anyAnswer, fc.boolean(), fc.array(fc.nat(40), { maxLength: 4 }), (text, thinking, cuts) => {
        const expected = answerIn([text], formats, thinking);
        for (let at = 0; at <= text.length; at++)
          expect(answerIn([text.slice(0, at), text.slice(at)], formats, thinking)).toEqual(expected);
        const pieces: string[] = [];
        let rest = text;
        for (const cut of cuts) {
          pieces.push(rest.slice(0, cut));
          rest = rest.slice(cut);
        }
        expect(answerIn([...pieces, rest], formats, thinking)).toEqual(expected);
        for (const call of expected.toolCalls) {
          expect(call.name).not.toBe('');
          expect(JSON.parse(call.arguments)).toBeTypeOf('object');
        }
      }),
      { numRuns: 400 },
    );
  });

  it.each(Object.keys(FORMATS))('%s: loses no character that is part of no call', (name) => {
    const formats = FORMATS[name]!;
    const inked = (text: string) => text.replace(/\s/g, '');
    fc.assert(
      fc.property(anyAnswer, (text) => {
        const { content, reasoning, toolCalls } = answerIn([text], formats);
        if (toolCalls.length === 0) {
          const tags = /<\/?think>/g;
          expect(inked((reasoning + content).replace(tags, ''))).toBe(inked(text.replace(tags, '')));
          if (reasoning === '' && !/^\s*<think>/.test(text)) expect(content).toBe(text);
        } else {
          // What is said is what was written, in order, with the calls taken out.
          let at = 0;
          for (const character of inked(reasoning + content)) {
            at = inked(text).indexOf(character, at);
            expect(at).toBeGreaterThanOrEqual(0);
            at += character.length;
          }
        }
      }),
      { numRuns: 400 },
    );
  });

  it('says text at once, and holds back only what may become markup', () => {
    const parser = new MarkupParser(FORMATS.qwen3!, TOOLS);
    expect(parser.push('Let me ')).toEqual([{ kind: 'text', text: 'Let me' }]);
    expect(parser.push('look <to')).toEqual([{ kind: 'text', text: ' look' }]);
    expect(parser.push('ast')).toEqual([{ kind: 'text', text: ' <toast' }]);
    expect(parser.push('<tool_call>{"name": "bash", ')).toEqual([]);
    expect(parser.push('"arguments": {}}</tool_call>')).toEqual([
      { kind: 'tool_call_start', name: 'bash' },
      { kind: 'tool_call_args', text: '{}' },
      { kind: 'tool_call_end' },
    ]);
    expect(parser.finish()).toEqual([]);
  });

  it('looks at each character a bounded number of times while text streams', () => {
    const time = (characters: number) => {
      let best = Number.POSITIVE_INFINITY;
      for (let run = 0; run < 3; run++) {
        const parser = new MarkupParser(FORMATS.qwen3!, TOOLS);
        const began = performance.now();
        for (let i = 0; i < characters; i++) parser.push(i % 7 === 0 ? ' ' : '<');
        parser.finish();
        best = Math.min(best, performance.now() - began);
      }
      return best;
    };
    time(20_000);
    // Eight times the text; a parser that starts over each time would take 64 times as long.
    expect(time(160_000) / time(20_000)).toBeLessThan(24);
  });
});
