/** The circuit breakers: what they stop, and the healthy work that they must never touch. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../main/engine/protocol.js';
import { FAILURE_LIMIT, FailureBreaker } from '../../main/proxy/failure-breaker.js';
import { LoopBreaker, SAME_CALL_LIMIT, SAME_CALL_NOTED, sameCalls } from '../../main/proxy/loop-breaker.js';
import { UPSTREAMS_SETTING } from '../../main/proxy/upstream-setting.js';
import { ask, BASH, errorOf, type Rig, startRig } from './support.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

describe('a server that fails', () => {
  /** Fails `count` times, one every `everyMs`; returns the time after the last. */
  function fail(breaker: FailureBreaker, count: number, everyMs: number, from = 0, session = 's'): number {
    for (let n = 0; n < count; n++) breaker.admit(session, from + n * everyMs)(false, from + n * everyMs);
    return from + count * everyMs;
  }

  it('is left alone for a while, then tried once', () => {
    const breaker = new FailureBreaker();
    const now = fail(breaker, FAILURE_LIMIT, SECOND);
    expect(() => breaker.admit('s', now)).toThrow(/failed 20 requests of this session in a row/);
    expect(() => breaker.admit('another session', now)).not.toThrow();
    const tell = breaker.admit('s', now + 20 * SECOND);
    expect(() => breaker.admit('s', now + 20 * SECOND)).toThrow(/on its way/);
    tell(true, now + 21 * SECOND);
    expect(() => breaker.admit('s', now + 22 * SECOND)).not.toThrow();
  });

  it('is left alone for longer when the trial fails, and is tried again when its harness left', () => {
    const breaker = new FailureBreaker();
    let now = fail(breaker, FAILURE_LIMIT, SECOND) + 20 * SECOND;
    breaker.admit('s', now)(false, now);
    expect(() => breaker.admit('s', now + 20 * SECOND)).toThrow();
    now += 31 * SECOND;
    breaker.admit('s', now)(null, now);
    expect(() => breaker.admit('s', now)).not.toThrow();
  });

  it.each([
    ['pi', 4],
    ['opencode, with its title', 12],
    ['hermes', 9],
  ])('does not cut the repeats of %s', (_name, count) => {
    const breaker = new FailureBreaker();
    const now = fail(breaker, count, 100);
    expect(() => breaker.admit('s', now)).not.toThrow();
  });

  it('is never cut off while an answer comes in between, or when failures are rare', () => {
    const breaker = new FailureBreaker();
    let now = 0;
    for (let round = 0; round < 20; round++) {
      now = fail(breaker, FAILURE_LIMIT - 1, 10, now);
      breaker.admit('s', now)(true, now);
    }
    fail(breaker, 200, 10 * SECOND, now + MINUTE);
  });
});

describe('the same call again and again', () => {
  const turn = (n: number, command: string, result: string): ChatMessage[] => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: `call_${n}`, type: 'function', function: { name: 'bash', arguments: JSON.stringify({ command }) } },
      ],
    },
    { role: 'tool', tool_call_id: `call_${n}`, content: result },
  ];

  /** A conversation of `count` turns, each `everyMs` after the other; throws where the breaker does. */
  function work(count: number, everyMs: number, command: string, result: (n: number) => string): void {
    const breaker = new LoopBreaker();
    const messages = ask('Build it.');
    for (let n = 0; n < count; n++) {
      messages.push(...turn(n, command, result(n)));
      breaker.checkCalls('s', { messages, tools: [BASH] }, n * everyMs);
    }
  }

  it('is stopped when it is fast and brings the same', () => {
    expect(() => work(SAME_CALL_LIMIT - 1, SECOND, 'make', () => 'nothing to do')).not.toThrow();
    expect(() => work(SAME_CALL_LIMIT, SECOND, 'make', () => 'nothing to do')).toThrow(/same call 100 times in a row/);
  });

  it.each([
    ['results that change', SECOND, 'make status', (n: number) => `${n} of 1000`],
    ['a call that waits', SECOND, 'sleep 5; make status', () => 'still running'],
    ['somebody who looks every ten seconds', 10 * SECOND, 'make status', () => 'still running'],
  ] as const)('is let go on with %s', (_name, everyMs, command, result) => {
    expect(() => work(1000, everyMs, command, result)).not.toThrow();
  });

  it('begins anew with a word of the user, and with another call', () => {
    const messages = [...ask('Go.'), ...turn(0, 'ls', 'a'), ...turn(1, 'ls', 'a')];
    expect(sameCalls({ messages })?.count).toBe(2);
    expect(sameCalls({ messages: [...messages, { role: 'user', content: 'Go on.' }] })).toBeNull();
    expect(sameCalls({ messages: [...messages, ...turn(2, 'pwd', 'a')] })?.count).toBe(1);
    expect(sameCalls({ messages: [...messages, ...turn(2, 'ls', 'b'), ...turn(3, 'ls', 'a')] })?.count).toBe(1);
  });

  it('does not cut a conversation whose beginning it has not seen', () => {
    const messages = [...ask('Go.'), ...Array.from({ length: 150 }, (_, n) => turn(n, 'ls', 'a')).flat()];
    expect(() => new LoopBreaker().checkCalls('s', { messages, tools: [BASH] })).not.toThrow();
  });

  it('is marked as suspicious before', async () => {
    const rig = await startRig();
    const call = { calls: [{ name: 'bash', arguments: JSON.stringify({ command: 'ls' }) }] };
    rig.engine.script(call, call);
    for (const count of [SAME_CALL_NOTED - 1, SAME_CALL_NOTED])
      await rig.chat({
        messages: [...ask('Go.'), ...Array.from({ length: count }, (_, n) => turn(n, 'ls', 'a')).flat()],
        tools: [BASH],
      });
    expect(rig.store.verdict.list({ descending: false }).map(({ verdict, rule }) => [verdict, rule])).toEqual([
      ['allow', 'none'],
      ['suspicious', 'loop.same_call'],
    ]);
    await rig.close();
  });
});

describe('in the gateway', () => {
  let rig: Rig;
  let asked = 0;
  let status = 500;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      asked++;
      const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] };
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status === 200 ? answer : { error: { message: 'It broke.' } }));
    });
  });
  beforeEach(async () => {
    rig = await startRig();
    asked = 0;
    status = 500;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    rig.store.setSetting(UPSTREAMS_SETTING, {
      pi: { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` },
    });
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await rig.close();
  });

  it('a session is refused at once, in words that end it, and no other one is', async () => {
    const first = { 'x-session-id': 'first' };
    for (let n = 0; n < FAILURE_LIMIT; n++) expect((await rig.chat({ messages: ask(`${n}`) }, first)).status).toBe(500);
    const refused = await rig.chat({ messages: ask('Once more.') }, first);
    expect([refused.status, errorOf(refused).message]).toEqual([403, expect.stringContaining('stopped asking it')]);
    expect(asked).toBe(FAILURE_LIMIT);
    status = 200;
    expect((await rig.chat({ messages: ask('Hi') }, { 'x-session-id': 'second' })).status).toBe(200);
  });

  it('a body that cannot be read is no failure of the server', async () => {
    for (let n = 0; n <= FAILURE_LIMIT; n++)
      expect((await rig.post('/pi/v1/chat/completions', 'no object')).status).toBe(400);
  });
});
