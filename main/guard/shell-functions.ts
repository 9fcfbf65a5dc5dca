/** Shell functions of a script: `name() { …; }`, so that a call can be read with its arguments. */
const HEAD =
  /(?:^|[\n;&|{(]|\bfunction\b)\s{0,8}([A-Za-z_][\w-]{0,60})\s{0,4}(?:\(\s{0,4}\)\s{0,8}|(?<=function\s{1,4}[\w-]{1,61}\s{0,4}))\{/g;
const MAX_FUNCTIONS = 50;

export function shellFunctions(script: string): Map<string, string> {
  const found = new Map<string, string>();
  if (!script.includes('{')) return found;
  for (const match of script.slice(0, 100_000).matchAll(HEAD)) {
    if (found.size >= MAX_FUNCTIONS) break;
    found.set(match[1]!, bodyAt(script, match.index + match[0].length));
  }
  return found;
}

/** Text from `start` to the brace that closes it, quotes respected; at most 5,000 characters. */
function bodyAt(script: string, start: number): string {
  let depth = 1;
  let quote = '';
  const end = Math.min(script.length, start + 5000);
  for (let at = start; at < end; at++) {
    const c = script[at]!;
    if (c === '\\' && quote !== "'") at++;
    else if (quote) quote = c === quote ? '' : quote;
    else if (c === "'" || c === '"') quote = c;
    else if (c === '{') depth++;
    else if (c === '}' && --depth === 0) return script.slice(start, at);
  }
  return script.slice(start, end);
}
