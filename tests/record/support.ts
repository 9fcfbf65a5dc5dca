import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatMessage, ToolDefinition } from '../../main/engine/protocol.js';
import type { NewRequest } from '../../main/record/recorder.js';
import type { SessionHint } from '../../main/record/session-finder.js';
import { newId } from '../../main/store/ids.js';

export function temporaryHome(): { home: string; remove(): void } {
  const home = mkdtempSync(join(tmpdir(), 'tackroom-record-'));
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

export const BASH: ToolDefinition = {
  type: 'function',
  function: {
    name: 'bash',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { command: { type: 'string' } } },
  },
};

export const user: SessionHint = {
  harness: 'pi',
  origin: 'user',
  rolloutId: null,
  title: '',
  workerKey: null,
  harnessSessionId: null,
};

export const system: ChatMessage = { role: 'system', content: 'You are a coding agent.' };
export const ask = (text: string): ChatMessage => ({ role: 'user', content: text });
export const callBash = (id: string, command: string): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: JSON.stringify({ command }) } }],
});
export const result = (id: string, text: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content: text });
export const say = (text: string): ChatMessage => ({ role: 'assistant', content: text });

let clock = 1_700_000_000_000;

/** A finished request; its calls are taken from the answer and allowed. */
export function request(messages: ChatMessage[], answer: ChatMessage, more: Partial<NewRequest> = {}): NewRequest {
  clock += 1000;
  const calls = answer.tool_calls ?? [];
  return {
    id: newId('req', clock),
    createdAt: clock,
    session: user,
    api: 'chat',
    stream: true,
    model: 'tackroom/demo',
    adapterHash: null,
    upstream: null,
    sampling: { temperature: 1, seed: 7 },
    promptTokens: 0,
    completionTokens: 0,
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
    status: 'ok',
    error: null,
    firstTokenMs: 5,
    durationMs: 10,
    synthetic: false,
    messages,
    tools: [BASH],
    answer,
    tokens: { promptIds: [], completionIds: [], logprobs: [] },
    toolCalls: calls.map((call) => ({
      callId: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
      verdict: 'allow',
    })),
    verdicts: [],
    ...more,
  };
}
