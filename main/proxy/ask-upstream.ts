/** Forwards a request to another OpenAI-compatible server. Its token ids are unknown, so nothing trains on the answer. */
import { createParser } from 'eventsource-parser';
import { type Dispatcher, request } from 'undici';
import type { Sampling } from '../engine/protocol.js';
import { type Answer, NO_TOKENS } from './answer.js';
import { consistentFinish, withIds } from './ask-engine.js';
import type { ChatRequest } from './chat-request.js';
import { HttpError } from './http-error.js';
import type { Deadlines, Upstream } from './services.js';
import { ChunkCollector, type UpstreamSink } from './upstream-chunks.js';

/**
 * `sampling` null: the body goes out as the harness wrote it; otherwise the named members replace its own. Throws the
 * server's own status and body, or 502.
 */
export async function askUpstream(
  upstream: Upstream,
  chat: ChatRequest,
  sampling: Sampling | null,
  deadlines: Deadlines,
  sink: UpstreamSink,
  signal: AbortSignal,
): Promise<Answer> {
  const started = performance.now();
  let firstTokenMs: number | null = null;
  const seen = (): void => {
    firstTokenMs ??= performance.now() - started;
  };
  const collector = new ChunkCollector({
    text: (text) => {
      seen();
      sink.text(text);
    },
    reasoning: (part) => {
      seen();
      sink.reasoning(part);
    },
  });
  const response = await send(upstream, chat, sampling, deadlines, signal);
  await collect(response, collector);
  if (collector.finish === null)
    throw new HttpError(
      502,
      'UPSTREAM',
      'The upstream server ended the stream without a finish reason: connection closed.',
    );
  const toolCalls = withIds(collector.toolCalls);
  const { content, reasoning, promptTokens, completionTokens, cachedTokens } = collector;
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
  };
}

async function send(
  upstream: Upstream,
  chat: ChatRequest,
  sampling: Sampling | null,
  deadlines: Deadlines,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const body = {
    ...chat.raw,
    ...(sampling && samplingFields(chat, sampling)),
    ...(chat.stream && { stream_options: { include_usage: true } }),
  };
  let response: Dispatcher.ResponseData;
  try {
    response = await request(`${upstream.baseUrl.replace(/\/+$/, '')}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: chat.stream ? 'text/event-stream' : 'application/json',
        'accept-encoding': 'identity',
        ...(upstream.apiKey !== null && { authorization: `Bearer ${upstream.apiKey}` }),
      },
      body: JSON.stringify(body),
      signal,
      headersTimeout: deadlines.upstreamHeadersMs,
      bodyTimeout: deadlines.upstreamIdleMs,
    });
  } catch (cause) {
    throw unreachable(cause);
  }
  if (response.statusCode === 200) return response;
  const verbatim = {
    body: Buffer.from(await response.body.arrayBuffer()),
    contentType: String(response.headers['content-type'] ?? 'application/json'),
  };
  if (response.statusCode >= 400)
    throw new HttpError(
      response.statusCode,
      'UPSTREAM',
      `The upstream server answered with status ${response.statusCode}.`,
      verbatim,
    );
  throw new HttpError(502, 'UPSTREAM', `The upstream server answered with status ${response.statusCode}.`);
}

async function collect(response: Dispatcher.ResponseData, collector: ChunkCollector): Promise<void> {
  const type = String(response.headers['content-type'] ?? '');
  try {
    if (type.includes('json')) return collector.push(await response.body.text());
    if (!type.includes('event-stream'))
      throw new HttpError(502, 'UPSTREAM', 'The upstream server sent something that is not a chat completion.');
    const parser = createParser({ onEvent: ({ data }) => data !== '[DONE]' && collector.push(data) });
    const decoder = new TextDecoder();
    for await (const bytes of response.body as AsyncIterable<Buffer>)
      parser.feed(decoder.decode(bytes, { stream: true }));
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

function unreachable(cause: unknown): HttpError {
  return new HttpError(
    502,
    'UPSTREAM',
    `Connection error: the upstream server did not answer (${cause instanceof Error ? cause.message : String(cause)}).`,
  );
}
