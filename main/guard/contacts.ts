/** Hosts that a simple command contacts when it runs. A URL that is only written, searched or printed is no contact. */
import { normalizeHost, urlHosts } from './hosts.js';
import { programOf, unwrap } from './interpret.js';
import type { ModelFiles } from './model-files.js';
import type { Command } from './shell.js';
import { normalizePath } from './shell-scope.js';

/** Programs that do not open what their words name. */
const QUIET = new Set(
  'echo printf grep egrep fgrep rg ag sed awk gawk cat head tail tee jq yq sort cut tr wc diff ls find test [ [[ export declare local cd cp mv rm touch mkdir date true false : for case set alias kill pkill pgrep chmod chown read basename dirname xxd base64 strings less more tput vim nano code gh crontab git make less perl ruby python python3 node'.split(
    ' ',
  ),
);
/** Clients whose first plain word is a host or a URL; the value: options that take a word which is no address. */
const CLIENTS = new Map<string, RegExp>(
  Object.entries({
    curl: /^(?:-[a-zA-Z]*[HdoXuAFbceTmwKrtCEQDyYzhU]|--(?:header|data.*|output|request|user|user-agent|form.*|cookie.*|referer|upload-file|max-time|write-out|config|range|cert|key|cacert|json|retry.*|connect-timeout|url-query|noproxy|dns-servers))$/,
    wget: /^(?:-[a-zA-Z]*[OoPUaeitTwQ]|--input-file|--(?:output-document|output-file|directory-prefix|user-agent|header|post-data|post-file|user|password|tries|timeout|method|body-data))$/,
    http: /^-/,
    https: /^-/,
    ssh: /^-[bcDEeFIiLlmOopQRSWw]$/,
    sftp: /^-[bcDFiloPRS]$/,
    telnet: /^-[belnSX]$/,
    nc: /^-[epqswWTIOPX]$/,
    ncat: /^-[epqswgG]$/,
    ping: /^-[cistWwIlmMpQTt]$/,
    dig: /^-[bcfkpqtxy]$/,
    nslookup: /^$/,
    host: /^-[cNRtmW]$/,
    traceroute: /^-[fgimpqsw]$/,
    nmap: /^-[pioSegTA]$/,
    whois: /^-[hp]$/,
    ftp: /^-[psT]$/,
    axel: /^-[no]$/,
    aria2c: /^-[doxsj]$/,
    lynx: /^$/,
    w3m: /^$/,
  }),
);
/** Options that name a file with addresses in it. */
const LIST_OPTION = new Map<string, RegExp>(
  Object.entries({
    curl: /^(?:-K|--config)$/,
    wget: /^(?:-i|--input-file)$/,
    aria2c: /^(?:-i|--input-file)$/,
  }),
);
/** Options whose value is itself an address that gets contacted. */
const ADDRESS_OPTION =
  /^(?:-x|--proxy|--preproxy|--socks[\w-]*|--url|--doh-url|-J|-i|--index-url|--extra-index-url|--registry|--proxy-server|-connect)$/;
const GIT_NETWORK = new Set(['clone', 'fetch', 'pull', 'push', 'ls-remote', 'remote', 'submodule', 'archive']);
const PROXY_NAME = /^(?:https?|all|ftp|socks)_proxy$/i;

export function commandHosts(command: Command, files: ModelFiles): string[] {
  const found = new Set<string>();
  const add = (host: string): void => {
    if (host) found.add(host);
  };
  const addUrls = (text: string): void => {
    for (const host of urlHosts(text)) add(host);
  };
  const argv = unwrap(command.argv);
  const program = programOf(argv);
  const words = argv.slice(1);

  for (const { target } of command.redirects) {
    const device = /^\/dev\/(?:tcp|udp)\/([^/]{1,253})\//.exec(target);
    if (device) add(normalizeHost(device[1]!));
  }
  const options = CLIENTS.get(program);
  if (argv.length > 0) {
    for (const [name, value] of [
      ...command.assignments,
      ...command.argv.filter((w) => /^\w+=/.test(w)).map((w) => split(w)),
    ])
      if (PROXY_NAME.test(name)) add(normalizeHost(value.replace(/^\w+:\/\//, '').split('/')[0]!));
  }
  const list = LIST_OPTION.get(program);
  if (list)
    for (const [i, word] of words.entries())
      if (list.test(word)) addUrls(files.get(normalizePath(words[i + 1] ?? '', command.cwd)) ?? '');
  if (options) clientHosts(program, words, options, add, addUrls);
  else if (program === 'git') gitHosts(words, add, addUrls);
  else if (program === 'scp' || program === 'rsync') {
    for (const word of words) add(scpHost(word));
    for (const word of words) addUrls(word);
  } else if (program === 'docker' || program === 'podman') {
    const image =
      words.includes('pull') || words.includes('push') || words[0] === 'login' || words.includes('run')
        ? words.slice(1).filter((w) => !w.startsWith('-'))
        : [];
    for (const word of image)
      if (/^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?\/[\w./:@-]+$/.test(word)) add(normalizeHost(word.split('/')[0]!));
  } else if (program === 'socat') {
    for (const word of words) {
      const address = /^(?:TCP[46]?|UDP[46]?|OPENSSL|SSL|SCTP|SOCKS4A?|PROXY)(?:-CONNECT)?:([^:,]{1,253})[:,]/i.exec(
        word,
      );
      if (address) add(normalizeHost(address[1]!));
    }
  } else if (!QUIET.has(program)) {
    for (const word of words)
      if (/^(?:--?[\w-]+=)?(?:[\w.@[\],-]+ ?@ ?)?[a-z][a-z0-9+.-]{1,15}:\/\//i.test(word)) addUrls(word);
    for (const [i, word] of words.entries()) if (ADDRESS_OPTION.test(word)) addUrls(words[i + 1] ?? '');
    const peer = /^[\w.-]+\.[a-z]{2,20}(?=:\d)/i.exec(words[words.indexOf('-connect') + 1] ?? '');
    if (words.includes('-connect') && peer) add(normalizeHost(peer[0]));
    for (const word of words) if (/^git@/.test(word)) add(scpHost(word));
  }
  return [...found];
}

function split(word: string): [string, string] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}

function clientHosts(
  program: string,
  words: string[],
  options: RegExp,
  add: (host: string) => void,
  addUrls: (text: string) => void,
): void {
  const many = program === 'curl' || program === 'wget' || program === 'ping' || program === 'dig';
  let hosts = 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (ADDRESS_OPTION.test(word) && !(word === '-i' && program !== 'pip')) {
      const value = words[++i] ?? '';
      add(normalizeHost(value.replace(/^\w+:\/\//, '').split('/')[0]!));
    } else if (word === '--resolve' || word === '--connect-to') {
      const pinned = /:(\d{1,3}(?:\.\d{1,3}){3}|[a-z][\w.-]*\.[a-z]+)(?::|,|$)/i.exec((words[++i] ?? '').slice(0, 300));
      if (pinned) add(pinned[1]!);
    } else if (options.test(word)) i++;
    else if (word.startsWith('-')) {
      const value = /^--(?:proxy|url|preproxy|socks[\w-]*)=(.+)$/.exec(word)?.[1];
      if (value) add(normalizeHost(value.replace(/^\w+:\/\//, '').split('/')[0]!));
    } else if (word.includes('://')) {
      addUrls(word);
      hosts++;
    } else if (many || hosts === 0) {
      hosts++;
      const host = normalizeHost(word.replace(/^@/, '').split(/[/?#]/)[0]!);
      if (host.includes('.') || host.includes(':')) add(host);
    }
  }
}

function gitHosts(words: string[], add: (host: string) => void, addUrls: (text: string) => void): void {
  let i = 0;
  for (; i < words.length && words[i]!.startsWith('-'); i++) {
    if (words[i] === '-c') {
      const [name, value] = split(words[++i] ?? '');
      if (/proxy|url\..*insteadof/i.test(name)) {
        addUrls(value);
        addUrls(name);
      }
    } else if (words[i] === '-C') i++;
  }
  if (!GIT_NETWORK.has(words[i] ?? '')) return;
  for (const word of words.slice(i + 1)) {
    if (word.includes('://')) addUrls(word);
    else add(scpHost(word));
  }
}

/** `user@host:path` or `host.tld:path`. */
function scpHost(word: string): string {
  const match = /^(?:[\w.-]{1,64}@)?([A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)+):(?!\/\/)/.exec(word.slice(0, 400));
  return match ? normalizeHost(match[1]!) : '';
}
