/**
 * JSON Schema (2020-12, the part that tool schemas use) as a grammar. Whatever the grammar lets through satisfies the
 * schema; not all that satisfies it is let through: properties come in the order of the schema and additional ones never.
 *
 * Served: type, enum, const, properties, required, additionalProperties, items, minItems, maxItems, minLength, maxLength,
 * minimum, maximum, exclusiveMinimum, exclusiveMaximum, anyOf, $ref into the schema itself. Annotations are ignored. Any
 * other keyword narrows the schema in a way the grammar does not know and is refused.
 */
import { TackroomError } from '../../../contract/errors.js';
import { choice, type Grammar, literal, reference } from './grammar.js';
import { anyObject, anyValue, arrayOf, boolean, mapOf, nothing, objectOf, stringOf } from './json-values.js';
import { integers, numbers } from './number-ranges.js';

type Schema = Record<string, unknown>;

const ANNOTATIONS = new Set(
  '$schema $id $anchor $comment $defs definitions title description default examples deprecated readOnly writeOnly format contentEncoding contentMediaType strict'.split(
    ' ',
  ),
);
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const SERVED = new Set([
  ...ANNOTATIONS,
  ...'type enum const properties required additionalProperties items minItems maxItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum anyOf $ref'.split(
    ' ',
  ),
]);

/** `where` names the schema in messages. Throws UNSUPPORTED for what cannot be kept to, BAD_ARGUMENT for no schema at all. */
export function schemaGrammar(schema: unknown, where: string): Grammar {
  return new Compiler(schema, where).root();
}

class Compiler {
  readonly #references = new Map<string, Grammar>();

  constructor(
    private readonly document: unknown,
    private readonly where: string,
  ) {}

  root(): Grammar {
    return this.#compile(this.document, '');
  }

  #refuse(path: string, what: string): TackroomError {
    return new TackroomError(
      'UNSUPPORTED',
      `The schema of ${this.where} cannot be kept to: ${what} at ${path === '' ? 'its top' : path.slice(1)}.`,
      'Leave it out of the schema, or do not ask for strict answers.',
    );
  }

  #compile(schema: unknown, path: string): Grammar {
    if (schema === true || schema === undefined) return anyValue();
    if (schema === false) throw this.#refuse(path, 'nothing satisfies it');
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      throw new TackroomError('BAD_ARGUMENT', `The schema of ${this.where} is not a JSON schema at ${path.slice(1)}.`);
    const one = schema as Schema;
    for (const key of Object.keys(one)) if (!SERVED.has(key)) throw this.#refuse(path, `the keyword "${key}"`);
    if (one.$ref !== undefined) return this.#alone(one, '$ref', path, () => this.#reference(one.$ref, path));
    if (one.anyOf !== undefined) return this.#alone(one, 'anyOf', path, () => this.#anyOf(one.anyOf, path));
    if (one.const !== undefined || one.enum !== undefined) return this.#values(one, path);
    return choice(...this.#types(one, path).map((type) => this.#ofType(type, one, path)));
  }

  /** Keywords beside $ref or anyOf would have to hold as well: refused. */
  #alone(schema: Schema, keyword: string, path: string, make: () => Grammar): Grammar {
    const other = Object.keys(schema).find((key) => key !== keyword && !ANNOTATIONS.has(key));
    if (other) throw this.#refuse(path, `"${other}" beside "${keyword}"`);
    return make();
  }

  #reference(ref: unknown, path: string): Grammar {
    if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref)) throw this.#refuse(path, `the reference ${String(ref)}`);
    const known = this.#references.get(ref);
    if (known) return known;
    let target: unknown = this.document;
    for (const part of ref.split('/').slice(1)) {
      const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
      const within = target as Schema | null | undefined;
      target = typeof within === 'object' && within && Object.hasOwn(within, name) ? within[name] : undefined;
    }
    if (target === undefined) throw this.#refuse(path, `the reference ${ref}, which leads nowhere,`);
    let made: Grammar | undefined;
    const grammar = reference(() => made!);
    this.#references.set(ref, grammar);
    made = this.#compile(target, path);
    return grammar;
  }

  #anyOf(options: unknown, path: string): Grammar {
    if (!Array.isArray(options) || options.length === 0) throw this.#refuse(path, 'an empty anyOf');
    return choice(...options.map((option, i) => this.#compile(option, `${path}.anyOf.${i}`)));
  }

  #values(schema: Schema, path: string): Grammar {
    const other = Object.keys(schema).find((key) => !ANNOTATIONS.has(key) && !['type', 'enum', 'const'].includes(key));
    if (other) throw this.#refuse(path, `"${other}" beside enum or const`);
    const listed = schema.enum === undefined ? [schema.const] : schema.enum;
    const types = this.#types(schema, path);
    const values = (Array.isArray(listed) ? listed : []).filter(
      (value) =>
        types.some((type) => isOfType(value, type)) && (schema.const === undefined || same(value, schema.const)),
    );
    if (values.length === 0) throw this.#refuse(path, 'no value of enum fits');
    return choice(...values.map((value) => literal(JSON.stringify(value))));
  }

  #types(schema: Schema, path: string): string[] {
    if (schema.type === undefined) return inferred(schema);
    const types = Array.isArray(schema.type) ? (schema.type as unknown[]) : [schema.type];
    if (types.length === 0) throw this.#refuse(path, 'an empty type');
    for (const type of types)
      if (!TYPES.includes(type as string)) throw this.#refuse(path, `the type ${JSON.stringify(type)}`);
    return types as string[];
  }

  #ofType(type: string, schema: Schema, path: string): Grammar {
    switch (type) {
      case 'object':
        return this.#object(schema, path);
      case 'array':
        return arrayOf(
          this.#compile(schema.items, `${path}.items`),
          ...this.#bounds(schema, path, 'minItems', 'maxItems'),
        );
      case 'string':
        return stringOf(...this.#bounds(schema, path, 'minLength', 'maxLength'));
      case 'boolean':
        return boolean;
      case 'null':
        return nothing;
      default:
        return this.#number(type === 'integer', schema, path);
    }
  }

  #object(schema: Schema, path: string): Grammar {
    const properties = (schema.properties ?? {}) as Schema;
    const required = (schema.required ?? []) as string[];
    const extra = schema.additionalProperties;
    const names = [...new Set([...Object.keys(properties), ...required])];
    if (names.length === 0) {
      if (extra === false) return literal('{}');
      return extra === undefined || extra === true
        ? anyObject()
        : mapOf(this.#compile(extra, `${path}.additionalProperties`));
    }
    return objectOf(
      names.map((name) => ({
        name,
        value: this.#compile(Object.hasOwn(properties, name) ? properties[name] : extra, `${path}.${name}`),
        required: required.includes(name),
      })),
    );
  }

  #bounds(schema: Schema, path: string, least: string, most: string): [number, number] {
    const [min, max] = [schema[least] ?? 0, schema[most] ?? Number.POSITIVE_INFINITY] as [number, number];
    if (!(min >= 0 && max >= min)) throw this.#refuse(path, `${least} and ${most}, which nothing satisfies,`);
    return [min, max];
  }

  #number(whole: boolean, schema: Schema, path: string): Grammar {
    const bound = (key: string, fallback: number): number => (typeof schema[key] === 'number' ? schema[key] : fallback);
    const [min, max] = [bound('minimum', Number.NEGATIVE_INFINITY), bound('maximum', Number.POSITIVE_INFINITY)];
    const over = bound('exclusiveMinimum', Number.NEGATIVE_INFINITY);
    const under = bound('exclusiveMaximum', Number.POSITIVE_INFINITY);
    const open = { min: over >= min && Number.isFinite(over), max: under <= max && Number.isFinite(under) };
    const [low, high] = [Math.max(min, over), Math.min(max, under)];
    const grammar = whole
      ? integers(open.min ? Math.floor(low) + 1 : low, open.max ? Math.ceil(high) - 1 : high)
      : numbers(low, high, open);
    if (!grammar) throw this.#refuse(path, 'a range of numbers within one unit');
    return grammar;
  }
}

/** Without a type any is allowed, but the keywords say which one is meant; all of them are kept to. */
function inferred(schema: Schema): string[] {
  if (schema.properties !== undefined || schema.required !== undefined || schema.additionalProperties !== undefined)
    return ['object'];
  if (schema.items !== undefined || schema.minItems !== undefined || schema.maxItems !== undefined) return ['array'];
  return ['object', 'array', 'string', 'number', 'boolean', 'null'];
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
