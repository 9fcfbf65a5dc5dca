/** Personal data: e-mail, user names in home paths and prompts, addresses, cards. */

import { ibanValid, luhn } from './checksums.js';
import { matchesOf } from './matches.js';
import type { Span } from './span.js';

const EMAIL =
  /(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9-])/g;
const HOME =
  /(?:\/home\/|\/Users\/|\/mnt\/[a-z]\/Users\/|\/export\/home\/|(?<=[A-Za-z]:)(?:\\{1,8}|\/)Users(?:\\{1,8}|\/)|pytest-of-|\/run\/user\/(?=[a-z]))([A-Za-z][A-Za-z0-9._-]{0,31})(?![A-Za-z0-9._-])/g;
const SLUG = /(?<![A-Za-z0-9])-{1,2}(?:Users|home)-([A-Za-z][A-Za-z0-9._]{0,31})(?=-)/g;
const PROMPT =
  /(?:^|\n|\s|\()([a-z][a-z0-9._-]{1,31})@([A-Za-z][A-Za-z0-9-]{1,62})(?:[: ][~/][^\n$#]{0,200}|:~?)[$#%]/g;
const GIT_PERSON =
  /(?:^|\n)(?:Author|Committer|Signed-off-by|Co-authored-by|Reviewed-by|From|Tagger):[ \t]{1,8}([^<>\n]{2,80}?)[ \t]{1,4}</gi;
const GIT_NAME =
  /\b(?:user\.name|GIT_(?:AUTHOR|COMMITTER)_NAME)[ =:]{1,4}["']?([A-Z][\p{L}'.-]{1,30}(?: [A-Z][\p{L}'.-]{1,30}){1,3})/gu;
const IPV4 = /(?<![\w.-])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\w-]|\.\d)/g;
const MAC = /(?<![0-9A-Fa-f:-])[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![0-9A-Fa-f:-])/g;
const CARD = /(?<![\w.-])[3-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w.-])/g;
const IBAN = /(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){3,7}(?:[ ]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g;
const PHONE = /(?<![\w+.])\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{2,4}(?:[ .-]\d{2,8}){1,4}(?![\w.])/g;

/** Accounts that belong to nobody. */
const SHARED_USERS = new Set(
  'user users you username your-name runner ubuntu debian node app root admin linuxbrew shared public default guest vagrant circleci jenkins git ec2-user dev test docker vscode codespace coder me name home work user1 user2 user3 someone example build builder agent opencode hermes pi nobody'.split(
    ' ',
  ),
);
const SAFE_DOMAIN =
  /@(?:(?:[\w-]+\.)*example\.(?:com|org|net)|(?:[\w-]+\.)*(?:example|test|invalid|localhost|local)|users\.noreply\.github\.com|sentry\.io|git\.kernel\.org)$/i;
const SAFE_LOCAL =
  /^(?:noreply|no-reply|git|hg|svn|support|info|hello|contact|security|admin|root|postmaster|user|you|name|email|me|test|foo|bar|npm|bot|actions|dependabot)@|\[bot\]/i;
const FILE_SUFFIX =
  /\.(?:png|jpe?g|gif|svg|webp|js|ts|tsx|jsx|css|json|py|rs|go|md|ya?ml|toml|service|target|socket|so|lock|txt|html?|sh|plist|mount|timer)$/i;

export function isSharedUser(name: string): boolean {
  return SHARED_USERS.has(name.toLowerCase()) || /^(?:user|person)\d{1,4}$/.test(name);
}

export function findPersonal(text: string): Span[] {
  const out: Span[] = [];
  const add = (start: number, value: string, family: string): void => {
    out.push({ start, end: start + value.length, family, certainty: 'personal', value });
  };
  if (text.includes('@')) {
    for (const match of matchesOf(EMAIL, text)) {
      const before = text.slice(Math.max(0, match.index - 3), match.index);
      const after = text.slice(match.index + match[0].length, match.index + match[0].length + 2);
      if (
        SAFE_DOMAIN.test(match[0]) ||
        SAFE_LOCAL.test(match[0]) ||
        FILE_SUFFIX.test(match[0]) ||
        before.endsWith('://') ||
        before.endsWith('/') ||
        /^:[\w/~]/.test(after)
      )
        continue;
      add(match.index, match[0], 'email');
    }
    for (const match of matchesOf(PROMPT, text))
      if (!isSharedUser(match[1]!)) add(match.index + match[0].indexOf(match[1]!), match[1]!, 'user');
  }
  for (const regex of [HOME, SLUG])
    for (const match of matchesOf(regex, text)) {
      const name = match[1]!.replace(/\.+$/, '');
      if (!isSharedUser(name) && name.length > 1) add(match.index + match[0].length - match[1]!.length, name, 'user');
    }
  for (const regex of [GIT_PERSON, GIT_NAME])
    for (const match of matchesOf(regex, text)) {
      const name = match[1]!.trim();
      if (!/bot|github|noreply|^name$|^person\d{1,4}$/i.test(name) && /[a-z]/i.test(name))
        add(match.index + match[0].indexOf(match[1]!), name, 'person');
    }
  for (const match of matchesOf(IPV4, text))
    if (isPersonalIp(match[0], text.slice(Math.max(0, match.index - 24), match.index)))
      add(match.index, match[0], 'ip');
  for (const match of matchesOf(MAC, text))
    if (!/^(?:00[:-]){5}|^(?:ff[:-]){5}|^02[:-]00[:-]00/i.test(match[0])) add(match.index, match[0], 'mac');
  for (const match of matchesOf(CARD, text)) {
    const digits = match[0].replace(/\D/g, '');
    if (digits.length >= 13 && digits.length <= 19 && luhn(digits) && isCardPlace(text, match.index, match[0]))
      add(match.index, match[0], 'card');
  }
  for (const match of matchesOf(IBAN, text))
    if (ibanValid(match[0].replaceAll(' ', ''))) add(match.index, match[0], 'iban');
  for (const match of matchesOf(PHONE, text))
    if (!/^\+1[ .-]?555/.test(match[0]) && match[0].replace(/\D/g, '').length >= 9) add(match.index, match[0], 'phone');
  return out;
}

/** Not loopback, unspecified, documentation, multicast, or a version number. Well-known public resolvers are not personal. */
function isPersonalIp(ip: string, before: string): boolean {
  if (
    /^(?:0|127|255|22[4-9]|23\d)\.|^192\.0\.2\.|^198\.51\.100\.|^203\.0\.113\.|^169\.254\.169\.254$|^(?:1\.1\.1\.1|1\.0\.0\.1|8\.8\.8\.8|8\.8\.4\.4|9\.9\.9\.9)$|\.0\.0(?:\.0)?$|^172\.17\.0\.|^10\.0\.[02]\./.test(
      ip,
    )
  )
    return false;
  return !/(?:version|ver|release|assembly|v|==|>=|build|sdk|chrome\/|oid|section)["'(:= ]{0,4}$/i.test(before);
}

/** Written in groups, or behind a word for a card; the processors' published test numbers are nobody's. */
function isCardPlace(text: string, index: number, number: string): boolean {
  if (/^(?:4242|4111|4000|5555|3782|6011|3056)/.test(number)) return false;
  return /[ -]/.test(number) || /(?:card|pan|cc_?num)["'\s:=]{1,6}$/i.test(text.slice(Math.max(0, index - 20), index));
}
