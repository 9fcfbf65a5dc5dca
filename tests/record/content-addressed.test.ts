import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canonicalJson } from '../../main/record/hash.js';
import { Recorder } from '../../main/record/recorder.js';
import { bytesInUse } from '../../main/record/sweep.js';
import { openStore, type Store } from '../../main/store/store.js';
import { ask, BASH, callBash, request, result, say, system, temporaryHome } from './support.js';

const TURNS = 200;
let folder: ReturnType<typeof temporaryHome>;
let store: Store;
beforeEach(() => {
  folder = temporaryHome();
  store = openStore(folder.home);
});
afterEach(() => {
  store.close();
  folder.remove();
});

/** `bytes` of words that no two turns share, as the output of a command has them. */
function output(turn: number, bytes: number): string {
  let text = '';
  for (let i = 0; text.length < bytes; i++)
    text += `${createHash('sha256').update(`${turn} ${i}`).digest('hex').slice(0, 9)} `;
  return text.slice(0, bytes);
}

it(`a session of ${TURNS} turns takes less than a twentieth of its requests`, { timeout: 120_000 }, () => {
  const recorder = new Recorder(store);
  const empty = bytesInUse(store);
  const messages = [{ ...system, content: output(-1, 8_000) }, ask('Mend the build.')];
  let asSent = 0;
  for (let i = 0; i < TURNS; i++) {
    const answer = i === TURNS - 1 ? say('Done.') : callBash(`call_${i}`, `make step-${i}`);
    recorder.record(request([...messages], answer));
    asSent += Buffer.byteLength(canonicalJson({ model: 'm', messages, tools: [BASH] }));
    messages.push(answer, result(`call_${i}`, output(i, 1_500)));
  }
  const stored = bytesInUse(store) - empty;
  console.log(
    `${TURNS} turns: ${(asSent / 1e6).toFixed(1)} MB sent, ${(stored / 1e6).toFixed(2)} MB stored, 1/${Math.round(asSent / stored)}`,
  );
  expect(stored).toBeLessThan(asSent / 20);
  const last = store.request.list({ limit: 1 })[0]!;
  expect(recorder.promptMessages(last.promptNode)).toHaveLength(2 * TURNS);
});
