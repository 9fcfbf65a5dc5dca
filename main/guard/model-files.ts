/**
 * Files whose text the model wrote itself, by path, and the links it made. A file written as `/app/tools/a.py` is found
 * as `tools/a.py` and the other way round, because the guard often does not know the working directory.
 */
import type { Write } from './file-access.js';
import type { Command } from './shell.js';
import { normalizePath } from './shell-scope.js';

const MAX_FILES = 500;
const MAX_LINKS = 50;

/** Of a file that is changed again and again the newest text counts. */
const MAX_TEXT = 400_000;

/** What may be in a file after a change of a part: the old text may remain, wherever the new one went. */
function joined(before: string | undefined, content: string): string {
  if (before === undefined || before === content) return content;
  return `${before.slice(0, Math.max(0, MAX_TEXT - content.length))}\n${content}`;
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

interface Text {
  text: string;
  /** Where more than this text may be in the file: the conversation up to the call that changed it. */
  since: string | null;
  by: ModelFiles;
}

export class ModelFiles {
  readonly #texts: Map<string, Text>;
  readonly #links: Map<string, string>;
  readonly #followed = new Map<string, string>();
  readonly #readers = new Map<string, Command[]>();

  constructor(from: ModelFiles | null = null) {
    this.#texts = new Map(from === null ? [] : from.#texts);
    this.#links = new Map(from === null ? [] : from.#links);
  }

  /** Every link with where it leads. */
  get links(): ReadonlyMap<string, string> {
    return this.#links;
  }

  /** What a reading of a call rests on beside the call: earlier texts that it looked up, by path, and links that it took. */
  get followed(): ReadonlyMap<string, string> {
    return this.#followed;
  }

  set(path: string, text: string, since: string | null = null): void {
    if (this.#texts.size < MAX_FILES || this.#texts.has(path)) this.#texts.set(path, { text, since, by: this });
  }

  /** A write by the call that is being read. */
  write({ path, content, effect }: Write): void {
    const before = effect === undefined ? this.get(path) : undefined;
    if (content !== null) this.set(path, joined(before, content));
  }

  /** The writes of an earlier call, and the conversation up to it. `exact`: their texts rest on nothing but that call. */
  record(writes: readonly Write[], since: string, exact: boolean): void {
    const names = new Map<string, string[]>();
    for (const known of this.#texts.keys()) names.set(nameOf(known), [...(names.get(nameOf(known)) ?? []), known]);
    for (const { path, content, effect } of writes) {
      if (effect === 'kept') continue;
      // A folder that is not known may make two names those of one file.
      for (const known of names.get(nameOf(path)) ?? []) this.#texts.set(known, { ...this.#texts.get(known)!, since });
      if (content === null) continue;
      const before = effect === undefined ? this.#find(path)?.text : undefined;
      this.set(path, joined(before, content), effect === 'whole' && exact ? null : since);
      names.set(
        nameOf(path),
        [...new Set([...(names.get(nameOf(path)) ?? []), path])].filter((one) => this.#texts.has(one)),
      );
    }
  }

  /** The text last written to `path`; a relative and an absolute path agree when one ends in the other. */
  get(path: string): string | undefined {
    const found = this.#find(path);
    if (found && found.by !== this) this.#followed.set(path, `${found.since ?? ''}\n${found.text}`);
    return found?.text;
  }

  #find(path: string): Text | undefined {
    const exact = this.#texts.get(path);
    if (exact !== undefined || path === '' || this.#texts.size === 0) return exact;
    let found: Text | undefined;
    for (const [known, text] of this.#texts)
      if (path.startsWith('/') !== known.startsWith('/') && (known.endsWith(`/${path}`) || path.endsWith(`/${known}`)))
        found = text;
    return found;
  }

  /** `commands` read what is written to `path`, a pipe with a name. */
  readBy(path: string, commands: readonly Command[]): void {
    if (this.#readers.size < MAX_LINKS || this.#readers.has(path))
      this.#readers.set(path, [...(this.#readers.get(path) ?? []), ...commands].slice(0, MAX_LINKS));
  }

  /** null: `path` is no pipe. */
  readers(path: string): readonly Command[] | null {
    return this.#readers.get(path) ?? null;
  }

  link(path: string, target: string): void {
    if (this.#links.size < MAX_LINKS && path !== target) this.#links.set(path.replace(/\/$/, ''), target);
  }

  /** Where `path` leads through the model's own links; `path` itself where there are none. */
  resolve(path: string): string {
    let at = path;
    for (let hops = 0; hops < 8; hops++) {
      const link = [...this.#links].find(([name]) => at === name || at.startsWith(`${name}/`));
      if (!link) break;
      const rest = at.slice(link[0].length);
      at = normalizePath(link[1] + rest, link[0].slice(0, Math.max(0, link[0].lastIndexOf('/'))));
    }
    if (at !== path) this.#followed.set(`${path} ->`, at);
    return at;
  }
}
