/** Credentials in URLs, headers and command-line flags. */
import { AnchorFlag } from '../scan/layout.js';
import { isPasswordValue, isTokenValue } from '../value-gates.js';
import { type Anchored, type Detector, lineStart, matchAt, type TextView } from './text-view.js';

const USER_INFO = /:\/\/([^\s/:@"'<>\\`]{0,200}):([^\s@"'<>`]{1,400})@(?=[\w[{$])/y;
const TOKEN_AS_USER = /:\/\/([A-Za-z0-9_.~%-]{20,300})@(?=[\w[])/y;
const NO_PASSWORD =
  /^[$<{%*[]|^(?:password|passwd|pass|secret|token|pw|pwd|user|port|x-oauth-basic|postgres|root|admin|guest|example|\*+|x+|redacted.*|\d{1,5}|\d{1,5}\/.*)$|\/\//i;

function add({ spans }: TextView, start: number, value: string, family: string): void {
  spans.push({ start, end: start + value.length, family, certainty: 'block', value });
}

/** `scheme://user:password@host`: the password goes, the user stays unless it is a person. */
const userInfo: Detector = (view, at) => {
  const match = matchAt(USER_INFO, view.text, at);
  if (match) {
    const value = match[2]!;
    const password = isPasswordValue(value, true) || (value.length >= 4 && !/^\d/.test(value));
    if (password && !NO_PASSWORD.test(value) && !value.includes('${'))
      add(view, at + match[0].length - 1 - value.length, value, 'url-password');
    if (isTokenValue(match[1]!) && match[1]!.length >= 20) add(view, at + 3, match[1]!, 'url-password');
    return;
  }
  const alone = matchAt(TOKEN_AS_USER, view.text, at);
  if (alone && isTokenValue(alone[1]!) && !publicDsn(view.text, at + alone[0].length))
    add(view, at + 3, alone[1]!, 'url-password');
};

/** Sentry's keys in browsers are public by design. */
function publicDsn(text: string, host: number): boolean {
  return /^[\w.-]{0,80}(?:sentry\.io|ingest\.[\w.]{0,20}sentry)/.test(text.slice(host, host + 120));
}

const CURL_USER =
  /(?:-u|--user|--proxy-user|--http-user)(?:[ =]{1,2}|(?=["']))\\{0,4}["']?([^\s:"'\\]{1,100}):([^\s"'\\]{3,300})/y;
const curlUser: Detector = (view, at) => {
  const match = matchAt(CURL_USER, view.text, at);
  if (match && isPasswordValue(match[2]!, true) && !/^\d{1,5}$/.test(match[2]!) && !/^\$/.test(match[2]!))
    add(view, at + match[0].length - match[2]!.length, match[2]!, 'password');
};

const COOKIES = /(?:[\w-]{0,12}cookie)s?["']?\s{0,4}[:=]\s{0,4}["']?([^\n"'\\]{4,4000})/iy;
/** What a cookie is called that identifies nobody by itself. */
const HARMLESS_COOKIE =
  /^(?:path|domain|expires|max-age|samesite|httponly|secure|version|comment|lang|locale|theme|tz|timezone)$/i;
const cookies: Detector = (view, at) => {
  const match = matchAt(COOKIES, view.text, at);
  if (!match) return;
  const from = at + match[0].length - match[1]!.length;
  for (const pair of match[1]!.matchAll(/([\w.-]{1,80})=([^;\s,]{8,2000})/g)) {
    if (HARMLESS_COOKIE.test(pair[1]!) || !isTokenValue(pair[2]!)) continue;
    const signed = /^s%3A|^s:/i.exec(pair[2]!)?.[0].length ?? 0;
    add(view, from + pair.index + pair[1]!.length + 1 + signed, pair[2]!.slice(signed), 'cookie');
  }
};

/** A cookie jar as curl writes it (Netscape): seven columns, the last one the value. */
const JAR_LINE =
  /[^\t\n]{1,200}\t(?:TRUE|FALSE)\t[^\t\n]{1,200}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,100}\t([^\s]{8,2000})/y;
const cookieJar: Detector = (view, at) => {
  const match = matchAt(JAR_LINE, view.text, lineStart(view.text, at, 300));
  if (match && isTokenValue(match[1]!)) add(view, JAR_LINE.lastIndex - match[1]!.length, match[1]!, 'cookie');
};

export const URLS: Anchored[] = [
  { anchors: '://', flags: 0, detector: userInfo },
  { anchors: '-u --user --proxy-user --http-user', flags: AnchorFlag.exactCase, detector: curlUser },
  { anchors: 'cookie', flags: 0, detector: cookies },
  { anchors: '\tTRUE\t \tFALSE\t', flags: AnchorFlag.exactCase, detector: cookieJar },
];
