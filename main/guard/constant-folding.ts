/** Folds constant string expressions of Python, JavaScript, Perl, Ruby and PHP, so that a spelled-out name can be seen. */

const MAX_FOLDED = 400_000;

type Fold = [pattern: RegExp, by: string | ((...parts: string[]) => string)];

/** Each replaces one kind of expression by the literal it comes to. */
const FOLDS: Fold[] = [
  [
    /(["'])([^"'\\\n]{0,20})\1\s*\.join\(\s*[[(]([^\])\n]{0,500})[\])]\s*,?\s*\)/g,
    (_, q: string, glue: string, list: string) => q + strings(list).join(glue) + q,
  ],
  [
    /\[([^\]\n]{1,500})\]\s{0,4}\.join\(\s{0,4}(["'])([^"'\\\n]{0,20})\2\s{0,4}\)/g,
    (_, list: string, q: string, glue: string) => q + strings(list).join(glue) + q,
  ],
  [/os\.sep\.join\(\s{0,4}[[(]([^\])\n]{0,500})[\])]\s{0,4}\)/g, (_, list: string) => `"${strings(list).join('/')}"`],
  [
    /os\.path\.join\(([^()\n]{0,500})\)/g,
    (all, list: string) => (/^\s*['"]/.test(list) ? `"${strings(list).join('/')}"` : all),
  ],
  [/(?<=[^\\])(["'])[ \t]*(?:\+|\.)[ \t]*[bfru]?\1/g, ''],
  [/"([^"'\\\n]{0,2000})"[ \t]*\+[ \t]*[bfru]?'([^"'\\\n]{0,2000})'/g, '"$1$2"'],
  [/'([^"'\\\n]{0,2000})'[ \t]*\+[ \t]*[bfru]?"([^"'\\\n]{0,2000})"/g, "'$1$2'"],
  [
    /\bcodecs\.(?:de|en)code\(\s?(["'])([^"'\\\n]{1,2000})\1\s?,\s?["']rot_?13["']\s?\)/g,
    (_, q: string, body: string) => q + rot13(body) + q,
  ],
  [
    /\b(?:chr|String\.fromCharCode)\(\s{0,4}((?:0x)?[0-9a-f]{1,5}(?:\s?,\s?(?:0x)?[0-9a-f]{1,5}){0,300})\s{0,4}\)/gi,
    (_, list: string) =>
      `"${list
        .split(',')
        .map((code) => String.fromCharCode(Number(code)))
        .join('')
        .replace(/["\\\n]/g, '')}"`,
  ],
  [/(["'])([^"'\\\n]{1,2000})\1\[::-1\]/g, (_, q: string, body: string) => q + [...body].reverse().join('') + q],
  [
    /(["'])([^"'\\\n]{1,2000})\1\.split\(\s?["']{2}\s?\)\.reverse\(\)\.join\(\s?["']{2}\s?\)/g,
    (_, q: string, body: string) => q + [...body].reverse().join('') + q,
  ],
  [
    /\bbytes\.fromhex\(\s?(["'])([0-9a-f ]{2,4000})\1\s?\)(?:\.decode\(\))?|\bBuffer\.from\(\s?(["'])([0-9a-f]{2,4000})\3\s?,\s?["']hex["']\s?\)(?:\.toString\(\))?/gi,
    (_, _q, a: string | undefined, _r, b: string | undefined) =>
      `"${Buffer.from((a ?? b ?? '').replaceAll(' ', ''), 'hex')
        .toString('utf8')
        .replace(/["\\\n]/g, '')}"`,
  ],
  [
    /(["'])([^"'\\\n]{1,1000})\1\.replace\(\s?(["'])([^"'\\\n]{1,100})\3\s?,\s?(["'])([^"'\\\n]{0,100})\5\s?\)/g,
    (_, q: string, body: string, _q, what: string, _r, by: string) => q + body.replaceAll(what, by).slice(0, 4000) + q,
  ],
  [
    /(["'])([^"'\\\n]{1,1000})\1\s?%\s?\(?((?:\s?["'][^"'\\\n]{0,300}["']\s?,?){1,20})\)?/g,
    (_, q: string, body: string, list: string) => q + fill(body, /%s/g, strings(list)) + q,
  ],
  [
    /(["'])([^"'\\\n]{1,1000})\1\.format\(((?:\s?["'][^"'\\\n]{0,300}["']\s?,?){1,20})\)/g,
    (_, q: string, body: string, list: string) => q + fill(body, /\{\d?\}/g, strings(list)) + q,
  ],
  [
    /\b(?:pathlib\.)?(Path|PurePath)\(\s?(["'])([^"'\\\n]{1,300})\2\s?\)\s?\/\s?["']([^"'\\\n]{1,300})["']/g,
    (_, name: string, q: string, a: string, b: string) => `${name}(${q}${a}/${b}${q})`,
  ],
  [
    /\b(?:path\.(?:join|resolve)|(?:pathlib\.)?Path|File\.join)\(((?:\s?["'][^"'\\\n]{0,300}["']\s?,){1,20}\s?["'][^"'\\\n]{0,300}["']\s?)\)/g,
    (all, list: string) => `${/^(?:pathlib\.)?Path/.test(all) ? 'Path' : ''}("${strings(list).join('/')}")`,
  ],
];

/** Joins `"a" + "b"`, `".".join([...])`, `os.path.join(...)` and names bound to one literal. Three rounds are enough. */
export function foldStrings(source: string): string {
  const bound = new Map<string, string>();
  let text = source;
  for (let round = 0; round < 3; round++) {
    const before = text;
    for (const [pattern, by] of FOLDS)
      text = typeof by === 'string' ? text.replace(pattern, by) : text.replace(pattern, by);
    for (const match of text.matchAll(
      /(?:^|[\s;(])(?:const |let |var )?([A-Za-z_]\w{0,40})[ \t]*=[ \t]*(["'])([^"'\\\n]{1,300})\2(?=\s*(?:[;\n)]|$))/g,
    ))
      if (bound.size < 200) bound.set(match[1]!, match[3]!);
    if (bound.size > 0)
      text = text
        .replace(/(["'])[ \t]*\+[ \t]*([A-Za-z_]\w{0,40})\b(?![(.[])/g, (all, q: string, name: string) =>
          bound.has(name) ? `${bound.get(name)}${q}` : all,
        )
        .replace(/\{([A-Za-z_]\w{0,40})\}/g, (all, name: string) => bound.get(name) ?? all);
    if (text === before || text.length > MAX_FOLDED) break;
  }
  return text;
}

export function strings(list: string): string[] {
  return [...list.matchAll(/(["'])((?:(?!\1)[^\\\n])*)\1/g)].map((m) => m[2]!);
}

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (c) => String.fromCharCode(c.charCodeAt(0) + (c.toLowerCase() < 'n' ? 13 : -13)));
}

/** `body` with the holes that `hole` finds filled one after the other. */
function fill(body: string, hole: RegExp, values: string[]): string {
  let next = 0;
  return body.replace(hole, (all) => values[next++] ?? all);
}
