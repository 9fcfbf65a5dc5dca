/** Credentials that stand in URLs, headers and command-line flags. */
import { matchesOf } from './matches.js';
import type { Span } from './span.js';
import { isPasswordValue, isTokenValue } from './value-gates.js';

const USER_INFO = /:\/\/([^\s/:@"'<>\\]{0,200}):([^\s/@"'<>\\]{1,400})@(?=[\w[])/g;
const TOKEN_AS_USER = /:\/\/([A-Za-z0-9_-]{20,300})@(?=[\w[])/g;
const HEADER =
  /\b(Authorization|Proxy-Authorization|X-Api-Key|X-Auth-Token|PRIVATE-TOKEN|Api-Key|X-Goog-Api-Key)["']?\s{0,4}[:=]\s{0,4}["']?(?:(Bearer|Basic|Token|Digest|ApiKey)\s{1,4})?([^\s"'\\,;]{8,4000})/gi;
const CURL_USER = /(?:^|\s)(?:-u|--user)[ =]{1,2}["']?([^\s:"']{1,100}):([^\s"'\\]{3,300})/g;
const COOKIE = /\b(?:Set-)?Cookie["']?\s{0,4}:\s{0,4}([^\n"'\\]{4,4000})/gi;
const QUERY =
  /[?&;](?:access_token|refresh_token|id_token|client_secret|api_?key|key|token|sig|signature|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature|code|auth|password|secret|AWSAccessKeyId)=([A-Za-z0-9%._~+/=-]{12,4000})/gi;

export function findUrlSecrets(text: string): Span[] {
  const out: Span[] = [];
  const add = (start: number, value: string, family: string): void => {
    out.push({ start, end: start + value.length, family, certainty: 'block', value });
  };
  for (const match of matchesOf(USER_INFO, text)) {
    const value = match[2]!;
    if (
      !isPasswordValue(value, true) &&
      !(value.length >= 4 && !/^[$<{%*x]|^(?:pass|password|secret|pw|pwd|user|port|\d{1,5})$/i.test(value))
    )
      continue;
    if (
      /^[$<{%*[]|^(?:password|passwd|pass|secret|token|x-oauth-basic|postgres|root|admin|user|\*+|x+|redacted.*)$/i.test(
        value,
      )
    )
      continue;
    add(match.index + match[0].length - 1 - value.length, value, 'url-password');
  }
  for (const match of matchesOf(TOKEN_AS_USER, text))
    if (isTokenValue(match[1]!)) add(match.index + 3, match[1]!, 'url-password');
  for (const match of matchesOf(HEADER, text)) {
    const value = match[3]!;
    if (match[2] ? !credential(value) : !isTokenValue(value)) continue;
    add(
      match.index + match[0].length - value.length,
      value,
      match[2]?.toLowerCase() === 'basic' ? 'basic-auth' : 'bearer-token',
    );
  }
  for (const match of matchesOf(CURL_USER, text))
    if (isPasswordValue(match[2]!, true)) add(match.index + match[0].length - match[2]!.length, match[2]!, 'password');
  for (const match of matchesOf(COOKIE, text)) {
    const from = match.index + match[0].length - match[1]!.length;
    for (const pair of match[1]!.matchAll(/([\w.-]{1,80})=([^;\s]{12,2000})/g))
      if (isTokenValue(pair[2]!)) add(from + pair.index + pair[1]!.length + 1, pair[2]!, 'cookie');
  }
  for (const match of matchesOf(QUERY, text))
    if (isTokenValue(match[1]!)) add(match.index + match[0].length - match[1]!.length, match[1]!, 'url-secret');
  return out;
}

function credential(value: string): boolean {
  return (
    !/^[$<{%*]|x{4,}|\.{3}|your|example|token|redacted/i.test(value) &&
    (isTokenValue(value) || /^[A-Za-z0-9+/]{8,}={0,2}$/.test(value))
  );
}
