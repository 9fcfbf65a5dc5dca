/** Canonical JSON and its hash: the identity of everything that is stored once. */
import { hash } from 'node:crypto';

/** JSON with sorted keys and no spaces; `undefined` members are left out, as JSON.stringify does. Depth is the caller's concern. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** Lower-case hex. */
export function sha256(text: string): string {
  return hash('sha256', text);
}
