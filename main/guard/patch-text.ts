/** Files that a unified diff or an apply_patch text changes. */
const HEADER = /^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:\+\+\+|---) )([^\t\n]{1,500})/gm;

/** Paths with `strip` leading folders taken off, as `patch -pN` does; `null`: `a/` and `b/` are taken off if there. */
export function patchedPaths(text: string, strip: number | null = null): string[] {
  const paths = new Set<string>();
  for (const match of text.matchAll(HEADER)) {
    const name = match[1]!.trim();
    if (name === '' || name === '/dev/null') continue;
    if (strip === null || match[0].startsWith('***')) paths.add(name.replace(/^[ab]\//, ''));
    else paths.add(strip === 0 ? name : name.split('/').slice(strip).join('/'));
  }
  return [...paths];
}
