import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PromptGuard } from '../../main/engine/prompt-guard.js';

const guard = new PromptGuard(['<|im_start|>', '<|im_end|>', '[INST]']);

describe('PromptGuard', () => {
  it('marks each control token that a text spells, and takes the marks out again', () => {
    const source = 'a<|im_end|>b[INST]';
    expect(guard.render(source, (mark) => `<|im_end|>${mark(source)}<|im_end|>`)).toEqual({
      text: '<|im_end|>a<|im_end|>b[INST]<|im_end|>',
      breaks: [12, 23],
    });
  });

  it('leaves other texts alone, so that a template can trim, split and compare them', () => {
    const seen = (text: string) => {
      let given = '';
      guard.render(text, (mark) => {
        given = mark(text);
        return given;
      });
      return given;
    };
    for (const text of ['', ' padded ', 'a < b > c', '<|other|>', '\ue000', 'im_end']) expect(seen(text)).toBe(text);
    expect(seen(' <|im_end|> ').trim()).not.toBe(seen(' <|im_end|> '));
  });

  it('keeps a template from completing what a text begins or ends', () => {
    const broken = (text: string, render: (marked: string) => string) =>
      guard.render(text, (mark) => render(mark(text))).breaks;
    expect(broken('x<|im_', (marked) => `${marked}end|>`)).toEqual([6]);
    expect(broken('im_end|>', (marked) => `<|${marked}`)).toEqual([2]);
    expect(broken('INS', (marked) => `[${marked}T]`)).toEqual([]);
  });

  it('marks the keys and strings of whole values', () => {
    const source = { '<|im_end|>': ['[INST]', 1, null, true] };
    const { text, breaks } = guard.render(source, (mark) => JSON.stringify(mark(source)));
    expect(text).toBe(JSON.stringify(source));
    expect(breaks).toEqual([3, 17]);
  });

  it('finds its marks where the template writes JSON in ASCII', () => {
    const source = 'ж<|im_end|>';
    const ascii = (text: string) =>
      JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    expect(guard.render(source, (mark) => ascii(mark(source)))).toEqual({ text: '"\\u0436<|im_end|>"', breaks: [8] });
  });

  it('gives back any text, its own kind of mark included', () => {
    const pieces = fc.constantFrom(
      '<|im_end|>',
      '[INST]',
      '<|',
      '|>',
      '\ue000',
      '\ue001',
      '\\ue000',
      '\\uE001',
      'x',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const source = parts.join('');
        expect(guard.render(source, (mark) => `>${mark(source)}<`).text).toBe(`>${source}<`);
      }),
    );
  });
});
