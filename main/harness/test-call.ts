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
const ModelList = z.object({
  data: z.array(z.object({ id: z.string(), max_model_len: z.number().int().positive().optional() })).min(1),
});

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
export async function testCall({ baseUrl, modelId, token }: GatewaySettings): Promise<TestCall> {
  const began = performance.now();
  try {
    const { status, text } = await send(`${baseUrl}/chat/completions`, token, DEADLINE_MS, {
      model: modelId,
      messages: [{ role: 'user', content: 'Tackroom asks: does this arrive?' }],
      max_tokens: 1,
      stream: false,
    });
    if (status === 200) return { outcome: 'arrived', ms: performance.now() - began };
    if (STRANGE.includes(status)) return { outcome: 'stranger' };
    return { outcome: 'failed', reason: reasonIn(status, text) };
  } catch (error) {
    if (refused(error)) return { outcome: 'nobody' };
    if ((error as Error).name === 'TimeoutError')
      return { outcome: 'failed', reason: `no answer within ${DEADLINE_MS / 1000} s` };
    return { outcome: 'stranger' };
  }
}

/** Asks who listens, without a word to the model. Never throws. */
export async function probeGateway(
  baseUrl: string,
  token: string,
): Promise<
  { outcome: 'ours'; model: string | null; contextTokens: number | null } | { outcome: 'nobody' | 'stranger' }
> {
  try {
    const { status, text } = await send(`${baseUrl}/models`, token, LIST_DEADLINE_MS);
    if (status !== 200) return { outcome: 'stranger' };
    const list = ModelList.safeParse(JSON.parse(text));
    const served = list.data?.data[0];
    return { outcome: 'ours', model: served?.id ?? null, contextTokens: served?.max_model_len ?? null };
  } catch (error) {
    return { outcome: refused(error) ? 'nobody' : 'stranger' };
  }
}
