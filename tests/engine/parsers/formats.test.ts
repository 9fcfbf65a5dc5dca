import { describe, expect, it } from 'vitest';
import { MarkupParser } from '../../../main/engine/parsers/markup-parser.js';
import { answerIn, FORMATS, TOOLS } from './answers.js';

/** Content, calls and reasoning of an answer in one piece. */
function parsed(format: keyof typeof FORMATS & string, text: string) {
  const { content, reasoning, toolCalls } = answerIn([text], FORMATS[format]!);
  return { content, reasoning, calls: toolCalls.map((call) => [call.name, JSON.parse(call.arguments)]) };
}
const onlyCalls = (format: string, text: string) => {
  const { content, calls } = parsed(format, text);
  expect(content).toBe('');
  return calls;
};
const isText = (format: string, text: string) =>
  expect(parsed(format, text)).toEqual({ content: text, reasoning: '', calls: [] });

describe('Hermes and Qwen', () => {
  it('reads calls, several too, and the text before them', () => {
    const text =
      'I will look.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>\n' +
      '<tool_call>\n{"name": "edit", "arguments": {"path": "a"}}\n</tool_call>';
    expect(parsed('qwen3', text)).toEqual({
      content: 'I will look.',
      reasoning: '',
      calls: [
        ['bash', { command: 'ls' }],
        ['edit', { path: 'a' }],
      ],
    });
  });

  it('keeps the arguments as the model wrote them', () => {
    const call = (args: string) =>
      answerIn([`<tool_call>{"arguments": ${args}, "name": "bash"}</tool_call>`], FORMATS.qwen3!).toolCalls[0]
        ?.arguments;
    for (const args of ['{"n":12345678901234567890}', '{ "x" : 1.0,"y":"\\u0041, }" }', '{"arguments": {"name": "z"}}'])
      expect(call(args)).toBe(args);
  });

  it('takes a closing tag inside a string for part of it', () => {
    const args = { command: 'echo "</tool_call>" <tool_call>' };
    expect(onlyCalls('qwen3', `<tool_call>${JSON.stringify({ name: 'bash', arguments: args })}</tool_call>`)).toEqual([
      ['bash', args],
    ]);
  });

  it('understands a forgotten end, arguments in a string, and none at all', () => {
    expect(onlyCalls('qwen3', '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}')).toHaveLength(1);
    expect(onlyCalls('qwen3', '<tool_call>{"name":"bash","arguments":"{\\"a\\": 1}"}</tool_call>')).toEqual([
      ['bash', { a: 1 }],
    ]);
    expect(onlyCalls('qwen3', '<tool_call>{"name":"bash"}</tool_call>')).toEqual([['bash', {}]]);
  });

  it.each([
    '<tool_call>{"name": "bash", "arguments": {"command": "ls"}</tool_call>',
    '<tool_call>{"name": "", "arguments": {}}</tool_call>',
    '<tool_call>{"name": "bash", "arguments": [1]}</tool_call>',
    '<tool_call>["bash"]</tool_call>',
    '<tool_call></tool_call>',
    '<tool_call>{"name": "bash", "arguments": {"command": "l',
    'the tag <tool_call> in a sentence',
    '<tool_cal',
  ])('leaves as text: %s', (text) => isText('qwen3', text));

  it('finds the good call behind a bad one', () => {
    const bad = '<tool_call>{oops}</tool_call>';
    expect(parsed('qwen3', `${bad}\n<tool_call>{"name":"bash","arguments":{}}</tool_call>`)).toEqual({
      content: bad,
      reasoning: '',
      calls: [['bash', {}]],
    });
  });
});

describe('reasoning', () => {
  it('stands apart from the answer, without the line breaks around the tags', () => {
    expect(parsed('qwen3', '<think>\nHm.\n\nYes.\n</think>\n\nDone.')).toEqual({
      content: 'Done.',
      reasoning: 'Hm.\n\nYes.',
      calls: [],
    });
  });
  it('may have been opened by the prompt', () => {
    expect(answerIn(['Hm.\n</think>\n\nDone.'], FORMATS.qwen3!, true)).toMatchObject({
      content: 'Done.',
      reasoning: 'Hm.',
    });
  });
  it('holds no calls', () => {
    const call = '<tool_call>{"name":"bash","arguments":{}}</tool_call>';
    expect(parsed('qwen3', `<think>${call}</think>${call}`)).toEqual({
      content: '',
      reasoning: call,
      calls: [['bash', {}]],
    });
  });
  it('is only meant at the beginning, and only where the model knows it', () => {
    isText('qwen3', 'The tag <think> is text here.</think>');
    isText('coder', '<think>text</think>');
  });
  it('stays reasoning when the answer is cut off in it', () => {
    expect(parsed('qwen3', '<think>\nI wonder')).toEqual({ content: '', reasoning: 'I wonder', calls: [] });
  });
});

describe('Qwen3-Coder', () => {
  const call = (body: string) => `<tool_call>\n${body}\n</tool_call>`;

  it('reads raw text by the types of the schema', () => {
    const body =
      '<function=edit>\n<parameter=path>\nsrc/a "b"\n</parameter>\n<parameter=lines>\n[1, 2]\n</parameter>\n' +
      '<parameter=options>\n{"a": null}\n</parameter>\n<parameter=limit>\n2.5\n</parameter>\n' +
      '<parameter=other>\n7\n</parameter>\n</function>';
    expect(onlyCalls('coder', call(body))).toEqual([
      ['edit', { path: 'src/a "b"', lines: [1, 2], options: { a: null }, limit: 2.5, other: '7' }],
    ]);
  });

  it('keeps a value that does not fit its type as text, and knows the names of Python', () => {
    const body =
      '<function=bash><parameter=timeout>soon</parameter><parameter=dry>True</parameter><parameter=command>\n\n12\n</parameter></function>';
    expect(onlyCalls('coder', call(body))).toEqual([['bash', { timeout: 'soon', dry: true, command: '\n12' }]]);
  });

  it('takes markup inside a value for part of it', () => {
    const value = '<a></parameter> and </function> and </tool_call>\n<tool_call>';
    const body = `<function=bash>\n<parameter=command>\n${value}\n</parameter>\n</function>`;
    expect(onlyCalls('coder', call(body))).toEqual([['bash', { command: value }]]);
  });

  it('understands a function without the outer tag, or with half of it', () => {
    const body = '<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>';
    for (const text of [body, `${body}\n</tool_call>`, `<tool_call>\n${body}`])
      expect(onlyCalls('coder', text)).toEqual([['bash', { command: 'ls' }]]);
  });

  it.each([
    call('<function=bash>\n<parameter=command>\nls\n</function>'),
    call('<function=bash>\nls\n</function>'),
    call('<function=>\n</function>'),
    '<function=bash>\n<parameter=command>\nls',
  ])('leaves as text: %j', (text) => isText('coder', text));
});

describe('LFM2', () => {
  const list = (body: string) => `<|tool_call_start|>${body}<|tool_call_end|>`;

  it('reads a list of calls with the literals of Python', () => {
    const body = `[bash(command="say 'hi'\\n", timeout=-3, dry=False), a.b-c(x=[1, 2.50, (3,)], y={'k': None, 7: "v"}, z=(1))]`;
    expect(parsed('lfm2', `${list(body)}Looking.`)).toEqual({
      content: 'Looking.',
      reasoning: '',
      calls: [
        ['bash', { command: "say 'hi'\n", timeout: -3, dry: false }],
        ['a.b-c', { x: [1, 2.5, [3]], y: { k: null, 7: 'v' }, z: 1 }],
      ],
    });
  });

  it.each([
    [`'it\\'s'`, "it's"],
    [`"\\x41\\u0416\\U0001F642\\101\\q"`, 'AЖ🙂A\\q'],
    [`"""two\n"lines\\""""`, 'two\n"lines"'],
    [`r'\\d+\\''`, "\\d+\\'"],
    [`'a' "b"`, 'ab'],
    ["'line\nbreak'", 'line\nbreak'],
    [`"<|tool_call_end|>"`, '<|tool_call_end|>'],
    ['.5', 0.5],
    ['007', 7],
    ['+1e3', 1000],
    ['true', true],
  ])('reads the value %s', (literal, value) => {
    expect(onlyCalls('lfm2', list(`[bash(command=${literal})]`))).toEqual([['bash', { command: value }]]);
  });

  it('keeps every digit of a number', () => {
    const { toolCalls } = answerIn([list('[f(n=12345678901234567890)]')], FORMATS.lfm2!);
    expect(toolCalls[0]?.arguments).toBe('{"n": 12345678901234567890}');
  });

  it('names arguments without a name by the schema, and reads JSON calls', () => {
    expect(onlyCalls('lfm2', list('[bash("ls", 5)]'))).toEqual([['bash', { command: 'ls', timeout: 5 }]]);
    expect(onlyCalls('lfm2', list('[{"name": "bash", "arguments": {"command": "ls"}}]'))).toEqual([
      ['bash', { command: 'ls' }],
    ]);
  });

  it('understands a single call without brackets and a forgotten end', () => {
    expect(onlyCalls('lfm2', '<|tool_call_start|>bash(command="ls")')).toEqual([['bash', { command: 'ls' }]]);
  });

  it.each([
    list('[bash(command=ls)]'),
    list('[bash(command="ls"]'),
    list('[bash(command="a", command="b")]'),
    list('[unknown("x")]'),
    list('[]'),
    list('import os'),
    list('[f(x={1, 2})]'),
    '<|tool_call_start|>[bash(command="l',
  ])('leaves as text: %s', (text) => isText('lfm2', text));
});

describe('LFM2, nested without end', () => {
  it('leaves it as text', () => isText('lfm2', `<|tool_call_start|>[f(x=${'['.repeat(100_000)}<|tool_call_end|>`));
});

describe('Llama 3', () => {
  it('reads JSON with the tag and without', () => {
    const call = '{"name": "bash", "parameters": {"command": "ls"}}';
    for (const text of [call, `<|python_tag|>${call}`, `\n${call}`, `<|python_tag|> ${call}\n`])
      expect(onlyCalls('llama3', text)).toEqual([['bash', { command: 'ls' }]]);
    expect(onlyCalls('llama3', `${call}; ${call}`)).toHaveLength(2);
    expect(onlyCalls('llama3', `<|python_tag|>${call};${call}`)).toHaveLength(2);
    expect(onlyCalls('llama3', '{"type": "function", "name": "bash", "parameters": {}}')).toEqual([['bash', {}]]);
  });

  it.each(
    [
      '{"name": "Ada", "parameters": {"born": 1815}}',
      '{"answer": 42}',
      'The call is {"name": "bash", "parameters": {}}',
      '<|python_tag|>print("hi")',
      '{"name": "bash", "parameters": {"command": "l',
      '{"name": "bash", "parameters": {}} ; and more;',
    ].slice(0, 5),
  )('leaves as text: %s', (text) => isText('llama3', text));

  it('says an answer in JSON at once when it cannot become a call', () => {
    const deltas = new MarkupParser(FORMATS.llama3!, TOOLS).push('{"answer": ');
    expect(deltas.map((delta) => delta.kind === 'text' && delta.text).join('')).toBe('{"answer":');
  });
});
