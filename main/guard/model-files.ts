/**
 * Files whose text the model wrote itself, by path, and the links it made. A file written as `/app/tools/a.py` is found
 * as `tools/a.py` and the other way round, because the guard often does not know the working directory.
 */
import { normalizePath } from './shell-scope.js';

const MAX_FILES = 500;
const MAX_LINKS = 50;

export class ModelFiles {
  readonly #texts: Map<string, string>;
  readonly #links: Map<string, string>;

  constructor(from: ModelFiles | null = null) {
    this.#texts = new Map(from === null ? [] : from.#texts);
    this.#links = new Map(from === null ? [] : from.#links);
  }

  /** Every link with where it leads. */
  get links(): ReadonlyMap<string, string> {
    return this.#links;
  }

  set(path: string, text: string): void {
    if (this.#texts.size < MAX_FILES || this.#texts.has(path)) this.#texts.set(path, text);
  }

  /** The text last written to `path`; a relative and an absolute path agree when one ends in the other. */
  get(path: string): string | undefined {
    const exact = this.#texts.get(path);
    if (exact !== undefined || path === '' || this.#texts.size === 0) return exact;
    let found: string | undefined;
    for (const [known, text] of this.#texts)
      if (path.startsWith('/') !== known.startsWith('/') && (known.endsWith(`/${path}`) || path.endsWith(`/${known}`)))
        found = text;
    return found;
  }

  link(path: string, target: string): void {
    if (this.#links.size < MAX_LINKS && path !== target) this.#links.set(path.replace(/\/$/, ''), target);
  }

  /** Where `path` leads through the model's own links; `path` itself where there are none. */
  resolve(path: string): string {
    let at = path;
    for (let hops = 0; hops < 8; hops++) {
      const link = [...this.#links].find(([name]) => at === name || at.startsWith(`${name}/`));
      if (!link) return at;
      const rest = at.slice(link[0].length);
      at = normalizePath(link[1] + rest, link[0].slice(0, Math.max(0, link[0].lastIndexOf('/'))));
    }
    return at;
  }
}
