/** Sessions that must not become tasks at all, whatever work is in them. Stage 1 of formats.md 5.2. */

import { holdsToken } from '../sanitize/holds-token.js';
import { type Drop, drop } from './find-repair.js';
import type { SessionTrace } from './session-events.js';

const NOTICE = /\[(?:tackroom|safeagents)\] blocked call to `/;
const CANARY = /(?:terminal-bench|harbor|sandbox)-canary\s+(?:GUID\s+)?[0-9a-f]{8}-[0-9a-f]{4}/i;
const REWARD_WRITE =
  /(?:>|\btee\b|\bcp\b|\bmv\b|open\(|write)[^\n]{0,80}\/logs\/verifier|\/logs\/verifier\/reward\.(?:txt|json)/;
const TEST_MOUNT_WRITE = /(?:>>?|\btee(?:\s+-a)?|\bsed\s+-i\S*\s+\S+|\b(?:cp|mv)\s+\S+)\s+\/tests\//;

export interface ScreenOptions {
  /** Leave out sessions that hold a credential. Off for those whose sanitized copy is what becomes a task. */
  secrets: boolean;
}

/** The first reason to leave the session out, or null. */
export function screenSession(trace: SessionTrace, { secrets }: ScreenOptions): Drop | null {
  for (const event of trace.events) {
    if (event.kind === 'text' && NOTICE.test(event.text)) return drop('screen', 'blocked');
    const text = event.kind === 'call' ? `${JSON.stringify(event.arguments)}\n${event.output ?? ''}` : event.text;
    if (CANARY.test(text)) return drop('screen', 'canary');
    if (secrets && holdsToken(text)) return drop('screen', 'secret');
    if (event.kind !== 'call') continue;
    const authored = Object.values(event.arguments)
      .filter((value) => typeof value === 'string')
      .join('\n');
    if (REWARD_WRITE.test(authored) || TEST_MOUNT_WRITE.test(authored)) return drop('screen', 'tampering');
  }
  return null;
}
