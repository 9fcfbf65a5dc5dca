/** An OpenAI-compatible server on a unix socket that answers by a script: the model's side of a real pi. */

import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface ChatBody {
  model: string;
  messages: { role: string; content: unknown }[];
  tools?: unknown[];
}
export type Reply = { text: string } | { bash: string } | { status: number } | { hang: true };
/** `turn`: answers given since the last user message. */
export type Script = (body: ChatBody, turn: number) => Reply;

export interface Seen {
  url: string;
  headers: IncomingMessage['headers'];
  body: ChatBody;
}

export interface ScriptedModel {
  readonly seen: Seen[];
  script: Script;
  close(): Promise<void>;
}

function turnOf(body: ChatBody): number {
  const lastUser = body.messages.map((message) => message.role).lastIndexOf('user');
  return body.messages.slice(lastUser).filter((message) => message.role === 'assistant').length;
}

function stream(response: ServerResponse, body: ChatBody, delta: Record<string, unknown>, finish: string): void {
  const frame = (choice: Record<string, unknown>, extra: Record<string, unknown> = {}): void => {
    const chunk = {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: body.model,
      choices: [choice],
      ...extra,
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  frame({ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null });
  frame({ index: 0, delta: {}, finish_reason: finish });
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  response.write(
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: body.model, choices: [], usage })}\n\n`,
  );
  response.end('data: [DONE]\n\n');
}

function answer(response: ServerResponse, body: ChatBody, reply: Reply, callId: string): void {
  if ('hang' in reply) return;
  if ('status' in reply) {
    response.writeHead(reply.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'scripted failure' } }));
  } else if ('text' in reply) stream(response, body, { content: reply.text }, 'stop');
  else {
    const call = { name: 'bash', arguments: JSON.stringify({ command: reply.bash }) };
    stream(
      response,
      body,
      { content: null, tool_calls: [{ index: 0, id: callId, type: 'function', function: call }] },
      'tool_calls',
    );
  }
}

export async function startScriptedModel(path: string, script: Script): Promise<ScriptedModel> {
  rmSync(path, { force: true });
  const seen: Seen[] = [];
  const server: Server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      const body = JSON.parse(text) as ChatBody;
      seen.push({ url: request.url ?? '', headers: request.headers, body });
      answer(response, body, model.script(body, turnOf(body)), `call_${seen.length}`);
    });
  });
  const model: ScriptedModel = {
    seen,
    script,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return model;
}

/** Runs the commands one after another, then says `done`. */
export const commands =
  (...list: string[]): Script =>
  (_body, turn) => {
    const command = list[turn];
    return command === undefined ? { text: 'done' } : { bash: command };
  };
