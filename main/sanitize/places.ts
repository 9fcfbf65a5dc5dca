/** Secrets and names known by the place they stand in: command-line flags, listings, dumps, key files of single tools. */
import { matchesOf } from './matches.js';
import { isSharedUser } from './personal.js';
import type { Certainty, Span } from './span.js';
import { isPasswordValue, isTokenValue } from './value-gates.js';

type Gate = (value: string) => boolean;
interface Place {
  family: string;
  certainty: Certainty;
  /** The value is the first group, and ends the match unless `d` indices say otherwise. */
  regex: RegExp;
  accept: Gate;
}

const always: Gate = () => true;
const password: Gate = (value) => isPasswordValue(value, true);
const token: Gate = (value) => isTokenValue(value);
const person: Gate = (value) => !isSharedUser(value) && !/^\d+$/.test(value);

const PLACES: Place[] = [
  place('password', 'block', /\bsshpass\s{1,4}-p\s{0,4}["']?([^\s"'\\]{4,200})/dg, password),
  place(
    'password',
    'block',
    /\b(?:mysql|mysqldump|mariadb|mysqladmin)\b[^\n|;]{0,200}\s-p([^\s"'\\]{6,200})/dg,
    password,
  ),
  place(
    'password',
    'block',
    /\b(?:docker|podman|helm|oras|az|buildah)\b[^\n|;]{0,80}\blogin\b[^\n|;]{0,200}\s(?:-p|--password)[ =]["']?([^\s"'\\]{6,2000})/dg,
    password,
  ),
  place('password', 'block', /\b(?:pass|pw|pwd)[ ]?[=:][ ]?["']?([^\s"'\\,;&]{8,200})/dgi, (value) =>
    isPasswordValue(value, false),
  ),
  place(
    'generic-secret',
    'block',
    /\b(?:secret|variable|secrets)\s{1,4}set\s{1,4}[A-Z][A-Z0-9_]{2,60}\s[^\n]{0,60}?(?:--body|-b)[ =]\\{0,4}["']?([^\s"'\\]{12,4000})/dg,
    token,
  ),
  place(
    'generic-secret',
    'block',
    /name:[ ]{1,4}["']?[A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PAT|PASSWORD)["']?(?:\\n|\n)[ ]{1,40}value:[ ]{1,4}["']?([^\s"'\\]{8,4000})/dg,
    (value) => isTokenValue(value) || isPasswordValue(value, false),
  ),
  place(
    'wireguard-private-key',
    'block',
    /\b(?:PrivateKey|PresharedKey)\s{0,4}[=:]\s{0,4}([A-Za-z0-9+/]{43}=)/dg,
    always,
  ),
  place(
    'wireguard-private-key',
    'block',
    /\bWG_(?:PRIVATE|PRESHARED)_KEY["']?\s{0,4}[=:]\s{0,4}["']?([A-Za-z0-9+/]{43}=)/dg,
    always,
  ),
  place('jwk-private', 'block', /"(?:d|p|q|dp|dq|qi)"\s{0,4}:\s{0,4}"([A-Za-z0-9_-]{40,1200})"/dg, always),
  place('kubeconfig-key', 'block', /\bclient-key-data["']?:[ ]{0,4}["']?([A-Za-z0-9+/=]{40,20000})/dg, always),
  place(
    'k8s-secret-data',
    'block',
    /\b(?:password|passwd|token|secret|api-key|apikey)["']?:[ ]{1,4}["']?([A-Za-z0-9+/]{8,2000}={0,2})(?=["'\s\\]|$)/dg,
    base64Text,
  ),
  place('password-hash', 'block', /(?<=[:\s"'])(\$(?:1|2[aby]|5|6|y|apr1)\$[A-Za-z0-9./$]{20,200})/dg, always),
  place(
    'pgpass',
    'block',
    /(?:^|\n)[\w.*-]{1,200}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*-]{1,60}:([^\s:]{6,200})(?=\n|$)/dg,
    password,
  ),
  place(
    'seed-phrase',
    'block',
    /\b(?:mnemonic|seed[ _]phrase|recovery[ _]phrase)["']?\s{0,4}[=:]\s{0,4}\\{0,4}["']?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b/dgi,
    always,
  ),
  place('ssn', 'personal', /(?<![\d-])((?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4})(?![\d-])/dg, always),
  place('windows-sid', 'personal', /\bS-1-5-21-(\d{6,10}-\d{6,10}-\d{6,10})-\d{3,6}\b/dg, always),
  place(
    'serial',
    'personal',
    /\b(?:Serial Number(?: \(system\))?|serialnumber|Hardware UUID|machine-id|Machine ID|Boot ID):\s{1,8}([A-Za-z0-9-]{8,40})/dgi,
    always,
  ),
  place(
    'host',
    'personal',
    /\b(?:Static hostname|hostname|HOSTNAME|COMPUTERNAME|ComputerName|LocalHostName)\s{0,4}[:=]\s{0,4}([A-Za-z][A-Za-z0-9-]{2,62})(?![\w.(])/dg,
    (value) => !/^(?:localhost|hostname|string|host|name|true|false|null|db|redis|postgres)$/i.test(value),
  ),
  place(
    'host',
    'personal',
    /(?:^|\n)(?:Linux|Darwin) ([A-Za-z][A-Za-z0-9.-]{2,62}) \d{1,2}\.\d{1,3}\./dg,
    (value) => value !== 'localhost',
  ),
  place(
    'host',
    'personal',
    /\bconnect to host ([A-Za-z0-9][A-Za-z0-9.-]{2,200}) port \d/dg,
    (value) => !/example|localhost|github|gitlab/.test(value),
  ),
  place(
    'user',
    'personal',
    /(?:^|\n)[bcdlps-][rwxsStT-]{9}[@+.]?\s{1,6}\d{1,5}\s{1,4}([A-Za-z][\w.-]{1,31})\s/dg,
    person,
  ),
  place('user', 'personal', /\b(?:uid|gid|euid)=\d{3,6}\(([A-Za-z][\w.-]{1,31})\)/dg, person),
  place(
    'user',
    'personal',
    /(?:^|\n|\s)(?:USER|LOGNAME|USERNAME|SUDO_USER)=["']?([A-Za-z][\w.-]{1,31})(?=["'\s\\]|$)/dg,
    person,
  ),
  place('user', 'personal', /\bLogged in to \S{3,80} (?:account|as) ([A-Za-z][\w-]{1,38})\b/dg, person),
  place('user', 'personal', /github\.com:(?:\n|\\n)\s{1,8}user:[ ]{1,4}([A-Za-z][\w.-]{1,38})/dg, person),
  place(
    'user',
    'personal',
    /\\wsl(?:\$|\.localhost)\\{1,4}[\w.-]{1,40}\\{1,4}home\\{1,4}([A-Za-z][\w.-]{1,31})/dgi,
    person,
  ),
  place(
    'user',
    'personal',
    /(?:^|\n)([a-z][a-z0-9._-]{1,31})@[A-Za-z][A-Za-z0-9-]{1,62}[: ][^\n$#%]{0,120}[$#%] /dg,
    person,
  ),
  place(
    'user',
    'personal',
    /\b(?:ssh|scp|rsync|sftp)\b[^\n|;]{0,200}?\s([a-z][a-z0-9._-]{1,31})@[\w.-]{2,200}(?=[:\s]|$)/dg,
    person,
  ),
  place(
    'host',
    'personal',
    /(?:^|\n)[a-z][a-z0-9._-]{1,31}@([A-Za-z][A-Za-z0-9-]{2,62})[: ][^\n$#%]{0,120}[$#%] /dg,
    (value) => value !== 'localhost',
  ),
  place('person', 'personal', /"author":\s{0,4}"([A-Z][\p{L}'.-]{1,30}(?: [A-Z][\p{L}'.-]{1,30}){1,3}) </dgu, always),
  place('person', 'personal', /\bSigned-off-by: ([A-Z][^<>\n"]{2,60}?) </dg, (value) => !/bot/i.test(value)),
  place(
    'person',
    'personal',
    /(?:^|\n)\s{1,6}\d{1,6}\t([A-Z][\p{L}'.-]{1,30}(?: [A-Z][\p{L}'.-]{1,30}){1,3})(?=\n|$)/dgu,
    always,
  ),
];

function place(family: string, certainty: Certainty, regex: RegExp, accept: Gate): Place {
  return { family, certainty, regex, accept };
}

function base64Text(value: string): boolean {
  if (!/\d|[A-Z]/.test(value) || value.length % 4 === 1) return false;
  const text = Buffer.from(value, 'base64').toString('latin1');
  return (
    text.length >= 6 &&
    /^[ -~]+$/.test(text) &&
    Buffer.from(text, 'latin1').toString('base64').replace(/=+$/, '') === value.replace(/=+$/, '')
  );
}

/** Ansible vault bodies, line by line. */
function vaultLines(text: string): Span[] {
  const out: Span[] = [];
  for (const header of text.matchAll(/\$ANSIBLE_VAULT;[\w.;-]{1,60}/g)) {
    const from = header.index + header[0].length;
    for (const line of text.slice(from, from + 60_000).matchAll(/(?:\\n|\s){1,40}([0-9a-f]{20,120})/gy)) {
      const start = from + line.index + line[0].length - line[1]!.length;
      out.push({ start, end: start + line[1]!.length, family: 'ansible-vault', certainty: 'block', value: line[1]! });
    }
  }
  return out;
}

export function findPlaces(text: string): Span[] {
  const out = vaultLines(text);
  for (const { family, certainty, regex, accept } of PLACES)
    for (const match of matchesOf(regex, text)) {
      const range = match.indices?.[1];
      const value = match[1]!;
      if (range && accept(value) && !/^(?:REDACTED|user\d|person\d|host\d)/.test(value))
        out.push({ start: range[0], end: range[1], family, certainty, value });
    }
  return out;
}
