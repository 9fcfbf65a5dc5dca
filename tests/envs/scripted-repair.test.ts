/** The demo's repair session for real: pi works in its sandbox, the gateway records, the session becomes a task. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { envsBuildCommand, envsCheckCommand, envsFindCommand } from '../../main/envs/cli.js';
import { REPAIR_CHECK, repairProject, repairPrompt, repairScript } from '../../main/envs/scripted-repair.js';
import { startScriptedUpstream } from '../../main/envs/scripted-upstream.js';
import { blockedNotice, checkResponse } from '../../main/guard/guard.js';
import { findPi } from '../../main/harness/find-pi.js';
import { PiWorker } from '../../main/harness/pi.js';
import { DEFAULT_DEADLINES } from '../../main/proxy/services.js';
import { DirectSettler } from '../../main/proxy/settle/settler.js';
import { StoreRoutes } from '../../main/proxy/store-routes.js';
import { Workers } from '../../main/proxy/workers.js';
import { Recorder } from '../../main/record/recorder.js';
import { openStore, type Store } from '../../main/store/store.js';
import { describeSandbox } from './sandbox-support.js';
import { temporaryFolder } from './support.js';

describe('startScriptedUpstream', () => {
  const tool = (name: string) => ({ type: 'function', function: { name } });
  const tools = ['bash', 'read', 'edit'].map(tool);
  const ask = async (baseUrl: string, body: object) => {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'demo', tools, ...body }),
    });
    return { status: response.status, text: await response.text() };
  };

  it('answers by the number of answers given, and the same request always alike', async () => {
    const upstream = await startScriptedUpstream(repairScript());
    const messages = [{ role: 'user', content: repairPrompt }];
    const first = await ask(upstream.baseUrl, { messages });
    expect(JSON.parse(first.text).choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'bash' } }] },
    });
    expect(await ask(upstream.baseUrl, { messages })).toEqual(first);
    const streamed = await ask(upstream.baseUrl, { messages, stream: true });
    const pieces = [...streamed.text.matchAll(/^data: (\{.*)$/gm)].flatMap(
      (match) => JSON.parse(match[1]!).choices[0]?.delta.tool_calls ?? [],
    );
    expect(pieces.map((piece) => piece.function.arguments).join('')).toBe(JSON.stringify({ command: REPAIR_CHECK }));
    expect(streamed.text.endsWith('data: [DONE]\n\n')).toBe(true);
    await upstream.close();
  });

  it.each<[string, object]>([
    ['another question', { messages: [{ role: 'user', content: 'hello' }] }],
    ['a missing tool', { messages: [{ role: 'user', content: repairPrompt }], tools: [tool('read')] }],
    [
      'a result that is not as expected',
      {
        messages: [
          { role: 'user', content: repairPrompt },
          { role: 'assistant', content: '' },
          { role: 'tool', content: 'OK' },
        ],
      },
    ],
    ['a request past the end', { messages: Array(9).fill({ role: 'assistant', content: '' }) }],
  ])('answers 500 with the reason to %s', async (_, body) => {
    const upstream = await startScriptedUpstream(repairScript());
    const { status, text } = await ask(upstream.baseUrl, body);
    expect([status, JSON.parse(text).error.message]).toEqual([500, expect.stringMatching(/^Scripted model: .{20}/)]);
    await upstream.close();
  });
});

const pi = await findPi().catch((error: Error) => error.message);

describeSandbox('the repair session', (driver) => {
  const root = temporaryFolder();

  async function record(store: Store): Promise<string> {
    const upstream = await startScriptedUpstream(repairScript());
    const socketDir = join(root, 'model');
    mkdirSync(socketDir);
    const recorder = new Recorder(store);
    const noEngine = () => Promise.reject(new Error('no engine takes part'));
    const workers = new Workers({
      token: 'unused',
      settler: new DirectSettler(recorder, { checkResponse }),
      messages: recorder.messages,
      blockedNotice,
      engine: { chat: noEngine, count: noEngine, model: noEngine },
      routes: new StoreRoutes(store),
      deadlines: DEFAULT_DEADLINES,
      onRecorded: () => undefined,
      onRefused: () => undefined,
      onProblem: (message) => expect.unreachable(message),
    });
    await workers.open('w', join(socketDir, 'model.sock'));
    workers.begin({
      worker: 'w',
      harness: 'pi',
      origin: 'demo',
      rolloutId: null,
      title: 'repair',
      adapter: null,
      sampling: { temperature: 1 },
      maxCalls: 20,
      maxPromptTokens: 100_000,
      profile: 'desktop',
      upstream: upstream.baseUrl,
    });
    const worker = await PiWorker.start({
      name: 'w',
      driver,
      pi: pi as Exclude<typeof pi, string>,
      dir: join(root, 'w'),
      socketDir,
    });
    for (const [name, content] of Object.entries(repairProject())) writeFileSync(join(worker.workDir, name), content);
    const run = await worker.run(repairPrompt, { deadlineMs: 30_000 });
    const summary = await workers.end('w');
    await worker.close();
    await workers.close('w');
    await upstream.close();
    expect(run).toMatchObject({ settled: true, toolCalls: 5 });
    expect(summary).toMatchObject({ requests: 6, toolCalls: 5, blocked: 0, error: null });
    return summary.sessionIds[0]!;
  }

  function output() {
    const written: string[] = [];
    const stream = { write: (text: string) => written.push(text) > 0 } as unknown as NodeJS.WritableStream &
      import('node:stream').Writable;
    return {
      io: { stdout: stream, stderr: stream, signal: new AbortController().signal },
      json: () => JSON.parse(written.join('')),
    };
  }

  it('gives exactly one candidate, which becomes a task that passes the matrix', async ({ skip }) => {
    if (typeof pi === 'string') skip(pi);
    const home = join(root, 'home');
    const store = openStore(home);
    const session = await record(store);

    const found = output();
    expect(await envsFindCommand([], { session, home, json: true }, found.io)).toBe(0);
    expect(found.json()).toMatchObject({
      candidates: [
        { kind: 'repair', request_index: 1, check: REPAIR_CHECK, cwd: '.', files: ['rentals.py'], session: 0 },
      ],
      drops: [],
    });
    const [candidate, ...others] = store.candidate.list();
    expect(others).toEqual([]);

    const built = output();
    expect(await envsBuildCommand(candidate!.id, { output: join(root, 'tasks'), home, json: true }, built.io)).toBe(0);
    const [task] = built.json().built as { dir: string; content_hash: string }[];
    expect(store.task.list()).toMatchObject([
      { candidateId: candidate!.id, contentHash: task!.content_hash, status: 'kept', reason: null },
    ]);
    expect(store.trial.count()).toBeGreaterThanOrEqual(14);

    const checked = output();
    expect(await envsCheckCommand([task!.dir], { json: true, size: 'basic' }, checked.io)).toBe(0);
    expect(checked.json()).toMatchObject({
      ok: true,
      trials: [
        { name: 'oracle-1', reward: 1, expected: 1, ok: true },
        { name: 'oracle-2', reward: 1, expected: 1, ok: true },
        { name: 'nop', reward: 0, expected: 0, ok: true },
      ],
    });
    store.close();
  });
});
