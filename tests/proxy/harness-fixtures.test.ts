/**
 * Replays recorded conversations of real harnesses: their requests go through the proxy, the recorded server behind it
 * plays the model, faults included.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UPSTREAMS_SETTING } from '../../main/proxy/upstream-setting.js';
import { passedAnswer, sseEvents } from './strict-sse.js';
import { BASH, type Rig, startRig } from './support.js';

const shared = join(import.meta.dirname, '../../../shared/fixtures/harness');
const own = join(import.meta.dirname, '../fixtures/proxy');
const HARNESSES = ['pi', 'pi-0.73', 'opencode', 'hermes'];

interface Turn {
  name: string;
  /** Path and query that the harness asked. */
  url: string;
  body: Record<string, unknown>;
  status: number;
  reply: string;
  /** The recorded server hung up here. */
  cut: boolean;
}

function scenarios(root: string, harness: string): string[] {
  const folder = join(root, harness);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^(?:chat|print|responses|anthropic|z)-/.test(name) && existsSync(join(folder, name, 'http')))
    .sort();
}

function turns(folder: string): Turn[] {
  const names = readdirSync(folder)
    .filter((name) => /^\d+-(?:chat|responses|anthropic)(?:-title)?\.request\.json$/.test(name))
    .sort();
  return names.flatMap((name) => {
    const reply = join(folder, name.replace('.request.json', '.response.txt'));
    const { body, url = '/v1/chat/completions' } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      body: Record<string, unknown>;
      url?: string;
    };
    if (!existsSync(reply)) return [];
    const text = readFileSync(reply, 'utf8');
    const meta = JSON.parse(text.slice(2, text.indexOf('\n'))) as { status: number };
    const [sent, ...tail] = text.slice(text.indexOf('\n') + 1).split('\n# <socket destroyed>');
    // Left out of the recordings where they repeat: any list does for the proxy.
    if (
      body.tools !== undefined &&
      !(Array.isArray(body.tools) && body.tools.every((tool) => typeof tool === 'object'))
    )
      body.tools = [toolFor(url)];
    return [
      {
        name,
        url,
        body,
        status: meta.status,
        reply: sent!.replace(/^# <socket destroyed>.*/s, '').replace(/\n# <clean end>\s*$/, ''),
        cut: tail.length > 0 || sent!.startsWith('# <socket'),
      },
    ];
  });
}

function toolFor(url: string): unknown {
  const { name, parameters } = BASH.function;
  if (url.includes('/messages')) return { name, input_schema: parameters };
  return url.includes('/responses') ? { type: 'function', name, parameters } : BASH;
}

/** Whether a client may take the recorded stream for a whole answer. */
function isWhole(turn: Turn): boolean {
  if (turn.status !== 200) return false;
  if (turn.reply.trim().startsWith('{')) return true;
  let finished = false;
  for (const [, data] of turn.reply.matchAll(/^data: (.*)$/gm)) {
    if (data === '[DONE]') continue;
    try {
      const chunk = JSON.parse(data!) as {
        error?: unknown;
        type?: string;
        choices?: { finish_reason?: string | null }[];
      };
      if (chunk.error) return false;
      finished ||= Boolean(chunk.choices?.[0]?.finish_reason);
      finished ||= chunk.type === 'message_stop' || chunk.type === 'response.completed';
    } catch {
      return false;
    }
  }
  return finished;
}

async function replay(
  folder: string,
  check: (turn: Turn, reply: { status: number; text: string }) => void,
): Promise<Rig> {
  const rig = await startRig();
  let current: Turn;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      if (current.cut && current.reply.trim() === '') return void response.destroy();
      const type = current.reply.startsWith('<')
        ? 'text/html'
        : current.reply.startsWith('{')
          ? 'application/json'
          : 'text/event-stream';
      response.writeHead(current.status, { 'content-type': type });
      if (current.cut) response.write(current.reply, () => setTimeout(() => response.destroy(), 5));
      else response.end(current.reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  rig.store.setSetting(UPSTREAMS_SETTING, {
    pi: { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` },
  });
  try {
    for (const turn of turns(folder)) {
      current = turn;
      check(turn, await rig.post(`/pi${turn.url}`, turn.body));
    }
  } catch (error) {
    await rig.close();
    throw error;
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return rig;
}

/** What the proxy puts right; everything else that is whole goes on byte for byte. */
const REPAIRED = /-(?:noid|noindex|dupid|toolsnotools|nodone|jsonnotstream|sametool|loop|maxturns)$/;

function checkReply(turn: Turn, reply: { status: number; text: string }, scenario: string): void {
  if (turn.status >= 400) {
    expect([turn.name, reply.status, reply.text]).toEqual([turn.name, turn.status, turn.reply]);
  } else if (isWhole(turn)) {
    expect([scenario, turn.name, reply.status]).toEqual([scenario, turn.name, 200]);
    if (!REPAIRED.test(scenario)) expect([scenario, turn.name, reply.text]).toEqual([scenario, turn.name, turn.reply]);
    if (turn.body.stream === true && turn.url.endsWith('/chat/completions')) passedAnswer(reply.text);
  } else if (reply.status === 200) {
    const { events } = sseEvents(reply.text);
    expect(JSON.parse(events.at(-1)!)).toHaveProperty('error');
    expect(events.join('')).not.toContain('"tool_calls"');
  } else expect([turn.name, reply.status]).toEqual([turn.name, 502]);
}

/** Checks every recorded conversation of a harness; returns the number of requests. */
async function replayAll(root: string, harness: string): Promise<number> {
  let count = 0;
  for (const name of scenarios(root, harness)) {
    const folder = join(root, harness, name, 'http');
    const rig = await replay(folder, (turn, reply) => {
      checkReply(turn, reply, name);
      count++;
    });
    expect([name, rig.store.request.count(), rig.problems]).toEqual([name, turns(folder).length, []]);
    await rig.close();
  }
  console.log(`${harness}: ${count} recorded requests`);
  return count;
}

const NONE = 'no recordings beside the checkout';

describe('recordings beside the checkout', () => {
  it.for(HARNESSES)('serves every conversation of %s', { timeout: 120_000 }, async (harness, context) => {
    context.skip(!existsSync(shared), NONE);
    expect(await replayAll(shared, harness)).toBeGreaterThan(30);
  });

  it.for([
    'chat-tool',
    'chat-parallel',
    'chat-multistep',
    'chat-edit',
    'chat-spaces',
    'chat-toolfail',
    'chat-err503once',
    'chat-discmidonce',
  ])('groups pi %s into one session without any header', async (name, context) => {
    context.skip(!existsSync(shared), NONE);
    const rig = await replay(join(shared, 'pi', name, 'http'), () => undefined);
    expect(rig.store.session.count()).toBe(1);
    await rig.close();
  });
});

it('serves the own recordings, and groups each into one session', async () => {
  expect(await replayAll(own, 'pi')).toBe(6);
  for (const name of ['chat-parallel', 'chat-cut']) {
    const rig = await replay(join(own, 'pi', name, 'http'), () => undefined);
    expect([name, rig.store.session.count()]).toEqual([name, 1]);
    await rig.close();
  }
});
