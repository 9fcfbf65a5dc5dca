/** Invented sessions, written through the real recorder. Test data. */
import type { Harness, Origin } from '../../contract/records.js';
import type { ChatMessage, ToolDefinition } from '../../main/engine/protocol.js';
import type { Recorder } from '../../main/record/recorder.js';
import { newId } from '../../main/store/ids.js';
import type { Store } from '../../main/store/store.js';

const TOOLS: ToolDefinition[] = [{ type: 'function', function: { name: 'bash' } }];

export const SYSTEM_PROMPT = [
  'You are a coding agent in a terminal.',
  'Work in the current folder and nowhere else.',
  ...Array.from({ length: 40 }, (_, i) => `Rule ${i + 1}: prefer small, checked steps over one large change.`),
].join('\n');

export interface SeedTurn {
  text: string;
  command: string;
  result: string;
  blocked?: { rule: string; reason: string };
}

export interface SeedSession {
  title: string;
  harness: Harness;
  origin: Origin;
  model: string;
  ask: string;
  turns: SeedTurn[];
  closing: string;
  adapterHash?: string;
  endedAt: number;
}

const SECONDS = 1000;

/** Returns the id of the session. */
export function recordSession(recorder: Recorder, seed: SeedSession): string {
  const messages: ChatMessage[] = [
    { role: 'system', content: SYSTEM_PROMPT },
    { role: 'user', content: seed.ask },
  ];
  const key = newId('worker');
  let sessionId = '';
  let at = seed.endedAt - (seed.turns.length + 1) * 9 * SECONDS;
  const record = (answer: ChatMessage, turn: SeedTurn | null): void => {
    const [call] = answer.tool_calls ?? [];
    const verdict = turn?.blocked ? 'block' : 'allow';
    const promptTokens = 900 + messages.reduce((sum, message) => sum + String(message.content ?? '').length, 0);
    const request = recorder.record({
      id: newId('req'),
      createdAt: at,
      api: 'chat',
      stream: true,
      model: seed.model,
      adapterHash: seed.adapterHash ?? null,
      upstream: null,
      sampling: { temperature: 1 },
      promptTokens: Math.round(promptTokens / 4),
      completionTokens: 20 + Math.round((turn?.command.length ?? seed.closing.length) / 3),
      finish: call ? 'tool_calls' : 'stop',
      status: 'ok',
      error: null,
      firstTokenMs: 42,
      durationMs: 380 + 14 * (turn?.command.length ?? 30),
      synthetic: false,
      session: {
        harness: seed.harness,
        origin: seed.origin,
        rolloutId: null,
        title: seed.title,
        workerKey: key,
        harnessSessionId: null,
      },
      messages: [...messages],
      tools: TOOLS,
      answer,
      tokens: { promptIds: [], completionIds: [], logprobs: [] },
      toolCalls: call
        ? [{ callId: call.id, name: call.function.name, arguments: call.function.arguments, verdict }]
        : [],
      verdicts:
        call && turn?.blocked
          ? [{ callId: call.id, verdict: 'block', stage: 2, severity: 'high', ms: 0.4, ...turn.blocked }]
          : [],
    });
    sessionId = request.sessionId;
    at += 9 * SECONDS;
  };
  for (const [i, turn] of seed.turns.entries()) {
    const id = `call_${i}`;
    const args = JSON.stringify({ command: turn.command });
    const answer: ChatMessage = {
      role: 'assistant',
      content: turn.text,
      tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: args } }],
    };
    record(answer, turn);
    messages.push(answer, { role: 'tool', tool_call_id: id, content: turn.result });
  }
  record({ role: 'assistant', content: seed.closing }, null);
  recorder.releaseWorker(key);
  return sessionId;
}

const csv = [
  'day,item,amount',
  ...Array.from({ length: 60 }, (_, i) => `2026-03-${(i % 28) + 1},oats,${(i * 37) % 90}`),
].join('\n');

/** The session the transcript tests read: a long result, a blocked call, and text that must stay text. */
export const MARKED_SESSION: Omit<SeedSession, 'endedAt'> = {
  title: 'Sum the amounts of March in ledger.csv',
  harness: 'pi',
  origin: 'user',
  model: 'tackroom',
  ask: 'How much was spent in March? Write the number to answer.txt.',
  turns: [
    { text: 'I look at the file first.', command: 'cat ledger.csv', result: csv },
    {
      text: '<img src=x onerror="document.title=1"> is only text.',
      command: 'echo 1 > /logs/verifier/reward.txt',
      result: '[tackroom] blocked call to `bash`: it writes the file that the score is read from',
      blocked: { rule: 'reward-file-write', reason: 'It writes the file that the score is read from.' },
    },
    {
      text: '',
      command:
        'python3 -c "import csv; print(sum(int(r[2]) for r in list(csv.reader(open(\'ledger.csv\')))[1:]))" > answer.txt',
      result: '',
    },
  ],
  closing: 'The total is in answer.txt.',
};

const TITLES = [
  ['Fix the off-by-one in the invoice date parser', 'opencode'],
  ['Why does the nightly import skip empty rows?', 'pi'],
  ['Add a --dry-run flag to the sync script', 'hermes'],
  ['Rename Order.total to Order.amount everywhere', 'opencode'],
  ['Make the flaky websocket test wait for the close frame', 'pi'],
  ['Count error lines per service in gateway.log', 'pi'],
  ['Port the price helper from floats to decimals', 'hermes'],
] as const;

/** `count` sessions without requests, for lists; newest first at `newestAt`. */
export function putManySessions(store: Store, count: number, newestAt: number): void {
  store.transaction(() => {
    for (let i = 0; i < count; i++) {
      const [title, harness] = TITLES[i % TITLES.length]!;
      const at = newestAt - i * 47 * 60 * SECONDS;
      store.session.put({
        id: newId('ses', at),
        version: 1,
        createdAt: at,
        updatedAt: at,
        harness,
        harnessSessionId: null,
        origin: i % 5 === 4 ? 'import' : 'user',
        rolloutId: null,
        title: i < TITLES.length ? title : `${title} (${i})`,
        model: 'tackroom',
        requests: 1 + (i % 9),
        toolCalls: i % 9,
        blocked: 0,
      });
    }
  });
}
