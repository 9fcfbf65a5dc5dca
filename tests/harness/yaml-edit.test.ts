import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { editConfig } from '../../main/harness/config-text.js';
import { yamlText } from '../../main/harness/yaml-text.js';

const set = (text: string, path: string[], value: string | number | { [key: string]: number } | undefined): string =>
  editConfig(yamlText, 'config.yaml', text, path, value);

describe('an edit of YAML', () => {
  it.each([
    ['', 'm:\n  a: 1\n'],
    ['# only a comment\n', '# only a comment\nm:\n  a: 1\n'],
    ['b: 2', 'b: 2\nm:\n  a: 1'],
    ['b:\n    c: 3\n', 'b:\n    c: 3\nm:\n    a: 1\n'],
    ['m:\n  b: 2   # two\n  \n  # end of m\n\nn: 3\n', 'm:\n  b: 2   # two\n  a: 1\n  \n  # end of m\n\nn: 3\n'],
    ['m:\n  b: |\n    text\n\nn: 3\n', 'm:\n  b: |\n    text\n  a: 1\n\nn: 3\n'],
    ['m:\n  b: {x:   1}\nn:   3\n', 'm:\n  b: {x:   1}\n  a: 1\nn:   3\n'],
    ['m:   # empty\nn: 3\n', 'm:   # empty\n  a: 1\nn: 3\n'],
    ['m:\n  a: 7 # one\nn: 3\n', 'm:\n  a: 1 # one\nn: 3\n'],
    ['m:\r\n  b: 2\r\n', 'm:\r\n  b: 2\r\n  a: 1\r\n'],
    ['\uFEFFm:\n  b: 2\n', '\uFEFFm:\n  b: 2\n  a: 1\n'],
    ['m: {b: 2} # flow\n', 'm: { b: 2, a: 1 } # flow\n'],
  ])('sets a value in %j', (before, after) => {
    expect(set(before, ['m', 'a'], 1)).toBe(after);
  });

  it.each([
    ['m:\n  # first\n  a: 1 # one\n  b: 2\n', 'm:\n  # first\n  b: 2\n'],
    ['m:\n  b: 2\n  a:\n    deep: 1\n  # end\nn: 3\n', 'm:\n  b: 2\n  # end\nn: 3\n'],
    ['m:\n  a: 1\nn:   3\n', 'm: {}\nn:   3\n'],
    ['m:\n  b: 2\n  a: |\n    text\nn: 3\n', 'm:\n  b: 2\nn: 3\n'],
  ])('removes a value from %j', (before, after) => {
    expect(set(before, ['m', 'a'], undefined)).toBe(after);
  });

  it('quotes what YAML would read as something else', () => {
    for (const text of ['-abc', '1e5', 'yes', 'a: b', 'a #b', "it's", '', ' x', 'null', '{', 'é'])
      expect(yamlText.parse(set('m: {}\nk: x\n', ['k'], text)).k).toBe(text);
    expect(set('k: x\n', ['k'], 'http://127.0.0.1:4141/hermes/v1')).toBe('k: http://127.0.0.1:4141/hermes/v1\n');
  });

  it('gives an anchored value up rather than change it elsewhere', () => {
    expect(() => set('m: &x 1\nn: *x\n', ['m'], 2)).toThrow(/left alone/);
    expect(() => set('a: 1\n---\nb: 2\n', ['a'], 2)).toThrow(/left alone|readable/);
  });

  const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      tie('list'),
      tie('map'),
    ),
    list: fc.array(tie('node'), { maxLength: 3 }),
    map: fc.dictionary(fc.constantFrom('a', 'b', 'on', 'x y', '1'), tie('node'), { maxKeys: 3 }),
  })).node;
  it('leaves every other value, and comes back by removing', () => {
    const config = fc.dictionary(fc.constantFrom('a', 'b', 'm', 'c d'), value, { maxKeys: 4 });
    fc.assert(
      fc.property(config, fc.constantFrom(1, 2, 4), (object, indent) => {
        const text = stringify(object, { indent, collectionStyle: 'any' });
        const before = yamlText.parse(text);
        const edited = set(text, ['new', 'deep'], { x: 1 });
        expect(yamlText.parse(edited)).toEqual({ ...before, new: { deep: { x: 1 } } });
        expect(yamlText.parse(set(edited, ['new'], undefined))).toEqual(before);
      }),
    );
  });
});
