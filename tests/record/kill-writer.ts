/** Records requests until it is killed; prints the id of each one once it is acknowledged. Argument: the home folder. */
import { writeSync } from 'node:fs';
import type { ChatMessage } from '../../main/engine/protocol.js';
import { Recorder } from '../../main/record/recorder.js';
import { openStore } from '../../main/store/store.js';
import { ask, callBash, request, result, system, user } from './support.js';

const store = openStore(process.argv[2]!);
const recorder = new Recorder(store);
const session = { ...user, harnessSessionId: `run-${process.pid}` };
let messages: ChatMessage[] = [system, ask('Work.')];
let promptIds = [1, 2, 3];
for (let i = 0; ; i++) {
  if (i % 60 === 59)
    [messages, promptIds] = [
      [system, ask(`Work ${i}.`)],
      [1, 2, i],
    ];
  const call = callBash(`call_${i}`, `echo ${'x'.repeat(i % 500)}`);
  const { id } = recorder.record(
    request(messages, call, { session, tokens: { promptIds, completionIds: [i, i + 1], logprobs: [-1, -2] } }),
  );
  writeSync(1, `${JSON.stringify({ id, messages: messages.length, prompt: promptIds.length, first: i })}\n`);
  messages = [...messages, call, result(`call_${i}`, `${i}`)];
  promptIds = [...promptIds, i, i + 1, 7, 8];
}
