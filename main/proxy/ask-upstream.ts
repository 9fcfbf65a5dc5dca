/**
 * Asks another server for the answer, in the harness's own dialect unless the route names another. Its token ids are unknown, so
 * nothing trains on it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Sampling } from '../engine/protocol.js';
import { type Answer, NO_TOKENS } from './answer.js';
import { consistentFinish, withIds } from './ask-engine.js';
import type { ChatRequest } from './chat-request.js';
import { type Collector, notAnAnswer, type UpstreamSink } from './dialects/collected.js';
import { type Api, DIALECTS, type Dialect } from './dialects/dialect.js';
import { outgoingBody } from './dialects/outgoing.js';
import { HttpError } from './http-error.js';
import type { IncomingBody } from './incoming-body.js';
import { readDocument, readEvents } from './relay/receive.js';
import type { Original } from './relay/relay.js';
import { replaceEarlyMember, replaceMember } from './relay/replace-member.js';
import type { SseEvent } from './relay/sse-reader.js';
import type { Deadlines, Upstream } from './services.js';
import type { Opened } from './settle/settler.js';
import { type OutgoingBody, refused, sendUpstream, unreachable } from './upstream-http.js';

export interface AskedUpstream {
  upstream: Upstream;
  opening: Promise<Opened>;
  /** null: it has gone out already, as it came. */
  chat: ChatRequest | null;
  /** null: it is still to be written. */
  sent: { response: Promise<Dispatcher.ResponseData> } | null;
  /** What the harness speaks. */
  dialect: Dialect;
  /** With its question mark, or ''. */
  query: string;
  headers: IncomingHttpHeaders;
  /** null: the body goes out as the harness wrote it; otherwise the named members replace its own. */
  sampling: Sampling | null;
}

/** Passes what arrives on as it came. */
export interface Passing {
  stream(headers: Dispatcher.ResponseData['headers']): {
    original: Original;
    push(event: SseEvent): Promise<void> | undefined;
  };
  document(headers: Dispatcher.ResponseData['headers'], body: Buffer): { original: Original };
}

/** Throws the server's own status and body, or 502. `passing` null: the answer may be replaced, nothing is passed on. */
export async function askUpstream(
  asked: AskedUpstream,
  deadlines: Deadlines,
  sink: UpstreamSink,
  passing: Passing | null,
  signal: AbortSignal,
): Promise<Answer> {
  const started = performance.now();
  let firstTokenMs: number | null = null;
  const seen = (): void => {
    firstTokenMs ??= performance.now() - started;
  };
  const spoken = DIALECTS[asked.upstream.api ?? asked.dialect.api];
  const collector = spoken.collector({
    text: (text) => {
      seen();
      sink.text(text);
    },
    reasoning: (part) => {
      seen();
      sink.reasoning(part);
    },
  });
  const response = await send(asked, spoken, deadlines, signal);
  const original = await receive(
    response,
    collector,
    asked,
    spoken.api,
    spoken.api === asked.dialect.api ? passing : null,
  );
  if (collector.finish === null)
    throw new HttpError(
      502,
      'UPSTREAM',
      'The upstream server ended the stream without a finish reason: connection lost.',
    );
  if (original)
    Object.assign(original, { calls: collector.toolCalls, finish: collector.finish, irregular: collector.irregular });
  // hermes loses the result of a call whose id came before in the conversation.
  const toolCalls = withIds(collector.toolCalls, new Set((await asked.opening).callIds));
  const { content, reasoning, promptTokens, completionTokens, cachedTokens, responseId } = collector;
  return {
    content,
    reasoning,
    toolCalls,
    finish: consistentFinish(collector.finish, toolCalls),
    tokens: NO_TOKENS,
    promptTokens,
    completionTokens,
    cachedTokens,
    firstTokenMs,
    adapterHash: null,
    synthetic: false,
    ...(responseId !== null && { responseId }),
  };
}

/**
 * Sends a body in the harness's own dialect while it comes in. The name of the model is replaced where it stands in what came first; else
 * the body goes out when it is whole. null: it has no name of the model that could be replaced. Throws when the harness hangs up.
 */
export async function sendAsItComes(
  asked: Pick<AskedUpstream, 'upstream' | 'dialect' | 'query' | 'headers'> & { body: IncomingBody },
  deadlines: Deadlines,
  signal: AbortSignal,
): Promise<{ response: Promise<Dispatcher.ResponseData> } | null> {
  const { upstream, dialect, body } = asked;
  const { model } = upstream;
  const head = await body.head;
  const early = model === undefined ? head : replaceEarlyMember(head, 'model', model);
  const go = (out: OutgoingBody) => ({ response: post(asked, dialect, out, deadlines, signal) });
  if (early !== null && head.length === body.length) return go(early);
  if (early !== null && body.length !== null)
    return go({ length: body.length - head.length + early.length, stream: body.from(early) });
  const bytes = await body.whole();
  const whole = model === undefined ? bytes : replaceMember(bytes, 'model', model);
  return whole && go(whole);
}

function post(
  { upstream, dialect, query, headers }: Pick<AskedUpstream, 'upstream' | 'dialect' | 'query' | 'headers'>,
  spoken: Dialect,
  body: OutgoingBody,
  deadlines: Deadlines,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const path = `${spoken.path}${spoken.api === dialect.api ? query : ''}`;
  const accept = headers.accept ?? '*/*';
  const asked = {
    upstream,
    api: spoken.api,
    path,
    method: 'POST' as const,
    body,
    contentType: 'application/json',
    accept,
    headers,
  };
  return sendUpstream(asked, deadlines, signal);
}

async function send(
  asked: AskedUpstream,
  spoken: Dialect,
  deadlines: Deadlines,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const response = await (asked.sent?.response ??
    post(asked, spoken, await translated(asked, asked.chat!, spoken.api), deadlines, signal));
  return response.statusCode === 200 ? response : refused(response, asked.upstream.apiKey);
}

async function translated(
  { upstream, opening, sampling }: AskedUpstream,
  chat: ChatRequest,
  api: Api,
): Promise<string> {
  const { model } = upstream;
  const usage = (await opening).stream && api === 'chat' ? { stream_options: { include_usage: true } } : {};
  return JSON.stringify(
    outgoingBody(api, {
      ...chat.raw,
      ...(model !== undefined && { model }),
      ...(sampling && samplingFields(chat, sampling)),
      ...usage,
    }),
  );
}

/** Reads the answer to its end; returns what was passed on, if anything was. */
async function receive(
  response: Dispatcher.ResponseData,
  collector: Collector,
  asked: AskedUpstream,
  spoken: Api,
  passing: Passing | null,
): Promise<Original | null> {
  const type = String(response.headers['content-type'] ?? '');
  try {
    if (type.includes('event-stream')) {
      // What is passed on needs nobody who has read the request; what is written anew does.
      if (passing === null) await asked.opening;
      const to = passing?.stream(response.headers) ?? null;
      await readEvents(response.body, DIALECTS[spoken].editor.isLast, (event) => {
        // Read first: what cannot be understood does not go on.
        if (event.data !== null) collector.event(event.data, event.name);
        return to?.push(event);
      });
      return to?.original ?? null;
    }
    if (!type.includes('json')) throw notAnAnswer();
    const body = await readDocument(response.body as AsyncIterable<Buffer>);
    const { stream } = await asked.opening;
    collector.document(body.toString('utf8'));
    return stream ? null : ((passing?.document(response.headers, body) ?? null)?.original ?? null);
  } catch (cause) {
    // Giving the rest up makes the body report an abort; the cause above is what counts.
    response.body.once('error', () => undefined).destroy();
    throw cause instanceof HttpError ? cause : unreachable(cause);
  }
}

/** The token limit goes under the name that the harness used. */
function samplingFields(chat: ChatRequest, sampling: Sampling): Record<string, unknown> {
  const limit = 'max_completion_tokens' in chat.raw ? 'max_completion_tokens' : 'max_tokens';
  const fields = {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    min_p: sampling.minP,
    repetition_penalty: sampling.repetitionPenalty,
    seed: sampling.seed,
    [limit]: sampling.maxTokens,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
