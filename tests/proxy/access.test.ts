import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installToken } from '../../main/proxy/token.js';
import { ask, errorOf, http, type Reply, type Rig, startRig } from './support.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const body = JSON.stringify({ model: 'm', messages: ask('Hi') });
const post = (path: string, headers: Record<string, string>, text: string | Buffer = body): Promise<Reply> =>
  http({ port: rig.port }, 'POST', path, text, headers);
const bearer = (): Record<string, string> => ({ authorization: `Bearer ${rig.token}` });

describe('token', () => {
  it('is made once, for the user alone', () => {
    expect(installToken(rig.home)).toBe(rig.token);
    expect(readFileSync(join(rig.home, 'token'), 'utf8').trim()).toBe(rig.token);
    expect(statSync(join(rig.home, 'token')).mode & 0o777).toBe(0o600);
  });

  it('is taken from a bearer header, an API key header or the path', async () => {
    expect((await post('/v1/chat/completions', bearer())).status).toBe(200);
    expect((await post('/v1/chat/completions', { 'x-api-key': rig.token })).status).toBe(200);
    expect((await post(`/hermes/${rig.token}/v1/chat/completions`, {})).status).toBe(200);
    expect(rig.store.session.list({ where: { harness: 'hermes' } })).toHaveLength(1);
  });

  it.each([
    ['/v1/chat/completions', {}],
    ['/v1/chat/completions', { authorization: 'Bearer wrong' }],
    ['/hermes/wrong-wrong-wrong-wrong-wrong/v1/chat/completions', {}],
    ['/v1/chat/completions', { authorization: 'Basic x' }],
  ])('is required (%s, %o)', async (path, headers) => {
    const reply = await post(path, headers);
    expect([reply.status, errorOf(reply).type]).toEqual([401, 'authentication_error']);
  });
});

describe('where a request comes from', () => {
  it.each(['evil.example', 'localhost.evil.example:80', '127.0.0.1.evil.example', '10.0.0.1:4141'])(
    'refuses the host %s',
    async (host) => {
      expect((await post('/v1/chat/completions', { ...bearer(), host })).status).toBe(403);
    },
  );

  it.each(['127.0.0.1', 'localhost:4141', '[::1]:4141'])('serves the host %s', async (host) => {
    expect((await post('/v1/chat/completions', { ...bearer(), host })).status).toBe(200);
  });

  it.each(['https://evil.example', 'null', 'http://localhost:4141'])('refuses a page of %s', async (origin) => {
    expect((await post('/v1/chat/completions', { ...bearer(), origin })).status).toBe(403);
  });
});

describe('bodies', () => {
  it.each([
    ['no JSON', '{"model":'],
    ['no object', '[1]'],
    ['no messages', '{"model":"m","messages":[]}'],
    ['an unknown role', '{"model":"m","messages":[{"role":"robot","content":"x"}]}'],
    [
      'a call without an id',
      '{"model":"m","messages":[{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"a","arguments":"{}"}}]}]}',
    ],
    ['several answers', '{"model":"m","messages":[{"role":"user","content":"x"}],"n":2}'],
    ['an image', '{"model":"m","messages":[{"role":"user","content":[{"type":"image_url"}]}]}'],
    ['a stop string that is none', '{"model":"m","messages":[{"role":"user","content":"x"}],"stop":[7]}'],
    [
      'an unknown response format',
      '{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"xml"}}',
    ],
    [
      'deep nesting',
      `{"model":"m","messages":[{"role":"user","content":"x"}],"x":${'['.repeat(5000)}${']'.repeat(5000)}}`,
    ],
  ])('refuses %s with 400', async (_what, text) => {
    const reply = await post('/v1/chat/completions', bearer(), text);
    expect([reply.status, errorOf(reply).type]).toEqual([400, 'invalid_request_error']);
  });

  it('refuses more than 128 MB', async () => {
    const reply = await post('/v1/chat/completions', bearer(), Buffer.alloc(129 * 1024 * 1024, 0x20));
    expect([reply.status, errorOf(reply).message]).toEqual([413, 'The body is larger than 128 MB.']);
  }, 20_000);

  it.each([
    ['POST', '/v1/unknown', 404],
    ['POST', '/other/v1/chat/completions', 404],
    ['GET', '/v1/chat/completions', 400],
  ])('answers %s %s with %i', async (method, path, status) => {
    expect((await http({ port: rig.port }, method, path, null, bearer())).status).toBe(status);
  });

  it('keeps unknown members', async () => {
    const text = JSON.stringify({
      model: 'm',
      messages: ask('Hi'),
      store: false,
      promptCacheKey: 'k',
      reasoning_effort: 'medium',
      strange: { a: 1 },
    });
    expect((await post('/v1/chat/completions', bearer(), text)).status).toBe(200);
  });
});

const retryWords = join(
  import.meta.dirname,
  '../../.harness/pi/node_modules/@earendil-works/pi-ai/dist/utils/retry.js',
);

describe.skipIf(!existsSync(retryWords))(
  'pi reads the errors as they are meant (skipped when pi is not installed)',
  () => {
    it('repeats none of the permanent ones', async (context) => {
      context.skip(!existsSync(retryWords), 'pi is not installed (node scripts/install-pi.mjs)');
      const { isRetryableAssistantError } = (await import(pathToFileURL(retryWords).href)) as {
        isRetryableAssistantError(message: unknown): boolean;
      };
      const asPi = (reply: Reply): unknown => ({
        role: 'assistant',
        stopReason: 'error',
        errorMessage: `${reply.status} ${errorOf(reply).message}`,
        content: [],
      });
      const permanent = [
        await post('/v1/chat/completions', {}),
        await post('/v1/chat/completions', { ...bearer(), host: 'evil.example' }),
        await post('/v1/chat/completions', { ...bearer(), origin: 'null' }),
        await post('/v1/unknown', bearer()),
        await post('/v1/chat/completions', bearer(), '{'),
        await post('/v1/chat/completions', bearer(), '{"model":"m","messages":[]}'),
      ];
      expect(permanent.map((reply) => [reply.status, isRetryableAssistantError(asPi(reply))])).toEqual(
        permanent.map((reply) => [reply.status, false]),
      );
      await rig.engine.close();
      const passing = await post('/v1/chat/completions', bearer());
      expect([
        passing.status,
        isRetryableAssistantError({ ...(asPi(passing) as object), errorMessage: errorOf(passing).message }),
      ]).toEqual([503, true]);
    });
  },
);
