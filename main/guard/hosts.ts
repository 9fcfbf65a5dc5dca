/** Host names in text: finding them in URLs, one spelling for each, and "was it mentioned". All in linear time. */

const MAX_AUTHORITY = 300;
const AUTHORITY_END = /[\s/?#'"<>\\`|;,){}[\]*]/;
const HOST_CHAR = /[a-z0-9.-]/;

/** Lower case, no user info, port, brackets or trailing dot; `''` when nothing host-like is left. */
export function normalizeHost(authority: string): string {
  let host = authority.slice(authority.lastIndexOf('@') + 1).normalize('NFKC');
  if (host.includes('%')) {
    try {
      host = decodeURIComponent(host);
    } catch {
      return '';
    }
  }
  host = host.toLowerCase();
  if (host.startsWith('[')) return host.slice(1, host.indexOf(']') < 0 ? undefined : host.indexOf(']'));
  host = host
    .replace(/:\d*$/, '')
    .replace(/\.+$/, '')
    .replace(/[。。]/g, '.');
  const ip = legacyIpv4(host);
  return ip ?? (/^[\p{L}\p{N}_](?:[\p{L}\p{N}._-]*[\p{L}\p{N}_])?$/u.test(host) ? host : '');
}

/** The dotted form of what inet_aton reads: `2130706433`, `0x7f.1`, `0177.0.0.1`; null when it is no address. */
function legacyIpv4(host: string): string | null {
  const parts = host.split('.');
  if (parts.length > 4 || !parts.every((part) => /^(?:0x[0-9a-f]{1,8}|\d{1,11})$/.test(part))) return null;
  const numbers = parts.map((part) => (/^0\d+$/.test(part) ? Number.parseInt(part, 8) : Number(part)));
  const last = numbers.pop() ?? 0;
  if (numbers.some((n) => !(n <= 255)) || !(last < 256 ** (4 - numbers.length))) return null;
  const value = numbers.reduce((sum, n, i) => sum + n * 256 ** (3 - i), last);
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

/** Loopback, or a bare name (a container or an ssh alias), which the public net cannot resolve. */
export function isLocalHost(host: string): boolean {
  if (host === 'host.docker.internal' || host.endsWith('.localhost')) return true;
  if (host === '::1' || host === '0.0.0.0' || host.startsWith('127.') || host === '::ffff:127.0.0.1') return true;
  return !host.includes('.') && !host.includes(':');
}

/** Hosts of every `scheme://host` in `text`, each once. */
export function urlHosts(text: string): Set<string> {
  const found = new Set<string>();
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    const scheme = /[a-z][a-z0-9+.-]*$/i.exec(text.slice(Math.max(0, at - 16), at))?.[0].toLowerCase();
    if (!scheme || scheme === 'file') continue;
    const host = normalizeHost(authorityAt(text, at + 3));
    if (host) found.add(host);
  }
  return found;
}

function authorityAt(text: string, start: number): string {
  const piece = text.slice(start, start + MAX_AUTHORITY);
  if (piece.startsWith('[')) return piece.slice(0, piece.indexOf(']') + 1);
  const end = piece.search(AUTHORITY_END);
  return end < 0 ? piece : piece.slice(0, end);
}

/** True when `host` stands in `lowerText` as a whole: `example.org` is not in `example.org.evil.test` nor `ple.org`. */
export function mentionsHost(lowerText: string, host: string): boolean {
  for (let at = lowerText.indexOf(host); at >= 0; at = lowerText.indexOf(host, at + 1)) {
    const before = lowerText[at - 1] ?? ' ';
    const after = lowerText[at + host.length] ?? ' ';
    const next = lowerText[at + host.length + 1] ?? ' ';
    if (
      !HOST_CHAR.test(before) &&
      !/[a-z0-9-]/.test(after) &&
      !(after === '.' && /[a-z0-9]/.test(next)) &&
      after !== '@'
    )
      return true;
  }
  return false;
}
