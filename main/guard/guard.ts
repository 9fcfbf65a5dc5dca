/**
 * Says of every tool call of a new answer whether the harness may see it. Three stages in strict order, the first block
 * ends the matter: 1 the request (declared tool, valid arguments, hosts somebody mentioned), 2 rules, 3 a judge (off
 * unless handed in; see `judge.ts`). Pure: the same input gives the same verdicts; nothing is kept between calls.
 */
import type { Allowance } from './allowances.js';
import { Conversation } from './conversation.js';
import { decide } from './decide.js';
import { type Examined, examine, unreadable } from './examine.js';
import { parseObject } from './json-object.js';
import type { ModelFiles } from './model-files.js';
import { builtInRules, type Rule } from './rules.js';
import { readCall } from './surface.js';
import type { CallVerdict, Finding, GuardInput, SampledCall } from './types.js';

export interface GuardOptions {
  /** Instead of the built-in ones. */
  rules?: readonly Rule[];
  /** What the user answered "this was wrong" to. */
  allowances?: readonly Allowance[];
}

const MAX_HINT = 100_000;

/** One verdict per call, in order. Never throws: a rule that fails counts as a suspicious finding. */
export function checkResponse(input: GuardInput, options: GuardOptions = {}): CallVerdict[] {
  const verdicts: CallVerdict[] = [];
  for (const examined of examineCalls(input, options)) verdicts.push(verdictOf(examined, examined.findings, input));
  return verdicts;
}

export interface ExaminedCall extends Examined {
  call: SampledCall;
  /** Of `performance.now()`. */
  start: number;
}

/** Every call after stages 1 and 2, allowances applied, before it is decided. */
export function* examineCalls(
  input: GuardInput,
  { rules = builtInRules(), allowances = [] }: GuardOptions,
): Generator<ExaminedCall> {
  const conversation = new Conversation(input.request);
  let hint = '';
  for (const call of input.toolCalls) hint += `${call.arguments}\n${decodedText(call)}\n`;
  let files: ModelFiles | null | undefined;
  for (const call of input.toolCalls) {
    const start = performance.now();
    if (files === undefined) files = filesNamedIn(conversation, hint);
    const examined = files ? examine(call, input, conversation, files, rules, allowances) : unreadable();
    yield { ...examined, call, start };
  }
}

/** null: an earlier call that these name files of cannot be read, so that nobody knows what they run. */
function filesNamedIn(conversation: Conversation, hint: string): ModelFiles | null {
  try {
    return conversation.filesNamedIn(hint);
  } catch {
    return null;
  }
}

const HIDES_NAMES = /base64|b64|base32|xxd|openssl|gunzip|zcat|\brev\b|\btr\b|printf|eval|hex|chr\(|decode|\\\\x|\$\{/i;

/** What the commands of a call spell out once they are decoded: an encoded call names its files only there. */
function decodedText(call: SampledCall): string {
  const args = HIDES_NAMES.test(call.arguments) ? parseObject(call.arguments) : null;
  if (args === null) return '';
  try {
    const { commands, code } = readCall(call.name, args);
    return [...commands, ...code].join('\n').slice(0, MAX_HINT);
  } catch {
    return '';
  }
}

export function verdictOf(
  { call, refused, start }: ExaminedCall,
  findings: readonly Finding[],
  input: GuardInput,
): CallVerdict {
  const decision = refused ?? decide(findings, input);
  return { toolCallId: call.id, ...decision, ms: performance.now() - start };
}

/** The text that stands in the answer for a blocked call. */
export function blockedNotice(name: string, reason: string): string {
  return `[tackroom] blocked call to \`${name}\`: ${reason}`;
}
