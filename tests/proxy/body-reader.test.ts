/** Bodies of conversations that go on are read like JSON.parse reads them, and their old messages are not read again. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonBody } from '../../main/proxy/body.js';
import { BodyReader } from '../../main/proxy/settle/body-reader.js';

const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() };
  } catch (cause) {
    return { error: (cause as Error).message };
  }
};
const message = fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.jsonValue({ maxDepth: 3 }) });
/** A body with the space, the order and the other members that a harness might write. */
const body = fc
  .record({
    messages: fc.array(message, { maxLength: 6 }),
    other: fc.dictionary(fc.constantFrom('model', 'tools', 'input', 'stream', 'messages '), fc.jsonValue()),
    space: fc.constantFrom(undefined, 1, '\t', '\r\n '),
    first: fc.boolean(),
  })
  .map(({ messages, other, space, first }) =>
    JSON.stringify(first ? { messages, ...other } : { ...other, messages }, null, space),
  );

describe('a body', () => {
  test('reads like JSON.parse, whatever came before and whatever is wrong with it', () => {
    const reader = new BodyReader();
    const change = fc.record({
      at: fc.nat(),
      drop: fc.nat(4),
      put: fc.constantFrom('', ',', ']', '}', '"', '\\', '{', '1', '[{}]', '"messages":[{}],', '\u0000'),
    });
    fc.assert(
      fc.property(body, fc.array(change, { maxLength: 2 }), (text, changes) => {
        const bytes = changes.reduce((before, { at, drop, put }) => {
          const cut = at % (before.length + 1);
          return Buffer.concat([before.subarray(0, cut), Buffer.from(put), before.subarray(cut + drop)]);
        }, Buffer.from(text));
        expect(outcome(() => reader.read(bytes, 'messages'))).toEqual(outcome(() => parseJsonBody(bytes)));
      }),
      { numRuns: 1000, seed: 5 },
    );
  });

  test('keeps the messages that came before, also beside other conversations and after a branch', () => {
    const reader = new BodyReader();
    const turn = (name: string, n: number, tail: object[] = []): Buffer =>
      Buffer.from(
        JSON.stringify({
          model: 'm',
          messages: [
            ...Array.from({ length: n }, (_, i) => ({ role: 'user', content: `${name} ${i} ü"]}{[\\` })),
            ...tail,
          ],
          tools: [{ name }],
        }),
      );
    const read = (bytes: Buffer): unknown[] => reader.read(bytes, 'messages').messages as unknown[];
    const [a, b] = [read(turn('a', 3)), read(turn('b', 2))];
    const longer = read(turn('a', 5));
    expect(longer).toHaveLength(5);
    for (const at of [0, 1, 2]) expect(longer[at]).toBe(a[at]);
    expect(read(turn('b', 2))[1]).toBe(b[1]);
    const branch = read(turn('a', 2, [{ role: 'user', content: 'something else' }]));
    expect([branch[0], branch[1]]).toEqual([longer[0], longer[1]]);
    expect(branch[1]).toBe(longer[1]);
    expect(read(turn('a', 6))[4]).toBe(longer[4]);
  });

  test('forgets what was not asked for long', () => {
    const reader = new BodyReader();
    const bytes = (name: number): Buffer => Buffer.from(JSON.stringify({ messages: [{ name }] }));
    const [first] = reader.read(bytes(0), 'messages').messages as unknown[];
    for (let name = 1; name <= 64; name++) reader.read(bytes(name), 'messages');
    expect((reader.read(bytes(0), 'messages').messages as unknown[])[0]).not.toBe(first);
    const [last] = reader.read(bytes(64), 'messages').messages as unknown[];
    expect((reader.read(bytes(64), 'messages').messages as unknown[])[0]).toBe(last);
  });

  test('counts the depth as a whole', () => {
    const deep = (n: number): Buffer => Buffer.from(`{"messages":[{"a":${'['.repeat(n)}${']'.repeat(n)}}]}`);
    for (const n of [120, 124, 125, 126, 200])
      expect(outcome(() => new BodyReader().read(deep(n), 'messages'))).toEqual(outcome(() => parseJsonBody(deep(n))));
  });
});
