/**
 * A model server on the loopback that plays a script in three APIs. One server serves many runs at once: the name of the model says
 * which run a request belongs to.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../../../main/proxy/dialects/dialect.js';
import { chatDocument, chatEvents } from './chat-events.js';
import { messagesDocument, messagesEvents } from './messages-events.js';
import { type Event, eventText, type Frame, type Reply, type Said } from './reply.js';
import { responsesDocument, responsesEvents } from './responses-events.js';

export interface AskedBody {
  model: string;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: unknown[];
  messages?: { role: string; content: unknown }[];
  input?: { role?: string; type?: string; content?: unknown }[];
}

export interface Asked {
  api: Api;
  body: AskedBody;
  headers: IncomingMessage['headers'];
  /** Requests of this run before, those of the main conversation (they offer tools), and results of calls in this one. */
  index: number;
  turn: number;
  results: number;
}

export interface Run {
  asked: Asked[];
  /** Throws to the harness as a status 500; the test looks at `problems`. */
  play(asked: Asked): Reply;
}

const ENCODERS: Record<
  Api,
  { events(said: Said, frame: Frame): Event[]; document(said: Said, frame: Frame): unknown }
> = {
  chat: { events: chatEvents, document: chatDocument },
  responses: { events: responsesEvents, document: responsesDocument },
  messages: { events: messagesEvents, document: messagesDocument },
};
const PATHS: [RegExp, Api][] = [
  [/\/chat\/completions$/, 'chat'],
  [/\/responses$/, 'responses'],
  [/\/messages$/, 'messages'],
];
const FIRST_PIECE_MS = 150;

function resultsIn({ messages, input }: AskedBody): number {
  const blocks = (messages ?? []).flatMap(({ content }) =>
    Array.isArray(content) ? (content as { type?: string }[]) : [],
  );
  return (
    (messages ?? []).filter(({ role }) => role === 'tool').length +
    blocks.filter(({ type }) => type === 'tool_result').length +
    (input ?? []).filter(({ type }) => type === 'function_call_output').length
  );
}

const failure = (api: Api): string =>
  api === 'chat'
    ? 'data: {"error":{"message":"The scripted server failed.","type":"server_error","code":500}}\n\n'
    : api === 'messages'
      ? 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"The scripted server failed."}}\n\n'
      : 'event: error\ndata: {"type":"error","code":"server_error","message":"The scripted server failed.","param":null,"sequence_number":3}\n\n';

async function stream(response: ServerResponse, api: Api, said: Said, events: readonly Event[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  const half = said.fault === undefined ? Number.POSITIVE_INFINITY : Math.floor(events.length / 2);
  for (const [at, event] of events.entries()) {
    if (at === half) {
      if (said.fault === 'malformed') response.write('data: {"choices":[{"delta":{"content":"half an ev\n\n');
      else if (said.fault === 'ends') return void response.end();
      else if (said.fault === 'error') return void response.end(failure(api));
      else {
        // What was written before has to leave this process first.
        await sleep(FIRST_PIECE_MS);
        return void response.destroy();
      }
    }
    if (said.form === 'comments') response.write(': still here\n\n');
    response.write(eventText(event));
    if (said.delayMs?.event) await sleep(said.delayMs.event);
  }
  response.end();
}

async function answer(response: ServerResponse, asked: Asked, reply: Reply): Promise<void> {
  if ('hang' in reply) return;
  if ('drop' in reply) return void response.destroy();
  if ('html' in reply) return void response.writeHead(reply.status, { 'content-type': 'text/html' }).end(reply.html);
  if ('status' in reply) {
    const body = asked.api === 'messages' ? { type: 'error', error: reply.error } : { error: reply.error };
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    return void response.end(JSON.stringify(body));
  }
  const { model, stream_options: options } = asked.body;
  const frame = { n: asked.index, model, includeUsage: options?.include_usage === true };
  if (reply.delayMs?.first) await sleep(reply.delayMs.first);
  const encoder = ENCODERS[asked.api];
  if (asked.body.stream === true && reply.document === undefined)
    return stream(response, asked.api, reply, encoder.events(reply, frame));
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(encoder.document(reply, frame)));
}

export class ModelServer {
  readonly #runs = new Map<string, Run>();
  readonly #http = createServer((request, response) => void this.#serve(request, response));
  port = 0;

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    this.port = (this.#http.address() as AddressInfo).port;
  }

  /** Everything that asks for `model` from now on. */
  open(model: string, play: Run['play']): Run {
    const run = { asked: [], play };
    this.#runs.set(model, run);
    return run;
  }

  close(): void {
    this.#http.closeAllConnections();
    this.#http.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      return;
    }
    const path = (request.url ?? '').split('?')[0]!;
    const api = PATHS.find(([pattern]) => pattern.test(path))?.[1];
    // hermes looks for other kinds of servers at many addresses.
    if (api === undefined) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as AskedBody;
    const run = this.#runs.get(body.model);
    if (run === undefined) return void response.writeHead(410).end(`no run ${body.model}`);
    const asked: Asked = {
      api,
      body,
      headers: request.headers,
      index: run.asked.length,
      turn: run.asked.filter((one) => hasTools(one.body)).length,
      results: resultsIn(body),
    };
    run.asked.push(asked);
    await answer(response, asked, run.play(asked));
  }
}

export const hasTools = (body: AskedBody): boolean => (body.tools ?? []).length > 0;
