import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecodedText } from '../../main/engine/decoded-text.js';
import { StopStrings } from '../../main/engine/stop-strings.js';

/** What is let through of a text that comes in these pieces. */
function run(stops: string[], pieces: string[]): { text: string; stopped: boolean } {
  const filter = new StopStrings(stops);
  let text = '';
  for (const piece of pieces) text += filter.push(piece);
  return { text: text + filter.finish(), stopped: filter.stopped };
}

/** Cuts a text at places of the property's choice. */
const inPieces = (text: string, cuts: number[]): string[] => {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, i) => text.slice(from, places[i] ?? text.length));
};

describe('StopStrings', () => {
  it('ends before the string, across pieces', () => {
    expect(run(['\nUser:'], ['Hi', ' there\nUs', 'er: and', ' more'])).toEqual({ text: 'Hi there', stopped: true });
    expect(run(['END'], ['a', 'E', 'N', 'x'])).toEqual({ text: 'aENx', stopped: false });
    expect(run(['END'], ['aEN'])).toEqual({ text: 'aEN', stopped: false });
    expect(run([], ['a', 'b'])).toEqual({ text: 'ab', stopped: false });
  });

  it('takes the string that is complete first', () => {
    expect(run(['abc', 'b'], ['abc'])).toEqual({ text: 'a', stopped: true });
    expect(run(['ab', 'b'], ['ab'])).toEqual({ text: '', stopped: true });
  });

  it('refuses strings that make no sense', () => {
    expect(() => new StopStrings([''])).toThrow(/stop string/);
    expect(() => new StopStrings(new Array<string>(17).fill('a'))).toThrow(/16/);
  });

  it('lets the same text through however it is cut, and no stop string with it', () => {
    const word = fc.array(fc.constantFrom('a', 'b', 'ж', '\n'), { maxLength: 14 }).map((parts) => parts.join(''));
    const stop = fc.array(fc.constantFrom('a', 'b', 'ж', '\n'), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(word, fc.array(stop, { maxLength: 3 }), fc.array(fc.nat(), { maxLength: 6 }), (text, parts, cuts) => {
        const stops = parts.map((letters) => letters.join(''));
        // Letter by letter, the naive way: stop as soon as what is there ends with a stop string.
        let expected = { text, stopped: false };
        for (let n = 1; n <= text.length && !expected.stopped; n++) {
          const ended = stops.filter((one) => text.slice(0, n).endsWith(one)).map((one) => one.length);
          if (ended.length > 0) expected = { text: text.slice(0, n - Math.max(...ended)), stopped: true };
        }
        expect(run(stops, inPieces(text, cuts))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});

it('DecodedText says every character once and only when it is whole', () => {
  const bytes = [...Buffer.from('aж😀z')];
  const text = new DecodedText((ids) => Buffer.from(ids).toString('utf8'));
  const pieces = bytes.map((_, i) => text.push(bytes.slice(0, i + 1)));
  expect(pieces).toEqual(['a', '', 'ж', '', '', '', '😀', 'z']);
  expect(text.push([...bytes, 0xd0], true)).toBe('\ufffd');
});
