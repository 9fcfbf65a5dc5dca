/** Makes the constraint of a request: strict tool calls, an answer in JSON, or none. */
import { TackroomError } from '../../../contract/errors.js';
import type { Codec } from '../codec.js';
import type { ChatParams, ToolDefinition } from '../protocol.js';
import type { TokenConstraint } from './constraint.js';
import { bytes, choice, type Grammar, literal, repeat, sequence, set, textWith, utf8 } from './grammar.js';
import { anyObject, space } from './json-values.js';
import { Machine, type State } from './machine.js';
import { schemaGrammar } from './schema-grammar.js';
import { Vocabulary } from './vocabulary.js';

/** Compiled grammars with what was learned of them, kept for the next request with the same tools. */
const MOST_MACHINES = 16;
const TOKENS_A_TURN = 2048;

/** White space within and after a call. An answer in JSON has none around it. */
const blank = repeat(set([0x20, 0x20], [0x0a, 0x0a]), 0, 2);

export class Constraints {
  #vocabulary: Promise<Vocabulary> | undefined;
  readonly #machines = new Map<string, Machine>();

  constructor(
    private readonly codec: Codec,
    private readonly vocabSize: number,
  ) {}

  /** Errors: UNSUPPORTED for a schema or a model that it cannot be done with. */
  async of(
    params: Pick<ChatParams, 'constrain' | 'strictTools' | 'tools' | 'jsonSchema'>,
  ): Promise<TokenConstraint | undefined> {
    const { tools = [], jsonSchema } = params;
    const strict = params.constrain === 'tools' && tools.length > 0;
    if (!strict && jsonSchema === undefined) return undefined;
    const key = JSON.stringify([
      tools.map(({ function: f }) => [f.name, strict && f.parameters]),
      params.strictTools,
      jsonSchema,
    ]);
    let machine = this.#machines.get(key);
    if (!machine) {
      machine = new Machine(this.#grammar(params, strict));
      const oldest = this.#machines.keys().next();
      if (this.#machines.size >= MOST_MACHINES && !oldest.done) this.#machines.delete(oldest.value);
    } else this.#machines.delete(key);
    this.#machines.set(key, machine);
    this.#vocabulary ??= this.#openVocabulary();
    return new Constraint(machine, await this.#vocabulary);
  }

  #grammar({ tools = [], strictTools, jsonSchema }: Partial<ChatParams>, strict: boolean): Grammar {
    const frame = this.codec.jsonCalls;
    const binds = (tool: ToolDefinition): boolean =>
      strict && (strictTools === undefined || strictTools.includes(tool.function.name));
    if (strict && !frame)
      throw new TackroomError(
        'UNSUPPORTED',
        'This model writes tool calls in a form whose arguments cannot be held to a schema.',
        'Leave out `strict`.',
      );
    const bodies = tools.map((tool) => callBody(tool, binds(tool)));
    const close = frame && bytes(utf8(frame.close), true);
    if (jsonSchema === undefined) return textWith(utf8(frame!.open), sequence(blank, choice(...bodies), blank, close!));
    const value = schemaGrammar(jsonSchema, 'the response format');
    if (!frame || bodies.length === 0) return value;
    const call = sequence(bytes(utf8(frame.open), true), blank, choice(...bodies), blank, close!, blank);
    return choice(value, repeat(call, 1, Number.POSITIVE_INFINITY));
  }

  /** Once a model; a few tokens at a time, because others decode meanwhile. */
  async #openVocabulary(): Promise<Vocabulary> {
    const { tokenBytes, controlIds, jsonCalls, endIds } = this.codec;
    if (!tokenBytes)
      throw new TackroomError(
        'UNSUPPORTED',
        "This model's tokenizer does not say which bytes its tokens stand for, so answers cannot be held to a schema.",
        'Leave out `strict` and `response_format`.',
      );
    const tokens: (Uint8Array | null)[] = [];
    while (tokens.length < this.vocabSize) {
      tokens.push(tokenBytes.call(this.codec, tokens.length));
      if (tokens.length % TOKENS_A_TURN === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    // The frame of a call, when it is one token, is no text inside a value either.
    const frame = new Set(jsonCalls ? [jsonCalls.open, jsonCalls.close] : []);
    const control = new Set(controlIds);
    tokens.forEach((token, id) => {
      if (token && frame.has(Buffer.from(token).toString('utf8'))) control.add(id);
    });
    return new Vocabulary(tokens, this.vocabSize, { endIds, controlIds: control });
  }
}

function callBody({ function: { name, parameters } }: ToolDefinition, strict: boolean): Grammar {
  const args = strict && parameters !== undefined ? schemaGrammar(parameters, `the tool ${name}`) : anyObject();
  return sequence(
    literal('{"name":'),
    space,
    literal(JSON.stringify(name)),
    literal(','),
    space,
    literal('"arguments":'),
    space,
    args,
    literal('}'),
  );
}

class Constraint implements TokenConstraint {
  #state: State;

  constructor(
    private readonly machine: Machine,
    private readonly vocabulary: Vocabulary,
  ) {
    this.#state = machine.start;
  }

  allowed(): Uint32Array {
    const mask = this.vocabulary.mask(this.machine, this.#state);
    if (!mask)
      throw new TackroomError(
        'UNSUPPORTED',
        "No token of this model's vocabulary continues the answer as its schema asks.",
        'Leave out `strict` and `response_format`.',
      );
    return mask;
  }

  accept(token: number): void {
    const next = this.vocabulary.walk(this.machine, this.#state, token);
    if (!next) throw new TackroomError('INTERNAL', `The token ${token} was drawn although it was not allowed.`);
    this.#state = next;
  }
}
