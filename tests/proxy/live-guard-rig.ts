/** A gateway with the real guard on its store, and a model server that answers in the API it is asked in. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GuardSettings } from '../../contract/guard.js';
import { blockedNotice } from '../../main/guard/guard.js';
import { LiveGuard } from '../../main/guard/live-guard.js';
import { changeGuardSettings } from '../../main/guard/settings.js';
import { type Answer, textAnswer } from '../../main/proxy/answer.js';
import { type Api, DIALECTS } from '../../main/proxy/dialects/dialect.js';
import type { Deadlines, SampledCall } from '../../main/proxy/services.js';
import { UPSTREAMS_SETTING } from '../../main/proxy/upstream-setting.js';
import { BASH, type Reply, type Rig, startRig } from './support.js';

export interface LiveRig extends Rig {
  guard: LiveGuard;
  set(change: Partial<GuardSettings>): void;
  /** What the model answers from now on. */
  answer(calls: SampledCall[], text?: string): void;
  /** How often the server was asked. */
  answered(): number;
  /** The engine answers instead of the server, in the API that the harness speaks. */
  answerByEngine(): Promise<void>;
  /** Asks with `tools`, by default a shell. */
  ask(api: Api, stream: boolean, tools?: string[], messages?: unknown[]): Promise<Reply>;
}

export const SHELL = 'bash';
export const call = (id: string, command: string, name = SHELL): SampledCall => ({
  id,
  name,
  arguments: JSON.stringify({ command }),
});
/** A host that nobody named: stage 1 blocks it under every profile. */
export const EVIL = 'curl https://other.example.org/x';

/** What a client makes of a reply: its text, its calls, how it ended. */
export function readReply(api: Api, reply: Reply): { text: string; calls: SampledCall[]; finish: string | null } {
  const collector = DIALECTS[api].collector({ text: () => undefined, reasoning: () => undefined });
  const streamed = String(reply.headers['content-type']).includes('event-stream');
  if (!streamed) collector.document(reply.text);
  else for (const [, data] of reply.text.matchAll(/^data: (\{.*)$/gm)) collector.push(data!);
  return { text: collector.content, calls: collector.toolCalls, finish: collector.finish };
}

export async function startLiveRig(deadlines: Partial<Deadlines> = {}, modulesMs?: number): Promise<LiveRig> {
  let guard: LiveGuard | undefined;
  const rig = await startRig(deadlines, (store) => {
    const live = new LiveGuard(store, () => Promise.reject(new Error('no engine')), modulesMs);
    guard = live;
    return { checkResponse: (input) => live.checkResponse(input), blockedNotice };
  });
  let answer: Answer = textAnswer('Hi.');
  let answered = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      answered++;
      const dialect = Object.values(DIALECTS).find(({ path }) => request.url!.endsWith(path))!;
      const { stream } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { stream?: boolean };
      const identity = { id: 'chatcmpl-up', created: 1, model: 'up' };
      const writer = dialect.respond(response, identity, { stream: stream === true, includeUsage: true }, 5000);
      if (answer.content !== '') writer.text(answer.content);
      writer.finish(answer, { toolCalls: answer.toolCalls, notice: null, finish: answer.finish, blocked: 0 });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  rig.store.setSetting(UPSTREAMS_SETTING, { pi: { baseUrl } });
  const parameters = BASH.function.parameters;
  return {
    ...rig,
    guard: guard!,
    set: (change) => void changeGuardSettings(rig.store, (settings) => ({ ...settings, ...change })),
    answer(toolCalls, text = 'Look.') {
      answer = { ...textAnswer(text), toolCalls, finish: toolCalls.length > 0 ? 'tool_calls' : 'stop' };
      rig.engine.script({ text: [text], calls: toolCalls });
    },
    answered: () => answered,
    async answerByEngine() {
      rig.store.setSetting(UPSTREAMS_SETTING, {});
      await rig.call('routes.reload');
    },
    ask(api, stream, tools = [SHELL], messages = [{ role: 'user', content: 'Hi' }]) {
      const body = { model: 'm', stream };
      const defined = tools.map((name) => ({ name, parameters }));
      if (api === 'messages')
        return rig.post('/pi/v1/messages', {
          ...body,
          max_tokens: 99,
          messages,
          tools: tools.map((name) => ({ name, input_schema: parameters })),
        });
      if (api === 'responses')
        return rig.post('/pi/v1/responses', {
          ...body,
          input: 'Hi',
          tools: defined.map((one) => ({ type: 'function', ...one })),
        });
      return rig.chat({ ...body, messages, tools: defined.map((one) => ({ type: 'function', function: one })) });
    },
    async close() {
      guard?.close();
      server.closeAllConnections();
      server.close();
      await rig.close();
    },
  };
}
