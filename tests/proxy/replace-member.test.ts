import { expect, it } from 'vitest';
import { replaceMember } from '../../main/proxy/relay/replace-member.js';

const replaced = (text: string): string | undefined => replaceMember(Buffer.from(text), 'model', 'own:8b')?.toString();

it('changes the top-level member alone and keeps every other byte', () => {
  expect(replaced('{ "a":[{"model":"x"}], "model" : "demo" ,"n":1.50, "s":"\\"model\\":\\"y\\" \\u00e4"}')).toBe(
    '{ "a":[{"model":"x"}], "model" : "own:8b" ,"n":1.50, "s":"\\"model\\":\\"y\\" \\u00e4"}',
  );
  expect(replaced('{"model":"a\\\\","messages":[]}')).toBe('{"model":"own:8b","messages":[]}');
});

it('replaces every repetition, and says when there is nothing to replace', () => {
  expect(replaced('{"model":"a","model":"b"}')).toBe('{"model":"own:8b","model":"own:8b"}');
  expect(replaced('{"text":"model","list":["model"]}')).toBeUndefined();
  expect(replaced('{"model":7}')).toBeUndefined();
});
