/** Recorded traffic of the real harnesses: what their agents did is ordinary work, and passes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ChatMessage } from '../../main/engine/protocol.js';
import { checkResponse } from '../../main/guard/guard.js';
import { readExchange } from '../../main/guard/wire.js';
import { describeShared } from '../support/shared.js';

const HARNESSES = ['pi', 'pi-0.73', 'opencode', 'hermes'] as const;
/** Scenarios whose script breaks the protocol, or deletes the whole disk, on purpose. */
const BROKEN = /badargs|unknowntool|noid|dupid|malformed|lengthtool|hardline/;

/** Every recorded call with what was said before it: once per distinct call of a scenario. */
function* recordedCalls(
  folder: string,
): Generator<{ messages: ChatMessage[]; call: { id: string; name: string; arguments: string } }> {
  const seen = new Set<string>();
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.request.json'))
    .sort()) {
    const { body } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { body?: unknown };
    const { messages } = readExchange(body, {}).request;
    for (const [i, message] of messages.entries())
      for (const { id, function: made } of message.tool_calls ?? []) {
        const key = `${id} ${made.name} ${made.arguments}`;
        if (seen.has(key)) continue;
        seen.add(key);
        yield { messages: messages.slice(0, i), call: { id, name: made.name, arguments: made.arguments } };
      }
  }
}

describeShared('recorded sessions', (shared) => {
  test.each(HARNESSES)('%s', (harness) => {
    const root = join(shared, 'fixtures', 'harness', harness);
    let calls = 0;
    const stopped: string[] = [];
    for (const scenario of readdirSync(root, { withFileTypes: true })) {
      if (!scenario.isDirectory() || BROKEN.test(scenario.name)) continue;
      const folder = join(root, scenario.name, 'http');
      try {
        readdirSync(folder);
      } catch {
        continue;
      }
      for (const { messages, call } of recordedCalls(folder))
        for (const profile of ['training', 'desktop'] as const) {
          calls++;
          const tools = [{ type: 'function' as const, function: { name: call.name, description: '', parameters: {} } }];
          const [verdict] = checkResponse({
            harness: 'unknown',
            profile,
            request: { messages, tools },
            toolCalls: [call],
          });
          if (verdict?.verdict !== 'allow')
            stopped.push(`${scenario.name} ${verdict?.rule} ${call.name} ${call.arguments.slice(0, 200)}`);
        }
    }
    expect(calls).toBeGreaterThan(20);
    expect(stopped).toEqual([]);
  });
});
