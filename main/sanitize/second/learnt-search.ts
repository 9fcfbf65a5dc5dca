/**
 * Looks in cleaned text for every value that has a stand-in, in every spelling. It shares nothing with the two passes but the
 * list of values: what these overlook because of how they read a text, this finds in its bytes.
 */
import { isSharedUser } from '../detect/people.js';
import { CONTINUED, type Entity } from '../pseudonyms.js';
import { readCodes } from './codes.js';
import { spellingsOf } from './encodings.js';
import { NeedleIndex, SHORTEST } from './needle-index.js';
import { insideStandIn } from './stand-in-places.js';

/** Shorter values mean something at the places they were found in only; the same bounds as for replacing them. */
const LEAST: Record<string, number> = { user: 4, person: 5, host: 5, password: 6 };
const USUAL_LEAST = 8;
const MOST = 20_000;
/** Values from this length on are looked for in other spellings and, with a digit, within words. */
const SPELLED = 8;
const DISTINCT = 12;
const PERSONAL = /^(?:user|person|host|email|ip|ipv6|mac|phone|card|iban|ssn|serial|account-id|windows-sid)$/;

export interface Leak {
  start: number;
  end: number;
  family: string;
}

export class LearntSearch {
  readonly #index = new NeedleIndex();
  readonly #entities: readonly Entity[];
  #entered = 0;

  /** `entities`: a list that may grow. */
  constructor(entities: readonly Entity[]) {
    this.#entities = entities;
  }

  /** Where one of the values still stands in `bytes`. */
  find(bytes: Buffer): Leak[] {
    for (; this.#entered < this.#entities.length; this.#entered++) this.#enter(this.#entered);
    const leaks: Leak[] = [];
    this.#search(bytes, (start, end, family) => leaks.push({ start, end, family }));
    for (const { start, end, text } of readCodes(bytes))
      this.#search(text, (_start, _end, family) => leaks.push({ start, end, family }));
    return leaks;
  }

  #search(bytes: Buffer, found: (start: number, end: number, family: string) => void): void {
    this.#index.find(bytes, (start, end, { bounded, owner }) => {
      if (bounded && (endsWord(bytes, start) || (end < bytes.length && isWord(bytes[end]!)))) return;
      if (insideStandIn(bytes, start, end)) return;
      found(start, end, this.#entities[owner]!.family);
    });
  }

  close(): void {
    this.#index.close();
  }

  #enter(owner: number): void {
    const { family, value } = this.#entities[owner]!;
    if (family === CONTINUED || value.length > MOST || value.length < SHORTEST) return;
    if (value.length < (LEAST[family] ?? USUAL_LEAST)) return;
    if (family === 'user-slug' || (family === 'user' && isSharedUser(value))) return;
    const bounded = PERSONAL.test(family) || value.length < DISTINCT || !/\d/.test(value);
    this.#index.add(value, { bounded, owner });
    if (family === 'user') for (const text of folderNames(value)) this.#index.add(text, { bounded, owner });
    if (value.length < SPELLED) return;
    for (const { text, plain } of spellingsOf(value)) this.#index.add(text, { bounded: plain && bounded, owner });
  }
}

/** What harnesses make of the home folder in names of theirs. */
const folderNames = (user: string): string[] => {
  const slug = user.replace(/[^A-Za-z0-9]/g, '-');
  return slug === user ? [] : [`home-${slug}`, `Users-${slug}`];
};

const isWord = (byte: number): boolean =>
  (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122);

/** An escape before a word ends in a letter or digit, which is not part of the word. */
const TERMINAL = String.raw`(?:${String.fromCharCode(27)}|\\u001b|\\x1b|\\e|\\033)\[[0-9;]{0,12}[A-Za-z]`;
const ESCAPE_BEFORE = new RegExp(String.raw`(?:\\[abefnrtv0]|\\[ux][0-9A-Fa-f]{2,4}|%[0-9A-Fa-f]{2}|${TERMINAL})$`);

/** Whether what stands before `at` and at `at` would be one word. */
export function endsWord(bytes: Buffer, at: number): boolean {
  if (at === 0 || !isWord(bytes[at - 1]!)) return false;
  return !ESCAPE_BEFORE.test(bytes.toString('latin1', Math.max(0, at - 24), at));
}
