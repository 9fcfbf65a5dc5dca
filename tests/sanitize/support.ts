import { createHash } from 'node:crypto';
import { crc32Base62 } from '../../main/sanitize/checksums.js';
import { type SanitizeContext, type Sanitized, sanitizeBytes } from '../../main/sanitize/sanitize.js';

const BASE62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** `length` characters of `alphabet` that depend only on `seed`. */
export function invented(seed: string, length: number, alphabet = BASE62): string {
  let out = '';
  for (let round = 0; out.length < length; round++)
    for (const byte of createHash('sha512').update(`${seed}/${round}`).digest())
      out += alphabet[byte % alphabet.length];
  return out.slice(0, length);
}

const HEX = '0123456789abcdef';

/** Invented secrets by family; checksums are right. Made at run time so that no token stands in the repository. */
export function inventedTokens(seed: string): Record<string, string> {
  const checked = (prefix: string): string => {
    const body = invented(seed + prefix, 30);
    return `${prefix}${body}${crc32Base62(body)}`;
  };
  const part = (name: string, length: number, alphabet?: string): string => invented(seed + name, length, alphabet);
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return {
    'github-pat': checked('ghp_'),
    'github-oauth': checked('gho_'),
    'npm-token': checked('npm_'),
    'github-fine-grained': `github_pat_${part('f', 22)}_${part('g', 59)}`,
    'openai-key': `sk-proj-${part('o', 74)}T3Blbk${'FJ'}${part('p', 74)}`,
    'anthropic-key': `sk-ant-api03-${part('a', 93)}AA`,
    'huggingface-token': `hf_${part('h', 34, BASE62.slice(0, 52))}`,
    'aws-access-key-id': `AKIA${part('w', 16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`,
    'gcp-api-key': `AIza${part('i', 35)}`,
    'slack-token': `xoxb-${part('s', 12, '0123456789')}-${part('t', 12, '0123456789')}-${part('u', 24)}`,
    'stripe-key': `sk_live_51${part('r', 97)}`,
    'gitlab-token': `glpat-${part('l', 20)}`,
    'groq-key': `gsk_${part('q', 52)}`,
    'openrouter-key': `sk-or-v1-${part('v', 64, HEX)}`,
    jwt: `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: part('j', 12), iat: 1 })}.${part('k', 43)}`,
  };
}

/** Lines of one session; none may hold a line break. */
export function sanitizeLines(lines: readonly string[], context?: SanitizeContext): Sanitized & { lines: string[] } {
  const result = sanitizeBytes(Buffer.from(lines.join('\n')), context);
  return { ...result, lines: result.bytes.toString().split('\n') };
}
