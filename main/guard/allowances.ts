/**
 * Allowances: one rule passes on one call, whatever harness makes it; any other rule still looks at that call. A call is more than its
 * text: it is the same one as long as the files that it runs, and that the model wrote, are.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseObject } from './json-object.js';
import type { SampledCall } from './types.js';

export const Allowance = z.strictObject({
  rule: z.string().min(1).max(128),
  /** What `callKey` gives: a hash of the call in its normal form and of what the finding rests on beside it. */
  call: z.string().regex(/^[0-9a-f]{64}$/),
});
export type Allowance = z.infer<typeof Allowance>;

/** Arguments that change nothing of what a call does. */
const IDLE = new Set(['description', 'timeout', 'timeout_ms', 'explanation']);
/** Nobody can run such a call, or nobody has looked at it: there is nothing to allow. */
const FINAL = new Set(['stage1.tool', 'stage1.arguments', 'guard.failed', 'guard.deadline', 'none']);

/** The rule that is about a host as well as a call. */
export const HOST_RULE = 'stage1.host';
const HALF = 32;
const NOTHING: ReadonlyMap<string, string> = new Map();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The hash under which a call is allowed; the same for other blanks, another order of keys and another description. `followed`: what
 * its reading rested on (`Surface.followed`). With that, or a host, the first half is that of the call alone.
 */
export function callKey(
  { name, arguments: text }: Pick<SampledCall, 'name' | 'arguments'>,
  followed: ReadonlyMap<string, string> = NOTHING,
  host = '',
): string {
  const args = parseObject(text);
  const normal = args === null ? text : JSON.stringify(canonical(args, 0));
  const alone = sha256(`${name}\0${normal}`);
  if (followed.size === 0 && host === '') return alone;
  const rest = JSON.stringify([host, [...followed].sort(([a], [b]) => (a < b ? -1 : 1))]);
  return alone.slice(0, HALF) + sha256(rest).slice(0, HALF);
}

/** Whether both keys are of one call, whatever else they cover. */
export const sameCall = (a: string, b: string): boolean => a.slice(0, HALF) === b.slice(0, HALF);

function canonical(value: unknown, depth: number, key = ''): unknown {
  if (typeof value === 'string')
    // Blanks inside a line of a command; those at its start may mean something (Python, here-documents).
    return /^(?:command|cmd|script)$/i.test(key) ? value.trim().replace(/(?<=\S)[ \t]+/g, ' ') : value;
  if (value === null || typeof value !== 'object' || depth > 40) return value;
  if (Array.isArray(value)) return value.map((item) => canonical(item, depth + 1, key));
  return Object.entries(value)
    .filter(([name]) => depth > 0 || !IDLE.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => [name, canonical(item, depth + 1, name)]);
}

/** Whether a finding is excused; one of `stage1.host` only with its host. */
export type Excuses = (rule: string, host?: string) => boolean;
export const excusesNothing: Excuses = () => false;

/** What `allowances` excuse on this call, with the files that its reading followed. */
export function excusesOf(
  call: SampledCall,
  followed: ReadonlyMap<string, string>,
  allowances: readonly Allowance[],
): Excuses {
  if (allowances.length === 0) return excusesNothing;
  const alone = callKey(call);
  const candidates = allowances.filter(({ rule, call: key }) => sameCall(key, alone) && !FINAL.has(rule));
  if (candidates.length === 0) return excusesNothing;
  const keys = new Map<string, string>();
  return (rule, host = '') => {
    if ((rule === HOST_RULE) !== (host !== '')) return false;
    const key = keys.get(host) ?? callKey(call, followed, host);
    keys.set(host, key);
    return candidates.some((each) => each.rule === rule && each.call === key);
  };
}

/** Whether an answer "this was wrong" to this rule can mean anything. */
export const canBeAllowed = (rule: string): boolean => !FINAL.has(rule);
