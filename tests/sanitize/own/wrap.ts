/** Puts a case into native records of the five agents, at several depths, and follows its labels. */
import type { Random } from '../../engine/tokenizer/fuzz-random.js';
import { Make, UPPER } from './make.js';
import { type OwnCase, parseMarked, remark, type Span } from './mark.js';

export interface Wrapped {
  wrap: string;
  line: string;
  spans: Span[];
}

/** `text` still holds its labels. */
type Build = (text: string, m: Make) => unknown;

const time = '2026-02-03T08:15:42.118Z';
const json = (value: unknown): string => JSON.stringify(value);
/** A heredoc in a shell command: how agents write files without a tool for it. */
const heredoc = (text: string): string => `cat > /tmp/in.txt <<'EOF_IN'\n${text}\nEOF_IN\nwc -l /tmp/in.txt`;

function claude(m: Make, type: 'user' | 'assistant', content: unknown, more: Record<string, unknown> = {}): unknown {
  const common = {
    parentUuid: m.uuid(),
    isSidechain: false,
    cwd: '/workspace/app',
    sessionId: m.uuid(),
    version: '2.1.90',
  };
  const message =
    type === 'user'
      ? { role: 'user', content }
      : { model: 'claude-sonnet-4-5', id: `msg_01${m.alnum(22)}`, type: 'message', role: 'assistant', content };
  return { ...common, gitBranch: 'main', type, message, uuid: m.uuid(), timestamp: time, ...more };
}

const claudeTool = (m: Make, name: string, input: unknown): unknown =>
  claude(m, 'assistant', [{ type: 'tool_use', id: `toolu_01${m.alnum(22)}`, name, input }]);

const codex = (payload: Record<string, unknown>): unknown => ({ timestamp: time, type: 'response_item', payload });

const pi = (m: Make, message: Record<string, unknown>): unknown => ({
  type: 'message',
  id: m.hex(8),
  parentId: m.hex(8),
  timestamp: time,
  message: { ...message, timestamp: 1_770_106_542_118 },
});

const opencode = (m: Make, part: Record<string, unknown>): unknown => ({
  id: `prt_${m.alnum(26)}`,
  sessionID: `ses_${m.alnum(26)}`,
  messageID: `msg_${m.alnum(26)}`,
  ...part,
});

const hermes = (m: Make, more: Record<string, unknown>): unknown => ({
  id: m.random.below(90_000),
  session_id: `20260203_081542_${m.hex(6)}`,
  ...more,
  timestamp: 1_770_106_542,
});

const BUILDERS: Record<string, Build> = {
  'claude/tool-result': (text, m) =>
    claude(m, 'user', [{ tool_use_id: `toolu_01${m.alnum(22)}`, type: 'tool_result', content: text, is_error: false }]),
  'claude/tool-result-both': (text, m) =>
    claude(
      m,
      'user',
      [{ tool_use_id: `toolu_01${m.alnum(22)}`, type: 'tool_result', content: [{ type: 'text', text }] }],
      {
        toolUseResult: { stdout: text, stderr: '', interrupted: false, isImage: false },
      },
    ),
  'claude/tool-argument': (text, m) =>
    claudeTool(m, 'Bash', { command: heredoc(text), description: 'Write the input' }),
  'claude/edit': (text, m) =>
    claudeTool(m, 'Edit', {
      file_path: '/workspace/app/a.txt',
      old_string: 'TODO',
      new_string: text,
      replace_all: false,
    }),
  'claude/assistant': (text, m) => claude(m, 'assistant', [{ type: 'text', text }]),
  'claude/json-in-argument': (text, m) =>
    claudeTool(m, 'Write', { file_path: '/workspace/app/a.json', content: json({ note: text }) }),
  'codex/user': (text) => codex({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
  'codex/assistant': (text) => codex({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }),
  'codex/call': (text, m) =>
    codex({
      type: 'function_call',
      name: 'shell',
      arguments: json({ command: ['bash', '-lc', heredoc(text)], workdir: '/workspace/app' }),
      call_id: `call_${m.alnum(24)}`,
    }),
  'codex/output': (text, m) =>
    codex({
      type: 'function_call_output',
      call_id: `call_${m.alnum(24)}`,
      output: json({ output: text, metadata: { exit_code: 0, duration_seconds: 0.1 } }),
    }),
  'codex/output-json-json': (text, m) =>
    codex({
      type: 'function_call_output',
      call_id: `call_${m.alnum(24)}`,
      output: json({ output: json({ data: json({ text }) }), metadata: { exit_code: 0 } }),
    }),
  'pi/user': (text, m) => pi(m, { role: 'user', content: [{ type: 'text', text }] }),
  'pi/call': (text, m) =>
    pi(m, {
      role: 'assistant',
      content: [{ type: 'toolCall', id: `call_${m.alnum(24)}`, name: 'bash', arguments: { command: heredoc(text) } }],
    }),
  'pi/result': (text, m) =>
    pi(m, {
      role: 'toolResult',
      toolCallId: `call_${m.alnum(24)}`,
      toolName: 'bash',
      content: [{ type: 'text', text }],
      isError: false,
    }),
  'opencode/text': (text, m) => opencode(m, { type: 'text', text, time: { start: 1_770_106_542_118 } }),
  'opencode/output': (text, m) =>
    opencode(m, {
      type: 'tool',
      callID: `call_${m.alnum(24)}`,
      tool: 'bash',
      state: {
        status: 'completed',
        input: { command: 'make show', description: 'Show' },
        output: text,
        metadata: { exit: 0, output: text },
      },
    }),
  'opencode/input': (text, m) =>
    opencode(m, {
      type: 'tool',
      callID: `toolu_01${m.alnum(22)}`,
      tool: 'write',
      state: { status: 'running', input: { filePath: '/workspace/app/a.txt', content: text } },
    }),
  'hermes/user': (text, m) => hermes(m, { role: 'user', content: text }),
  'hermes/output': (text, m) =>
    hermes(m, {
      role: 'tool',
      tool_call_id: `call_${m.hex(8)}`,
      tool_name: 'terminal',
      content: json({ output: text, exit_code: 0 }),
    }),
  'hermes/call': (text, m) =>
    hermes(m, {
      role: 'assistant',
      content: '',
      tool_calls: [
        {
          id: `call_${m.hex(8)}`,
          type: 'function',
          function: { name: 'terminal', arguments: json({ command: heredoc(text) }) },
        },
      ],
    }),
  'hermes/json-in-call': (text, m) =>
    hermes(m, {
      role: 'assistant',
      content: '',
      tool_calls: [
        {
          id: `call_${m.hex(8)}`,
          type: 'function',
          function: { name: 'mcp_post', arguments: json({ method: 'POST', body: json({ id: m.of(UPPER, 6), text }) }) },
        },
      ],
    }),
};

export const WRAPS = Object.keys(BUILDERS);

/** The case in every wrap; and bare, where one line holds it. */
export function wrapAll(own: OwnCase, random: Random, wraps: readonly string[] = WRAPS): Wrapped[] {
  const marked = remark(own);
  const out = wraps.map((wrap) => {
    const { text, spans } = parseMarked(json(BUILDERS[wrap]!(marked, new Make(random))));
    return { wrap, line: text, spans };
  });
  // A bare line that parses as JSON, or ends in blanks, would be read as something else.
  if (!/[\n\r\0]|^\s|\s$/.test(own.text)) out.push({ wrap: 'plain', line: own.text, spans: own.spans });
  return out;
}
