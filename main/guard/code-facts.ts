/** Facts about source text an interpreter is told to run: shell it starts, files it writes, hosts it contacts. */
import { foldStrings, strings } from './constant-folding.js';
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
  /** Files it imports or executes. */
  runs: string[];
  /** Links it makes: name, target. */
  links: [string, string][];
  /** The text with constant expressions folded, nothing added. */
  folded: string;
}

const MAX_CODE = 200_000;
const LITERAL =
  /(?<![\w])[rbfu]{0,2}(?:"((?:[^"\\\n]|\\[\s\S]){0,2000})"|'((?:[^'\\\n]|\\[\s\S]){0,2000})'|`((?:[^`\\]|\\[\s\S]){0,2000})`)/g;
const WRITES =
  /open\s*\([^)\n]{0,300}['"](?:[rb]?[wax][b+t]*|r\+b?|>{1,2})['"]|write_text|write_bytes|writeFile|appendFile|createWriteStream|copyFile|shutil\.|os\.(?:rename|replace|remove|unlink|symlink|link)|\.(?:rename|replace|unlink|symlink_to|touch)\(|File\.write|fs\.(?:rename|cp|rm|unlink|symlink)|copy\(|rmtree|O_WRONLY|O_RDWR|print[^\n]{0,200}>\s{0,4}"/;
const STARTS_SHELL =
  /os\.system|os\.popen|subprocess|getoutput|check_output|child_process|execSync|exec\(|spawn|system\(|Popen|`|pty\.|qx/;
const NETWORK =
  /urllib|urlopen|requests\b|httpx|aiohttp|http\.client|\bsocket\b|ftplib|smtplib|fetch\s*\(|axios|https?\.(?:get|request)|\bgot\s*\(|undici|Net::HTTP|LWP|open-uri|URI\.open|XMLHttpRequest|WebSocket|tls\.connect|net\.connect|git clone|curl|wget|file_get_contents|fsockopen|IO::Socket|TCPSocket|UNIXSocket|Net::FTP|reqwest|net\.Dial|Invoke-WebRequest|pycurl|paramiko|asyncio\.open_connection/;
const LINK = /\b(?:sym)?link(?:Sync)?\s{0,4}\(\s{0,4}(["'])([^"'\n]{1,400})\1\s{0,4},\s{0,4}(["'])([^"'\n]{1,400})\3/g;
const HOST_ARGUMENT =
  /(?:create_connection|connect|HTTPS?Connection|FTP|gethostbyname|getaddrinfo|fsockopen|TCPSocket\.(?:new|open)|INET->new|Net::HTTP\.(?:new|start)|open_connection|Net::FTP\.(?:new|open))\s*\(\s*\(?\s*(?:PeerAddr\s*=>\s*|PeerHost\s*=>\s*)?['"](?:tcp:\/\/|ssl:\/\/)?([\w.-]{3,253})(?::\d{1,5})?['"]/g;

export function codeFacts(source: string): CodeFacts {
  const text = foldStrings(source.slice(0, MAX_CODE));
  const found = literalsOf(text);
  const raw = source.slice(0, MAX_CODE);
  // Folding works on the outer text; what stands escaped inside a literal is read from the text as it was.
  const literals = text === raw ? found : [...new Set([...found, ...literalsOf(raw)])];
  const decoded = literals.flatMap(decodings);
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
    runs: runsOf(text, paths),
    links: [...text.matchAll(LINK)].map((m): [string, string] => [m[4]!, m[2]!]),
    folded: text,
  };
}

/** Names a file that is run: `exec(open(p).read())`, `import name`, `require('./x')`. */
function runsOf(text: string, paths: string[]): string[] {
  const modules = [
    ...text.matchAll(/^\s{0,40}(?:import|from)\s{1,4}([A-Za-z_][\w.]{0,80})|(?<=;\s?)import\s([A-Za-z_][\w.]{0,80})/gm),
  ].map((m) => `${(m[1] ?? m[2])!.replaceAll('.', '/')}.py`);
  const direct = /\b(?:exec|eval|runpy|compile|require|import|load|source|do)\b/.test(text) ? paths : [];
  return [...modules.slice(0, 50), ...direct.slice(0, 50)];
}

function literalsOf(text: string): string[] {
  return [...text.matchAll(LITERAL)].map((m) => unescapeLiteral(m[1] ?? m[2] ?? m[3] ?? ''));
}

/** Text behind base64, hex or reversed spelling, where it is printable. */
function decodings(value: string): string[] {
  const found = [decodeBase64(value)];
  if (value.length >= 12 && value.length % 2 === 0 && /^[0-9a-f]+$/i.test(value))
    found.push(Buffer.from(value, 'hex').toString('utf8'));
  return found.filter((text): text is string => text !== null && /^[\t\n\r -~]+$/.test(text));
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
