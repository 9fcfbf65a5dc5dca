/**
 * A loopback server in the form of OpenAI's chat completions that plays a model from a script, so that a real harness
 * can do real work without one. The step is chosen by the number of answers already in the conversation: a repeated
 * request gets the same answer. A request that does not look as the script expects is answered 500 with the reason.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

export interface ScriptedCall {
  name: string;
  arguments: Record<string, unknown>;
}
export interface ScriptStep {
  /** What the last message of the request must be, and what its text must contain. */
  expect: { role: 'user' | 'tool'; contains?: string };
  text: string;
  calls: ScriptedCall[];
}

const Request = z.looseObject({
  model: z.string(),
  stream: z.boolean().default(false),
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).nullish(),
    }),
  ),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).default([]),
});
type Request = z.infer<typeof Request>;

const BODY_BYTES = 8 * 1024 * 1024;
const CREATED = 1_700_000_000;

export interface ScriptedUpstream {
  /** `http://127.0.0.1:PORT/v1`. */
  baseUrl: string;
  close(): Promise<void>;
}

export async function startScriptedUpstream(script: ScriptStep[]): Promise<ScriptedUpstream> {
  const server: Server = createServer((request, response) => {
    void answer(script, request, response).catch((error: unknown) =>
      fail(response, error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(script: ScriptStep[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST' || !request.url?.endsWith('/chat/completions'))
    return fail(response, `${request.method} ${request.url} is not in the script`, 404);
  const body = Request.parse(JSON.parse(await readBody(request)));
  const index = body.messages.filter(({ role }) => role === 'assistant').length;
  const step = script[index];
  if (!step) return fail(response, `the script has ${script.length} answers and request ${index + 1} asks for another`);
  const problem = mismatch(step, body);
  if (problem) return fail(response, `request ${index + 1} is not as the script expects: ${problem}`);
  const id = `chatcmpl-scripted-${index + 1}`;
  if (body.stream) streamAnswer(step, id, body.model, response);
  else respondWhole(step, id, body.model, response);
}

function mismatch(step: ScriptStep, { messages, tools }: Request): string | null {
  const last = messages.at(-1);
  if (last?.role !== step.expect.role) return `the last message is of role ${last?.role}, not ${step.expect.role}`;
  const text =
    typeof last.content === 'string' ? last.content : (last.content ?? []).map((part) => part.text ?? '').join('');
  if (step.expect.contains !== undefined && !text.includes(step.expect.contains))
    return `the last message does not contain ${JSON.stringify(step.expect.contains)} but ${JSON.stringify(text.slice(-200))}`;
  const missing = step.calls.find(({ name }) => !tools.some((tool) => tool.function.name === name));
  return missing ? `the tool ${missing.name} is not declared` : null;
}

const toolCalls = (step: ScriptStep, id: string) =>
  step.calls.map((call, index) => ({
    id: `call_${id.split('-').at(-1)}_${index}`,
    type: 'function' as const,
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
const finishOf = (step: ScriptStep): string => (step.calls.length > 0 ? 'tool_calls' : 'stop');
const USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

function respondWhole(step: ScriptStep, id: string, model: string, response: ServerResponse): void {
  const calls = toolCalls(step, id);
  const message = { role: 'assistant', content: step.text || null, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  const choices = [{ index: 0, message, finish_reason: finishOf(step) }];
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id, object: 'chat.completion', created: CREATED, model, choices, usage: USAGE }));
}

function streamAnswer(step: ScriptStep, id: string, model: string, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = (delta: object, finish: string | null = null): void => {
    const chunk = {
      id,
      object: 'chat.completion.chunk',
      created: CREATED,
      model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  send({ role: 'assistant', content: '' });
  for (const word of step.text.split(/(?<= )/)) if (word !== '') send({ content: word });
  toolCalls(step, id).forEach((call, index) => {
    const half = Math.ceil(call.function.arguments.length / 2);
    send({
      tool_calls: [
        { index, ...call, function: { name: call.function.name, arguments: call.function.arguments.slice(0, half) } },
      ],
    });
    send({ tool_calls: [{ index, function: { arguments: call.function.arguments.slice(half) } }] });
  });
  send({}, finishOf(step));
  response.write(
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: CREATED, model, choices: [], usage: USAGE })}\n\n`,
  );
  response.end('data: [DONE]\n\n');
}

function fail(response: ServerResponse, message: string, status = 500): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message: `Scripted model: ${message}.`, type: 'scripted_mismatch' } }));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES) throw new Error(`the request is larger than ${BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
