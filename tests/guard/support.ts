import type { ChatMessage } from '../../main/engine/protocol.js';
import { checkResponse } from '../../main/guard/guard.js';
import type { CallVerdict, GuardInput, GuardProfile } from '../../main/guard/types.js';

export const TOOLS = ['bash', 'read', 'write', 'edit', 'webfetch'].map((name) => ({
  type: 'function' as const,
  function: { name, description: name, parameters: {} },
}));

export interface Situation {
  profile?: GuardProfile;
  messages?: ChatMessage[];
  task?: string;
}

export const USER: ChatMessage = {
  role: 'user',
  content: 'How many rows of data.csv have price over 20? Docs: https://docs.example.com/guide',
};

/** The verdict on one call of `name`. */
export function verdictOn(name: string, args: unknown, situation: Situation = {}): CallVerdict {
  const input: GuardInput = {
    harness: 'pi',
    profile: situation.profile ?? 'training',
    request: {
      messages: situation.messages ?? [{ role: 'system', content: 'Agent. Help: https://system.example.net' }, USER],
      tools: TOOLS,
    },
    toolCalls: [{ id: 'c1', name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }],
    ...(situation.task && { task: situation.task }),
  };
  const [verdict] = checkResponse(input);
  if (!verdict) throw new Error('no verdict');
  return verdict;
}

export function bash(command: string, situation?: Situation): CallVerdict {
  return verdictOn('bash', { command }, situation);
}
