/** Facts about source text an interpreter is told to run: shell it starts, files it writes, hosts it contacts. */
import { urlHosts } from './hosts.js';

export interface CodeFacts {
  /** The text with literal concatenations folded. */
  text: string;
  shell: string[];
  /** Paths in a position that writes, or next to any writing call. */
  writes: string[];
  /** Every literal that looks like a path. */
  paths: string[];
  hosts: string[];
}

const MAX_CODE = 200_000;
const LITERAL =
  /(?<![\w])[rbfu]{0,2}(?:"((?:[^"\\\n]|\\[\s\S]){0,2000})"|'((?:[^'\\\n]|\\[\s\S]){0,2000})'|`((?:[^`\\]|\\[\s\S]){0,2000})`)/g;
const WRITES =
  /open\s*\([^)\n]{0,300}['"](?:[rb]?[wax][b+t]*|r\+b?|>{1,2})['"]|write_text|write_bytes|writeFile|appendFile|createWriteStream|copyFile|shutil\.|os\.(?:rename|replace|remove|unlink|symlink|link)|\.(?:rename|replace|unlink|symlink_to|touch)\(|File\.write|fs\.(?:rename|cp|rm|unlink|symlink)|copy\(|rmtree|O_WRONLY|O_RDWR|print[^\n]{0,200}>\s{0,4}"/;
const STARTS_SHELL =
  /os\.system|os\.popen|subprocess|getoutput|check_output|child_process|execSync|exec\(|spawn|system\(|Popen|`|pty\.|qx/;
const NETWORK =
  /urllib|urlopen|requests\b|httpx|aiohttp|http\.client|\bsocket\b|ftplib|smtplib|fetch\s*\(|axios|https?\.(?:get|request)|\bgot\s*\(|undici|Net::HTTP|LWP|open-uri|URI\.open|XMLHttpRequest|WebSocket|tls\.connect|net\.connect|git clone|curl|wget/;
const HOST_ARGUMENT =
  /(?:create_connection|connect|HTTPS?Connection|FTP|gethostbyname|getaddrinfo)\s*\(\s*\(?\s*['"]([\w.-]{3,253})['"]/g;

export function codeFacts(source: string): CodeFacts {
  const text = foldStrings(source.slice(0, MAX_CODE));
  const literals = [...text.matchAll(LITERAL)].map((m) => unescapeLiteral(m[1] ?? m[2] ?? m[3] ?? ''));
  const decoded = literals.map(decodeBase64).filter((value) => value !== null);
  const paths = literals.filter(
    (value) => /^[~./]|^[\w.-]+\.[\w.]{1,8}$|\//.test(value) && value.length < 1000 && !value.includes('\n'),
  );
  const runs = STARTS_SHELL.test(text);
  const hosts = new Set<string>();
  if (NETWORK.test(text)) {
    for (const host of urlHosts(text)) hosts.add(host);
    for (const value of decoded) for (const host of urlHosts(value)) hosts.add(host);
    for (const match of text.matchAll(HOST_ARGUMENT)) hosts.add(match[1]!.toLowerCase());
  }
  return {
    text: [text, ...decoded, ...literals.filter((value) => value.includes('\n'))].join('\n'),
    shell: runs ? [...literals, ...argumentLists(text), ...decoded].filter((value) => /[\s/]/.test(value)) : decoded,
    writes: WRITES.test(text) ? paths : [],
    paths,
    hosts: [...hosts],
  };
}

/** Joins `"a" + "b"`, `".".join([...])`, `os.path.join(...)` and names bound to one literal. Three rounds are enough. */
function foldStrings(source: string): string {
  const bound = new Map<string, string>();
  let text = source;
  for (let round = 0; round < 3; round++) {
    const before = text;
    text = text
      .replace(
        /(["'])([^"'\\\n]{0,20})\1\s*\.join\(\s*[[(]([^\])\n]{0,500})[\])]\s*,?\s*\)/g,
        (_, q: string, glue: string, list: string) => q + strings(list).join(glue) + q,
      )
      .replace(
        /\[([^\]\n]{1,500})\]\s{0,4}\.join\(\s{0,4}(["'])([^"'\\\n]{0,20})\2\s{0,4}\)/g,
        (_, list: string, q: string, glue: string) => q + strings(list).join(glue) + q,
      )
      .replace(
        /os\.sep\.join\(\s{0,4}[[(]([^\])\n]{0,500})[\])]\s{0,4}\)/g,
        (_, list: string) => `"${strings(list).join('/')}"`,
      )
      .replace(/os\.path\.join\(([^()\n]{0,500})\)/g, (all, list: string) =>
        /^\s*['"]/.test(list) ? `"${strings(list).join('/')}"` : all,
      )
      .replace(/(?<=[^\\])(["'])[ \t]*\+[ \t]*[bfru]?\1/g, '');
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
    if (text === before || text.length > 2 * MAX_CODE) break;
  }
  return text;
}

function strings(list: string): string[] {
  return [...list.matchAll(/(["'])((?:(?!\1)[^\\\n])*)\1/g)].map((m) => m[2]!);
}

/** `["bash", "-c", "rm x"]` -> the words, quoted again. */
function argumentLists(text: string): string[] {
  return [...text.matchAll(/\[\s*((?:["'][^"'\]]{0,1000}["']\s*(?:,\s*)?){1,50})\]/g)].map((m) =>
    strings(m[1]!)
      .map((word) => `'${word}'`)
      .join(' '),
  );
}

function unescapeLiteral(body: string): string {
  return body.replace(/\\(x[0-9a-fA-F]{2}|[\s\S])/g, (_, sequence: string) =>
    sequence.length === 3
      ? String.fromCharCode(Number.parseInt(sequence.slice(1), 16))
      : ({ n: '\n', t: '\t', '\n': '' }[sequence] ?? sequence),
  );
}

/** Printable text behind base64 of 12 characters or more, else null. */
function decodeBase64(value: string): string | null {
  if (value.length < 12 || value.length % 4 === 1 || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return null;
  const text = Buffer.from(value, 'base64').toString('utf8');
  return /^[\t\n\r -~]+$/.test(text) ? text : null;
}
