/**
 * Rule tests: what the user answered "this was wrong" to, each a line in the form that `guard check --jsonl` reads, in a file of its own
 * below the home, readable to the user alone. They hold the conversation, so they go with its session.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../services/paths.js';
import type { RuleTest } from './was-wrong.js';

const FOLDER = 'guard-tests';
/** Ids are ours; whatever else stood in one would not become part of a path. */
const safe = (id: string): string => id.replace(/[^\w-]/g, '_');
const prefixOf = (sessionId: string): string => `${safe(sessionId)}.`;
const fileName = (sessionId: string, verdictId: string): string => `${prefixOf(sessionId)}${safe(verdictId)}.jsonl`;

/** Writes the test of a verdict, whole or not at all; once more gives the same file. */
export function writeRuleTest(home: string, sessionId: string, verdictId: string, test: RuleTest): void {
  const folder = join(home, FOLDER);
  makeFolder(folder);
  const file = join(folder, fileName(sessionId, verdictId));
  const temporary = `${file}.tmp-${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify({ id: verdictId, ...test })}\n`, { mode: 0o600 });
  // A file of that name that a kill left keeps its rights when it is written again.
  chmodSync(temporary, 0o600);
  renameSync(temporary, file);
}

export function removeRuleTest(home: string, sessionId: string, verdictId: string): void {
  rmSync(join(home, FOLDER, fileName(sessionId, verdictId)), { force: true });
}

/** Of a session that is deleted. */
export function removeRuleTests(home: string, sessionId: string): void {
  const folder = join(home, FOLDER);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder))
    if (name.startsWith(prefixOf(sessionId))) rmSync(join(folder, name), { force: true });
}

const Line = z.object({
  id: z.string(),
  profile: z.enum(['training', 'desktop']),
  harness: z.enum(['pi', 'opencode', 'hermes', 'unknown']).catch('unknown'),
  task: z.string().optional(),
  request: z.unknown(),
  response: z.unknown(),
  expect: z.array(z.object({ tool_call_id: z.string(), verdict: z.enum(['allow', 'suspicious', 'block']) })).min(1),
});
export type StoredRuleTest = z.infer<typeof Line>;

/** Every line of `guard-tests/*.jsonl`; `unreadable` names the places that hold none. A user may put files of their own there. */
export function readRuleTests(home: string): { tests: StoredRuleTest[]; unreadable: string[] } {
  const folder = join(home, FOLDER);
  const tests: StoredRuleTest[] = [];
  const unreadable: string[] = [];
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : [];
  for (const name of names.sort())
    for (const [at, line] of readFileSync(join(folder, name), 'utf8').split('\n').entries()) {
      if (line.trim() === '') continue;
      const parsed = parseLine(line);
      if (parsed === null) unreadable.push(`${name}:${at + 1}`);
      else tests.push(parsed);
    }
  return { tests, unreadable };
}

function parseLine(line: string): StoredRuleTest | null {
  try {
    return Line.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
