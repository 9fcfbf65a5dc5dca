import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Machine, type State } from '../../../main/engine/constrain/machine.js';
import { schemaGrammar } from '../../../main/engine/constrain/schema-grammar.js';
import { satisfies } from './validate.js';
import { drawAnswer, testVocabulary } from './walk.js';

const shared = testVocabulary();

const name = fc.constantFrom('a', 'path', 'with "quotes"', 'ключ', 'a b', '');
const text = fc.constantFrom('x', 'yes', 'line\nbreak', 'ж', '"');
const bounds = (least: string, most: string, high: number) =>
  fc.tuple(fc.nat(high), fc.nat(high), fc.nat(3)).map(([a, b, which]) => ({
    ...(which & 1 ? { [least]: Math.min(a, b) } : {}),
    ...(which & 2 ? { [most]: Math.max(a, b) } : {}),
  }));
const range = fc.tuple(fc.integer({ min: -1200, max: 1200 }), fc.nat(2500), fc.nat(3), fc.boolean()).map(
  // Open ends need room for a value between them.
  ([low, span, which, open]) => ({
    ...(which & 1 ? { [open ? 'exclusiveMinimum' : 'minimum']: low } : {}),
    ...(which & 2 ? { [open ? 'exclusiveMaximum' : 'maximum']: low + span + 2 } : {}),
  }),
);

const { schema } = fc.letrec<{ schema: Record<string, unknown>; object: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    bounds('minLength', 'maxLength', 5).map((more) => ({ type: 'string', ...more })),
    bounds('minLength', 'maxLength', 90).map((more) => ({ type: 'string', ...more })),
    range.map((more) => ({ type: 'integer', ...more })),
    range.map((more) => ({ type: 'number', ...more })),
    fc.constantFrom<Record<string, unknown>>(
      { type: 'boolean' },
      { type: 'null' },
      { type: ['string', 'null'] },
      { const: { x: [1, 'a'] } },
      {},
    ),
    fc.array(text, { minLength: 1, maxLength: 3 }).map((values) => ({ type: 'string', enum: values })),
    tie('object'),
    fc
      .tuple(tie('schema'), bounds('minItems', 'maxItems', 3))
      .map(([items, more]) => ({ type: 'array', items, ...more })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf, description: 'one of' })),
  ),
  object: fc
    .tuple(
      fc.dictionary(name, tie('schema'), { maxKeys: 4, noNullPrototype: true }),
      fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
      fc.constantFrom(undefined, false, { type: 'integer' }),
    )
    .map(([properties, needed, additionalProperties]) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).filter((_, i) => needed[i]),
      ...(additionalProperties !== undefined && { additionalProperties }),
    })),
}));

describe('schemaGrammar', () => {
  it('lets only JSON through that satisfies the schema, whatever is drawn', () => {
    fc.assert(
      fc.property(schema, fc.nat(), fc.integer({ min: 0, max: 120 }), (one, seed, wild) => {
        const answer = drawAnswer(schemaGrammar(one, 'the test'), seed, wild, shared);
        const value: unknown = JSON.parse(answer);
        if (!satisfies(value, one)) throw new Error(`${answer} does not satisfy ${JSON.stringify(one)}`);
      }),
      { numRuns: 400 },
    );
  });

  it('is exactly the whole numbers of a range', () => {
    const all = (machine: Machine, state: State, text: string): string[] => [
      ...(state.ends ? [text] : []),
      ...[...'-0123456789'].flatMap((letter) => {
        const next = machine.step(state, letter.charCodeAt(0));
        return next ? all(machine, next, text + letter) : [];
      }),
    ];
    fc.assert(
      fc.property(fc.integer({ min: -1300, max: 1300 }), fc.nat(1200), (low, span) => {
        const machine = new Machine(schemaGrammar({ type: 'integer', minimum: low, maximum: low + span }, 'the test'));
        const values = all(machine, machine.start, '').map(Number);
        expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: span + 1 }, (_, i) => low + i));
      }),
      { numRuns: 60 },
    );
  });

  it('follows references, recursive ones too', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: { value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          required: ['value', 'children'],
          additionalProperties: false,
        },
      },
    };
    for (let seed = 0; seed < 30; seed++) {
      const answer = drawAnswer(schemaGrammar(tree, 'the test'), seed, 60, shared);
      expect(satisfies(JSON.parse(answer), tree)).toBe(true);
    }
  });

  it('says which keyword it does not serve, and where', () => {
    const refused = (one: unknown): string => {
      try {
        schemaGrammar(one, 'the tool edit');
      } catch (error) {
        return (error as Error).message;
      }
      return 'accepted';
    };
    expect(refused({ type: 'object', properties: { path: { type: 'string', pattern: '^/' } } })).toMatch(
      /the tool edit.*"pattern" at path/,
    );
    expect(refused({ oneOf: [{ type: 'string' }] })).toMatch(/"oneOf" at its top/);
    expect(refused({ anyOf: [{ type: 'string' }], minLength: 2 })).toMatch(/"minLength" beside "anyOf"/);
    expect(refused({ $ref: 'https://example.org/schema' })).toMatch(/reference/);
    expect(refused({ type: 'number', minimum: 0.2, maximum: 0.8 })).toMatch(/range/);
    expect(refused({ type: 'text' })).toMatch(/type "text"/);
    expect(refused(false)).toMatch(/nothing satisfies/);
    expect(refused({ type: 'string', format: 'date', title: 'T', default: 'x' })).toBe('accepted');
  });
});
