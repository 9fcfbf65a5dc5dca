/** Small sessions in the forms of three programs, made up: a failing test, a look, a repair, an answer. */
const WRONG = 'Traceback: add(2, 3) subtracts';
const time = (seconds: number): string => new Date(Date.UTC(2026, 10, 30, 9, 0, seconds)).toISOString();

const piEntry = (id: string, parentId: string | null, seconds: number, more: object): object => ({
  id,
  parentId,
  timestamp: time(seconds),
  ...more,
});
const piMessage = (id: string, parentId: string, seconds: number, message: object): object =>
  piEntry(id, parentId, seconds, { type: 'message', message });
const piCall = (id: string, command: string): object => ({
  type: 'toolCall',
  id,
  name: 'bash',
  arguments: { command },
});

/** With a failed try taken back, a compaction and a second branch. */
export const PI_LINES: object[] = [
  { type: 'session', version: 3, id: 'made-up-pi', timestamp: time(0), cwd: '/home/dev/calc' },
  piEntry('e1', null, 1, { type: 'model_change', provider: 'local', modelId: 'small' }),
  piMessage('e2', 'e1', 2, { role: 'system', sections: { preamble: 'You help.' }, toolsAdded: [{ name: 'bash' }] }),
  piMessage('e3', 'e2', 3, { role: 'user', content: [{ type: 'text', text: 'Fix the test' }] }),
  piMessage('e4', 'e3', 4, {
    role: 'assistant',
    content: [],
    stopReason: 'error',
    errorMessage: 'gone',
    model: 'small',
  }),
  piEntry('e5', 'e4', 5, { type: 'context_edit', targetId: 'e4', replacement: null }),
  piMessage('e6', 'e5', 6, {
    role: 'assistant',
    content: [piCall('c1', 'python3 test_calc.py')],
    model: 'small',
    stopReason: 'toolUse',
  }),
  piMessage('e7', 'e6', 7, {
    role: 'toolResult',
    toolCallId: 'c1',
    toolName: 'bash',
    content: [{ type: 'text', text: `${WRONG}\n\nCommand exited with code 1` }],
    isError: true,
  }),
  piEntry('e8', 'e7', 8, { type: 'compaction', summary: 'The test fails.', firstKeptEntryId: 'e6' }),
  piMessage('e9', 'e8', 9, {
    role: 'assistant',
    content: [{ type: 'text', text: 'Repaired.' }],
    model: 'small',
    stopReason: 'stop',
  }),
  piMessage('ea', 'e3', 10, {
    role: 'assistant',
    content: [{ type: 'text', text: 'Another way.' }],
    model: 'small',
    stopReason: 'stop',
  }),
  piMessage('eb', 'ea', 11, { role: 'user', content: 'And then?' }),
];

const claudeLine = (uuid: string, parentUuid: string | null, seconds: number, more: object): object => ({
  uuid,
  parentUuid,
  sessionId: 'made-up-claude',
  timestamp: time(seconds),
  cwd: '/home/dev/calc',
  version: '2.1.0',
  isSidechain: false,
  ...more,
});
const block = (uuid: string, parent: string, seconds: number, id: string, content: object): object =>
  claudeLine(uuid, parent, seconds, {
    type: 'assistant',
    message: {
      id,
      role: 'assistant',
      model: 'm',
      content: [content],
      usage: { input_tokens: 5, output_tokens: 7 },
      stop_reason: null,
    },
  });
const output = (uuid: string, parent: string, seconds: number, call: string, text: string, more: object): object =>
  claudeLine(uuid, parent, seconds, {
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: call, content: text, ...more }] },
  });

/** The result of the first of two calls stands before the second call. */
export const CLAUDE_LINES: object[] = [
  claudeLine('u1', null, 1, { type: 'user', message: { role: 'user', content: 'Fix the test' } }),
  block('a1', 'u1', 2, 'msg1', { type: 'text', text: 'I look.' }),
  block('a2', 'a1', 2, 'msg1', {
    type: 'tool_use',
    id: 'c1',
    name: 'Bash',
    input: { command: 'python3 test_calc.py' },
  }),
  output('r1', 'a2', 3, 'c1', `Exit code 1\n${WRONG}`, { is_error: true }),
  block('a3', 'a2', 3, 'msg1', { type: 'tool_use', id: 'c2', name: 'Read', input: { file_path: 'calc.py' } }),
  output('r2', 'a3', 4, 'c2', 'return a - b', {}),
  block('a4', 'r2', 5, 'msg2', { type: 'text', text: 'Repaired.' }),
  claudeLine('u2', 'a4', 6, { type: 'user', message: { role: 'user', content: 'And then?' } }),
];

const codexLine = (seconds: number, type: string, payload: object): object => ({
  timestamp: time(seconds),
  type,
  payload,
});
const said = (role: string, text: string): object => ({ type: 'message', role, content: [{ type: 'text', text }] });

/** With a turn that was rolled back. */
export const CODEX_LINES: object[] = [
  codexLine(0, 'session_meta', { id: 'made-up-codex', timestamp: time(0), cwd: '/home/dev/calc', cli_version: '0.1' }),
  codexLine(1, 'turn_context', { cwd: '/home/dev/calc', model: 'm' }),
  codexLine(2, 'response_item', said('user', 'Fix the test')),
  codexLine(3, 'response_item', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'I look.' }] }),
  codexLine(4, 'response_item', {
    type: 'function_call',
    name: 'shell',
    arguments: '{"command":["python3","test_calc.py"]}',
    call_id: 'c1',
  }),
  codexLine(5, 'response_item', {
    type: 'function_call_output',
    call_id: 'c1',
    output: JSON.stringify({ output: WRONG, metadata: { exit_code: 1 } }),
  }),
  codexLine(6, 'event_msg', {
    type: 'token_count',
    info: { total_token_usage: { total_tokens: 12 }, last_token_usage: { input_tokens: 5, output_tokens: 7 } },
  }),
  codexLine(7, 'response_item', said('assistant', 'Repaired.')),
  codexLine(8, 'response_item', said('user', 'No, undo that')),
  codexLine(9, 'response_item', said('assistant', 'Undone.')),
  codexLine(10, 'event_msg', { type: 'thread_rolled_back', num_turns: 1 }),
  codexLine(11, 'response_item', said('user', 'And then?')),
];
