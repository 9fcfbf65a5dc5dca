/** `tackroom guard log`. */
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { type LogEntry, verdictLog } from '../guard/verdict-log.js';
import { type GlobalOptions, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { wholeNumber } from './numbers.js';
import { oneLine } from './printable.js';
import { minuteText, table } from './table.js';

export interface GuardLogOptions extends GlobalOptions {
  session?: string;
  rule?: string;
  verdict?: string;
  rollouts?: boolean;
  limit: string;
  json?: boolean;
  jsonl?: boolean;
}

const Found = z.enum(['block', 'suspicious']).optional();
const CALL_WIDTH = 60;

/** Errors: BAD_ARGUMENT. */
export async function guardLogCommand(options: GuardLogOptions, io: CommandIo): Promise<number> {
  const verdict = Found.safeParse(options.verdict);
  if (!verdict.success)
    throw new TackroomError('BAD_ARGUMENT', `The guard finds no ${options.verdict}.`, 'Name block or suspicious.');
  const { session: sessionId, rule, rollouts } = options;
  const limit = wholeNumber('--limit', options.limit, 1);
  return withStore(options, (store) => {
    const entries = verdictLog(store, { sessionId, rule, rollouts, verdict: verdict.data }, limit);
    if (options.json) io.stdout.write(`${JSON.stringify({ entries: entries.map(entryDocument) })}\n`);
    else if (options.jsonl) for (const entry of entries) io.stdout.write(`${JSON.stringify(entryDocument(entry))}\n`);
    else io.stdout.write(table(['verdict', 'when', 'harness', 'found', 'rule', 'call'], entries.map(row)));
    return 0;
  });
}

const row = ({ verdict, call, session }: LogEntry): string[] => [
  verdict.id,
  minuteText(verdict.createdAt),
  session.harness,
  verdict.verdict,
  verdict.rule,
  call ? oneLine(`${call.name} ${call.arguments}`, CALL_WIDTH) : '',
];

function entryDocument({ verdict, call, session }: LogEntry): unknown {
  const { version: _version, createdAt, toolCallId: _call, sessionId, requestId, ...found } = verdict;
  return {
    ...found,
    at: createdAt,
    session: sessionId,
    request: requestId,
    harness: session.harness,
    origin: session.origin,
    call: call ? { name: call.name, arguments: call.arguments } : null,
  };
}
