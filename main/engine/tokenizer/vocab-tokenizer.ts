import { AddedMatcher } from './added-matcher.js';
import type { AddedToken, EncodeOptions, Tokenizer } from './tokenizer.js';

/** What every tokenizer is told by its file. */
export interface Vocabulary {
  /** Token text by id, as the file spells it. Holes are allowed. */
  tokens: readonly (string | undefined)[];
  added: readonly AddedToken[];
  endIds: Iterable<number>;
  bosId: number | null;
  eosId: number | null;
  addBos: boolean;
  /** The first space of a text is the tokenizer's own and not part of it. */
  dropFirstSpace: boolean;
}

const SPACE = 0x20;
const LONE_SURROGATE = /\p{Surrogate}/gu;
const NO_BYTES = new Uint8Array(0);

/** Everything but the merging: added tokens, look-ups, bytes. */
export abstract class VocabTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly endIds: ReadonlySet<number>;
  readonly bosId: number | null;
  readonly eosId: number | null;
  readonly addBos: boolean;
  readonly added: ReadonlyMap<string, AddedToken>;
  /** Ids by text, of the tokens that plain text may become. */
  protected readonly plainIds = new Map<string, number>();
  readonly #tokens: readonly (string | undefined)[];
  readonly #addedById = new Map<number, AddedToken>();
  readonly #matchAll: AddedMatcher;
  readonly #matchUserDefined: AddedMatcher;
  readonly #dropFirstSpace: boolean;
  readonly #bytes: (Uint8Array | undefined)[] = [];

  constructor(vocabulary: Vocabulary, isPlain: (id: number) => boolean = () => true) {
    this.#tokens = vocabulary.tokens;
    this.added = new Map(vocabulary.added.map((token) => [token.content, token]));
    let size = vocabulary.tokens.length;
    for (const token of vocabulary.added) {
      this.#addedById.set(token.id, token);
      if (token.id >= size) size = token.id + 1;
    }
    this.vocabSize = size;
    vocabulary.tokens.forEach((text, id) => {
      if (text !== undefined && isPlain(id) && !this.#addedById.get(id)?.control && !this.plainIds.has(text))
        this.plainIds.set(text, id);
    });
    // A control token of one character could not be kept out of the text inside a prompt, so no text becomes one.
    this.#matchAll = new AddedMatcher(
      vocabulary.added.filter(({ control, content }) => !control || content.length > 1),
    );
    this.#matchUserDefined = new AddedMatcher(vocabulary.added.filter((token) => !token.control));
    this.endIds = new Set(vocabulary.endIds);
    this.bosId = vocabulary.bosId;
    this.eosId = vocabulary.eosId;
    this.addBos = vocabulary.addBos;
    this.#dropFirstSpace = vocabulary.dropFirstSpace;
  }

  /** Appends the ids of a text without added tokens. `first`: nothing stands before it; `afterAdded`: an added token does. */
  protected abstract encodePlain(text: string, place: { first: boolean; afterAdded: boolean }, out: number[]): void;

  /** The bytes of a token that is not an added one. */
  protected abstract bytesOfToken(id: number, text: string): Uint8Array;

  encode(text: string, { special, breaks }: EncodeOptions): number[] {
    const out: number[] = [];
    let afterAdded = false;
    let first = true;
    const matcher = special ? this.#matchAll : this.#matchUserDefined;
    for (const fragment of matcher.split(text.replace(LONE_SURROGATE, '\ufffd'), breaks)) {
      if (typeof fragment === 'string') this.encodePlain(fragment, { first, afterAdded }, out);
      else out.push(fragment.id);
      afterAdded = typeof fragment !== 'string';
      first = false;
    }
    return out;
  }

  decode(ids: readonly number[]): string {
    return Buffer.from(this.decodeBytes(ids)).toString('utf8');
  }

  decodeBytes(ids: readonly number[], { continued = false }: { continued?: boolean } = {}): Uint8Array {
    const all = Buffer.concat(ids.map((id) => this.#bytesOf(id)));
    const drop =
      this.#dropFirstSpace &&
      !continued &&
      all[0] === SPACE &&
      ids[0] !== undefined &&
      !this.#addedById.get(ids[0])?.control;
    return drop ? all.subarray(1) : all;
  }

  tokenToId(token: string): number | null {
    return this.added.get(token)?.id ?? this.plainIds.get(token) ?? null;
  }

  idToToken(id: number): string | null {
    return this.#addedById.get(id)?.content ?? this.#tokens[id] ?? null;
  }

  /** Bytes are worked out when a token is first met: most of a large vocabulary never is. */
  #bytesOf(id: number): Uint8Array {
    const known = this.#bytes[id];
    if (known) return known;
    const added = this.#addedById.get(id);
    const text = this.#tokens[id];
    if (!added && text === undefined) return NO_BYTES;
    const bytes = added ? Buffer.from(added.content, 'utf8') : this.bytesOfToken(id, text!);
    this.#bytes[id] = bytes;
    return bytes;
  }
}
