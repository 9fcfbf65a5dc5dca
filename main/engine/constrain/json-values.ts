/** Grammars of JSON values (RFC 8259) in one compact form: no white space but one optional space after `:` and `,`. */
import { choice, digits, empty, type Grammar, literal, optional, reference, repeat, sequence, set } from './grammar.js';

export const space = optional(literal(' '));
const hex = set([0x30, 0x39], [0x41, 0x46], [0x61, 0x66]);
const tail = set([0x80, 0xbf]);

/** One code point of a string: itself, an escape, or \u and four digits that are no half of a surrogate pair. */
const letter = choice(
  set([0x20, 0x21], [0x23, 0x5b], [0x5d, 0x7f]),
  sequence(set([0xc2, 0xdf]), tail),
  sequence(set([0xe0, 0xe0]), set([0xa0, 0xbf]), tail),
  sequence(set([0xe1, 0xec], [0xee, 0xef]), tail, tail),
  sequence(set([0xed, 0xed]), set([0x80, 0x9f]), tail),
  sequence(set([0xf0, 0xf0]), set([0x90, 0xbf]), tail, tail),
  sequence(set([0xf1, 0xf3]), tail, tail, tail),
  sequence(set([0xf4, 0xf4]), set([0x80, 0x8f]), tail, tail),
  sequence(literal('\\'), set(...[...'"\\/bfnrt'].map((c) => [c.charCodeAt(0), c.charCodeAt(0)] as const))),
  sequence(literal('\\u'), set([0x30, 0x39], [0x41, 0x43], [0x45, 0x46], [0x61, 0x63], [0x65, 0x66]), hex, hex, hex),
  sequence(literal('\\u'), set([0x44, 0x44], [0x64, 0x64]), set([0x30, 0x37]), hex, hex),
);

/** A string of `min` to `max` code points. */
export const stringOf = (min = 0, max = Number.POSITIVE_INFINITY): Grammar =>
  sequence(literal('"'), repeat(letter, min, max), literal('"'));

export const anyString = stringOf();
export const boolean = choice(literal('true'), literal('false'));
export const nothing = literal('null');

const whole = choice(literal('0'), sequence(set([0x31, 0x39]), digits(0, 14)));
export const fraction = sequence(literal('.'), digits(1, 15));
const exponent = sequence(set([0x45, 0x45], [0x65, 0x65]), optional(set([0x2b, 0x2b], [0x2d, 0x2d])), digits(1, 2));
export const anyNumber = sequence(optional(literal('-')), whole, optional(fraction), optional(exponent));

export function arrayOf(item: Grammar, min = 0, max = Number.POSITIVE_INFINITY): Grammar {
  if (max === 0) return literal('[]');
  const more = repeat(sequence(literal(','), space, item), Math.max(0, min - 1), max - 1);
  const filled = sequence(literal('['), item, more, literal(']'));
  return min > 0 ? filled : choice(literal('[]'), filled);
}

/** An object of any keys whose values are all alike. */
export function mapOf(value: Grammar): Grammar {
  const member = sequence(anyString, literal(':'), space, value);
  return choice(
    literal('{}'),
    sequence(
      literal('{'),
      member,
      repeat(sequence(literal(','), space, member), 0, Number.POSITIVE_INFINITY),
      literal('}'),
    ),
  );
}

/** Arrays and objects inside each other, so that a value ends some time. */
const DEEPEST_ANY = 5;
const byDepth: Grammar[] = [];

/** Any value, at most `depth` arrays and objects deep. */
export function anyValue(depth = DEEPEST_ANY): Grammar {
  byDepth[depth] ??= reference(once(() => anyValueOf(depth)));
  return byDepth[depth]!;
}
export const anyObject = (): Grammar => mapOf(anyValue());

function anyValueOf(depth: number): Grammar {
  const plain = [anyString, anyNumber, boolean, nothing];
  if (depth === 0) return choice(...plain);
  return choice(...plain, arrayOf(anyValue(depth - 1)), mapOf(anyValue(depth - 1)));
}

export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

export interface Property {
  name: string;
  value: Grammar;
  required: boolean;
}

/** An object with these properties in this order; those that are not required may be left out. */
export function objectOf(properties: readonly Property[]): Grammar {
  const member = ({ name, value }: Property, before: Grammar, rest: Grammar): Grammar =>
    sequence(before, literal(`${JSON.stringify(name)}:`), space, value, rest);
  const comma = sequence(literal(','), space);
  // From the end: what may follow when something stands before it, and when nothing does.
  let following: Grammar = literal('}');
  let first = following;
  for (const property of [...properties].reverse()) {
    const [next, opening] = [member(property, comma, following), member(property, empty, following)];
    first = property.required ? opening : choice(opening, first);
    following = property.required ? next : choice(next, following);
  }
  return sequence(literal('{'), first);
}
