/**
 * Runs a compiled chat template with a bound on its work. Templates are programs from anywhere: loops in loops, macros
 * that call themselves twice or texts that double would occupy the engine for ever.
 */
import { Environment, Interpreter } from '@huggingface/jinja';
import { strftimeNow } from './strftime-now.js';

/** The library's declarations name modules without extension, which NodeNext does not find; this is what is used here. */
interface Node {
  type: string;
  iterable?: Node;
  lhs?: Node;
}
interface Value {
  value: unknown;
}
interface Scope {
  set(name: string, value: unknown): void;
}
interface Evaluator {
  run(program: object): Value;
  evaluate(node: Node | undefined, scope: Scope): Value;
}
const Base = Interpreter as new (scope: Scope) => Evaluator;
const Globals = Environment as new () => Scope;

export interface RenderBounds {
  /** Evaluations of nodes, elements of lists and blocks of text taken together. */
  steps: number;
  /** UTF-16 units of any text, the prompt included. */
  units: number;
}

/** Elements of a list or an object. */
const MAX_ELEMENTS = 2 ** 18;
const MAX_RANGE = 2 ** 14;
/** What a round of a loop costs before its body: a scope takes as long as some evaluations. */
const STEPS_PER_ROUND = 8;
/** Units of text, or elements of a list that is only looked at, that cost as much as one step. */
const PER_STEP = 64;

/** Far more than templates in use take: some hundred steps a message, and a few texts for each text of the conversation. */
export function boundsFor(messages: number, units: number): RenderBounds {
  return { steps: 300_000 + 3000 * messages + messages ** 2 / 8 + 4 * units, units: 2 ** 20 + 4 * units };
}

/** Throws an Error when the template refuses the conversation or goes beyond the bounds. */
export function renderBounded(
  program: object,
  variables: Readonly<Record<string, unknown>>,
  bounds: RenderBounds,
): string {
  const scope = new Globals();
  for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) scope.set(name, value);
  return String(new BoundedInterpreter(scope, bounds).run(program).value);
}

/** What Transformers gives to templates beside the conversation. */
const GLOBALS: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  raise_exception: (message: unknown) => {
    throw new Error(String(message).slice(0, 1000));
  },
  range,
  strftime_now: strftimeNow,
};

function range(...args: unknown[]): number[] {
  const [first = 0, second, step = 1] = args;
  const [from, to] = second === undefined ? [0, first] : [first, second];
  if (![from, to, step].every(Number.isSafeInteger) || step === 0) throw new Error('range() takes whole numbers');
  const [start, end, by] = [from, to, step] as [number, number, number];
  const length = Math.max(0, Math.ceil((end - start) / by));
  if (length > MAX_RANGE) throw new Error(`range() of more than ${MAX_RANGE} numbers`);
  return Array.from({ length }, (_, i) => start + i * by);
}

class BoundedInterpreter extends Base {
  #left: number;
  readonly #maxUnits: number;
  /** What a `for` runs over: each element costs a scope, even where the body is empty. */
  readonly #looped = new WeakSet<object>();
  /** Nodes in a macro: it is searched as a whole whenever it is declared. */
  readonly #sizes = new WeakMap<object, number>();

  constructor(scope: Scope, { steps, units }: RenderBounds) {
    super(scope);
    this.#left = steps;
    this.#maxUnits = units;
  }

  override evaluate(node: Node | undefined, scope: Scope): Value {
    this.#charge(1);
    if (node?.type === 'For' && node.iterable) {
      const { iterable } = node;
      this.#looped.add(iterable.type === 'SelectExpression' && iterable.lhs ? iterable.lhs : iterable);
    } else if (node?.type === 'Macro' || node?.type === 'CallStatement') {
      this.#charge(this.#sizeOf(node));
    }
    const result = super.evaluate(node, scope);
    const { value } = result;
    if (typeof value === 'string') {
      if (value.length > this.#maxUnits) throw new Error('it makes a text that is too long');
      this.#charge(value.length / PER_STEP);
    } else if (Array.isArray(value) || value instanceof Map) {
      const elements = Array.isArray(value) ? value.length : value.size;
      if (elements > MAX_ELEMENTS) throw new Error('it makes a list that is too long');
      this.#charge(elements * (node && this.#looped.has(node) ? STEPS_PER_ROUND : 1 / PER_STEP));
    }
    return result;
  }

  #charge(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new Error('it takes too long');
  }

  #sizeOf(node: object): number {
    let size = this.#sizes.get(node);
    if (size === undefined) {
      size = countObjects(node);
      this.#sizes.set(node, size);
    }
    return size;
  }
}

function countObjects(root: object): number {
  const open: object[] = [root];
  let count = 0;
  for (let node = open.pop(); node; node = open.pop()) {
    count++;
    const children: unknown[] = node instanceof Map ? [...node].flat() : Object.values(node);
    for (const child of children) if (typeof child === 'object' && child !== null) open.push(child);
  }
  return count;
}
