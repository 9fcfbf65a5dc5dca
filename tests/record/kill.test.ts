import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Recorder } from '../../main/record/recorder.js';
import { openStore } from '../../main/store/store.js';
import { type Bundle, bundle } from './bundle.js';
import { temporaryHome } from './support.js';

let writer: Bundle;
beforeAll(async () => {
  writer = await bundle('tests/record/kill-writer.ts');
}, 60_000);
afterAll(() => writer.remove());

/** Lets the writer run for `ms` after its first acknowledgement, kills it, returns what it acknowledged. */
function killAfter(
  home: string,
  ms: number,
): Promise<{ id: string; messages: number; prompt: number; first: number }[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [writer.file, home], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8');
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), ms));
    child.stdout.on('data', (chunk: string) => {
      text += chunk;
    });
    child.once('error', reject);
    child.once('close', (_code, signal) => {
      if (signal !== 'SIGKILL') return reject(new Error(`the writer ended by itself: ${signal}`));
      const lines = text.slice(0, text.lastIndexOf('\n')).split('\n');
      resolve(lines.map((line) => JSON.parse(line) as { id: string; messages: number; prompt: number; first: number }));
    });
  });
}

it('has every acknowledged request whole after kill -9', async () => {
  const folder = temporaryHome();
  let acknowledged = 0;
  try {
    for (const ms of [15, 60, 140, 230, 310]) {
      const acks = await killAfter(folder.home, ms);
      acknowledged += acks.length;
      const store = openStore(folder.home);
      const recorder = new Recorder(store);
      expect(store.db.pragma('integrity_check', { simple: true })).toBe('ok');
      for (const ack of acks) {
        const request = store.request.get(ack.id)!;
        expect(request).toBeDefined();
        expect(recorder.promptMessages(request.promptNode)).toHaveLength(ack.messages);
        expect(recorder.messages.message(request.answer!)?.tool_calls?.[0]?.id).toBe(`call_${ack.first}`);
        expect(recorder.requestTokens(ack.id)).toMatchObject({
          completionIds: [ack.first, ack.first + 1],
          logprobs: [-1, -2],
        });
        expect(recorder.requestTokens(ack.id)!.promptIds).toHaveLength(ack.prompt);
        expect(store.toolCall.list({ where: { requestId: ack.id } })).toHaveLength(1);
      }
      for (const session of store.session.list())
        expect(store.request.count({ where: { sessionId: session.id } })).toBe(session.requests);
      store.close();
    }
    console.log(`${acknowledged} acknowledged requests survived 5 kills`);
    expect(acknowledged).toBeGreaterThan(4);
  } finally {
    folder.remove();
  }
}, 60_000);
