/** Variables and the working directory while a script is read from top to bottom. */
export interface Scope {
  variables: Map<string, string>;
  /** '' while unknown: relative paths then stay relative. */
  cwd: string;
  /** Characters that variables may still expand to. */
  room: number;
  /** Which word of each `for` loop is taken: the script is read once per word. */
  pick: number;
  /** Words of the longest `for` loop seen. */
  loopWords: number;
  /** Files that `exec` left open, by number. */
  descriptors: Descriptors;
  /** Paths that `exec` opened for writing, by number. */
  outputs: ReadonlyMap<string, string>;
}

/** Texts of open files that are known, by number; asked for when the script has been read. */
export type Descriptors = ReadonlyMap<string, () => string | null>;

const MAX_VALUE = 4000;

export function assign(scope: Scope, name: string, value: string): void {
  if (scope.variables.size < 500) scope.variables.set(name, value.slice(0, MAX_VALUE));
}

/** Absolute where possible; `//`, `/./` and `/x/../` folded. */
export function normalizePath(path: string, cwd = ''): string {
  const joined = (path.startsWith('/') || path.startsWith('~') || !cwd ? path : `${cwd}/${path}`).replace(
    /^\/proc\/(?:self|thread-self|\d{1,7})\/root(?=\/)/,
    '',
  );
  if (joined.length > 4096) return joined.slice(0, 4096);
  const out: string[] = [];
  for (const part of joined.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && out.length > 0 && out.at(-1) !== '..') out.pop();
    else if (part !== '..' || !joined.startsWith('/')) out.push(part);
  }
  return (
    (joined.startsWith('/') ? '/' : '') +
    out.join('/') +
    (joined.length > 1 && joined.endsWith('/') && out.length > 0 ? '/' : '')
  );
}
