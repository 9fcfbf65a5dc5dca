/** The built-in engine as the guard's judge. Connected to when the first question comes: most gateways have none. */
import { type AskModel, MAX_JUDGE_TOKENS } from '../../guard/model-judge.js';
import { RpcClient } from '../../services/rpc.js';
import { EngineClient } from '../engine-client.js';

/** `socket`: of the engine. */
export function judgeOnEngine(socket: string): { ask: AskModel; close(): void } {
  let rpc: RpcClient | undefined;
  return {
    async ask(messages, { deadlineMs }, signal) {
      rpc ??= new RpcClient(socket, 'engine', deadlineMs);
      const engine = new EngineClient(rpc, () => undefined);
      const sampling = { temperature: 0, maxTokens: MAX_JUDGE_TOKENS };
      const answer = await engine.chat(
        { messages, sampling, adapter: null, priority: 'interactive' },
        { signal, timeoutMs: deadlineMs, onDelta: () => undefined },
      );
      return answer.content;
    },
    close: () => rpc?.close(),
  };
}
