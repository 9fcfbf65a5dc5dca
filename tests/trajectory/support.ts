import type { SessionInput } from '../../main/trajectory/session-input.js';

const at = Date.UTC(2026, 10, 1, 10);

/** One session with everything the form knows. */
export const SESSION: SessionInput = {
  id: 'ses_1',
  harness: 'pi',
  harnessVersion: '0.74.0',
  model: 'demo',
  createdAt: at,
  tools: [
    {
      type: 'function',
      function: { name: 'bash', description: 'Run a command', parameters: { type: 'object', properties: {} } },
    },
  ],
  steps: [
    { kind: 'system', text: 'You are an agent.', at },
    { kind: 'user', text: 'Count the rows.', at: at + 1 },
    {
      kind: 'agent',
      text: '',
      at: at + 2,
      reasoning: 'I count.',
      toolCalls: [
        { id: 'a', name: 'bash', arguments: '{"command":"wc -l data.csv"}' },
        { id: 'b', name: 'bash', arguments: '{"command":' },
      ],
      results: [
        { callId: 'a', text: '12 data.csv', exitCode: 0 },
        { callId: 'b', text: 'broken', isError: true },
      ],
      metrics: {
        promptTokens: 3,
        completionTokens: 2,
        promptIds: [1, 2, 3],
        completionIds: [4, 5],
        logprobs: [-0.5, -0.25],
      },
      adapterHash: 'f00d',
      verdicts: [{ callId: 'b', verdict: 'block', rule: 'stage1.arguments', reason: 'arguments are not valid JSON' }],
    },
    {
      kind: 'system',
      text: 'History replaced.',
      at: at + 3,
      results: [{ callId: null, text: 'A summary.' }],
      contextManagement: { type: 'compaction', boundary: 'replace' },
    },
    { kind: 'agent', text: 'I stop here.', at: at + 4, synthetic: true },
    { kind: 'agent', text: '11', at: at + 5, metrics: { promptTokens: 5, completionTokens: 1 } },
  ],
};
