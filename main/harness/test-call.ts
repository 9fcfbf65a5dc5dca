/** One request as the harness would send it: the same address, the same token. */
import { request } from 'undici';
import { z } from 'zod';
import type { GatewaySettings } from './connector.js';

/** A model that is being loaded takes its time; longer than this is no answer for somebody who waits. */
const DEADLINE_MS = 60_000;
const LIST_DEADLINE_MS = 3_000;
/** Whoever listens at the port may be anything and say anything. */
const MAX_ANSWER_CHARS = 100_000;
const MAX_REASON_CHARS = 300;
/** What a server says that knows neither the path nor the token. */
const STRANGE = [301, 302, 307, 308, 401, 403, 404, 405];

export type TestCall =
  | { outcome: 'arrived'; ms: number }
  /** Nothing listens at the port. */
  | { outcome: 'nobody' }
  /** Something listens, and it is not the gateway of this home. */
  | { outcome: 'stranger' }
  | { outcome: 'failed'; reason: string };

const ErrorBody = z.object({ error: z.object({ message: z.string() }) });
const Length = z.number().int().positive().optional().catch(undefined);
/** Each kind of server has its own word for the context length. */
const ServedModel = z.object({
  id: z.string(),
  max_model_len: Length,
  context_length: Length,
  context_window: Length,
  n_ctx: Length,
});
const ModelList = z.object({ data: z.array(ServedModel) });

const refused = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'ECONNREFUSED';

interface Answer {
  status: number;
  text: string;
}

/** Not `fetch`: that refuses some ports, whoever listens there. Follows no redirects. */
async function send(url: string, token: string, deadlineMs: number, body?: unknown): Promise<Answer> {
  const response = await request(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(deadlineMs),
    reset: true,
  });
  let text = '';
  for await (const chunk of response.body.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_ANSWER_CHARS) break;
  }
  return { status: response.statusCode, text };
}

function reasonIn(status: number, text: string): string {
  try {
    return ErrorBody.parse(JSON.parse(text)).error.message.slice(0, MAX_REASON_CHARS);
  } catch {
    return `status ${status}`;
  }
}

/** Never throws. */
export async function testCall(
  { baseUrl, modelId, token }: GatewaySettings,
  deadlineMs = DEADLINE_MS,
): Promise<TestCall> {
  const began = performance.now();
  try {
    const { status, text } = await send(`${baseUrl}/chat/completions`, token, deadlineMs, {
      model: modelId,
      messages: [{ role: 'user', content: 'Tackroom asks: does this arrive?' }],
      max_tokens: 1,
      stream: false,
    });
    if (status === 200) return { outcome: 'arrived', ms: performance.now() - began };
    // The server behind the gateway may say so as well.
    const stranger = STRANGE.includes(status) && (await whoAnswers(new URL(baseUrl).origin, token)) !== 'ours';
    return stranger ? { outcome: 'stranger' } : { outcome: 'failed', reason: reasonIn(status, text) };
  } catch (error) {
    if (refused(error)) return { outcome: 'nobody' };
    if ((error as Error).name === 'TimeoutError')
      return { outcome: 'failed', reason: `no answer within ${deadlineMs / 1000} s` };
    return { outcome: 'stranger' };
  }
}

/** Offered to see whether it is refused. Only who knows the token can say it, so the gateway takes it for no intruder's. */
export const wrongToken = (token: string): string => `not-${token}`;

/** Serves nothing, so that neither the engine nor a server behind the gateway is asked. */
const NOTHING = '/v1/tackroom';

/** Who listens at `origin`: this home's gateway takes its token and no other. Never throws. */
export async function whoAnswers(origin: string, token: string): Promise<'ours' | 'nobody' | 'stranger'> {
  const status = async (offered: string): Promise<number> =>
    (await send(`${origin}${NOTHING}`, offered, LIST_DEADLINE_MS)).status;
  try {
    // Past the token there is nothing, or nothing that could be checked.
    const admitted = [403, 404].includes(await status(token));
    return admitted && (await status(wrongToken(token))) === 401 ? 'ours' : 'stranger';
  } catch (error) {
    return refused(error) ? 'nobody' : 'stranger';
  }
}

/** What is served to a harness; null: no gateway says. `id` is null where several are. Never throws. */
export async function servedModel(
  baseUrl: string,
  token: string,
): Promise<{ id: string | null; contextTokens: number | null } | null> {
  try {
    const { status, text } = await send(`${baseUrl}/models`, token, LIST_DEADLINE_MS);
    if (status !== 200) return null;
    const [model, ...others] = ModelList.parse(JSON.parse(text)).data;
    if (!model || others.length > 0) return { id: null, contextTokens: null };
    const { id, max_model_len, context_length, context_window, n_ctx } = model;
    return { id, contextTokens: max_model_len ?? n_ctx ?? context_length ?? context_window ?? null };
  } catch {
    return null;
  }
}
