import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { APPEND } from '../../main/harness/config-text.js';
import { jsonText } from '../../main/harness/json-text.js';

const { parse } = jsonText;
const set = jsonText.edits[0]!;

describe('an edit of JSON with comments', () => {
  it.each([
    ['{}', '{\n  "a": 1\n}'],
    ['{ }', '{\n  "a": 1\n}'],
    ['{"b":2}', '{"b":2, "a": 1}'],
    ['{"b":2,}', '{"b":2, "a": 1,}'],
    ['{\n\t"b": 2 // two\n}', '{\n\t"b": 2, // two\n\t"a": 1\n}'],
    [
      '{\n    "b": 2, /* two */ // three\n    // end\n}\n',
      '{\n    "b": 2, /* two */ // three\n    "a": 1,\n    // end\n}\n',
    ],
    ['{\r\n  "b": 2\r\n}', '{\r\n  "b": 2,\r\n  "a": 1\r\n}'],
    ['{ // only a comment\n}', '{ // only a comment\n  "a": 1\n}'],
  ])('adds to %j', (before, after) => {
    expect(set(before, ['a'], 1)).toBe(after);
  });

  it.each([
    ['{"a":1}', '{}'],
    ['{"a":1,"b":2}', '{"b":2}'],
    ['{"b":2,"a":1}', '{"b":2}'],
    ['{"b":2, "a":1,}', '{"b":2,}'],
    ['{ "a": 1 }', '{}'],
    ['{\n  "a": 1,\n}', '{}'],
    ['{ // c\n"a":[] // d\n,}', '{ // c\n // d\n}'],
    ['{ "a": 1, // one\n}', '{  // one\n}'],
    ['{\n  "a": 1,\n  "b": 2\n}', '{\n  "b": 2\n}'],
    ['{\n  "b": 2, // two\n  "a": 1\n}', '{\n  "b": 2 // two\n}'],
    ['{\n  "b": 2,\n  "a": 1 // one\n}', '{\n  "b": 2\n   // one\n}'],
  ])('removes from %j', (before, after) => {
    expect(set(before, ['a'], undefined)).toBe(after);
  });

  it('replaces a value alone', () => {
    expect(set('{ "a" : [1, 2] /* x */ , "b":1}', ['a'], 'y')).toBe('{ "a" : "y" /* x */ , "b":1}');
  });
  it('adds to and removes from a list', () => {
    const list = '{"l": [\n  "x", // ex\n]}';
    expect(set(list, ['l', APPEND], 'y')).toBe('{"l": [\n  "x", // ex\n  "y",\n]}');
    expect(set(set(list, ['l', APPEND], 'y'), ['l', 1], undefined)).toBe(list);
  });
  it('refuses what is in the way', () => {
    expect(() => set('{"a": 1}', ['a', 'b'], 1)).toThrow();
    expect(() => set('{"a": {}}', ['a', APPEND], 1)).toThrow();
  });

  /** Any JSON, laid out with random blanks, comments and trailing commas. */
  const blank = fc.constantFrom('', ' ', '\n', '\n  ', '/* c */', ' // c\n', '\t', '\r\n');
  const laidOut = (depth: number): fc.Arbitrary<string> => {
    const leaf = fc
      .oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null))
      .map((value) => JSON.stringify(value));
    if (depth === 0) return leaf;
    const members = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', '__proto__', 'x y'), { maxLength: 4 });
    const object = fc
      .tuple(
        members,
        fc.array(fc.tuple(laidOut(depth - 1), blank, blank), { minLength: 4, maxLength: 4 }),
        fc.boolean(),
        blank,
      )
      .map(([keys, values, trailing, end]) => {
        const parts = keys.map(
          (key, i) => `${values[i]![1]}${JSON.stringify(key)}:${values[i]![2]}${values[i]![0]}${values[i]![1]}`,
        );
        return `{${parts.join(',')}${trailing && keys.length > 0 ? ',' : ''}${end}}`;
      });
    const list = fc.array(laidOut(depth - 1), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`);
    return fc.oneof(leaf, object, list);
  };
  const root = laidOut(2).filter((text) => text.startsWith('{'));
  const comments = (text: string): number => text.match(/\/\* c \*\/|\/\/ c\r?\n/g)?.length ?? 0;

  it('changes nothing but its place, keeps every comment, and is undone by removing', () => {
    fc.assert(
      fc.property(root, blank, (text, before) => {
        const whole = before + text;
        const edited = set(whole, ['new', 'deep'], { x: [1, { y: 'z' }] });
        expect(parse(edited)).toEqual({ ...parse(whole), new: { deep: { x: [1, { y: 'z' }] } } });
        expect(comments(edited)).toBe(comments(whole));
        const back = set(edited, ['new'], undefined);
        expect(parse(back)).toEqual(parse(whole));
        expect(comments(back)).toBe(comments(whole));
        for (const key of Object.keys(parse(whole))) {
          const { [key]: _gone, ...rest } = parse(whole);
          expect(parse(set(whole, [key], undefined))).toEqual(rest);
        }
      }),
    );
  });
});
