import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Reply, WindowServices } from '../../contract/api.js';
import { TackroomError } from '../../contract/errors.js';
import { APP_ORIGIN, CALL_CHANNEL, EVENT_CHANNEL } from '../../main/app/channels.js';
import { forwardEvents, serveCalls } from '../../main/app/ipc.js';
import { EventBus } from '../../main/window/event-bus.js';
import { ipcMain, StubContents } from '../stubs/electron.js';

type Handle = (event: unknown, name: unknown, input: unknown) => Promise<Reply<unknown>>;

const runsList = vi.fn(() => ({ runs: [] }));
const services = {
  'runs.list': runsList,
  'runs.get': () => {
    throw new TackroomError(
      'NOT_FOUND',
      'There is no such run.\n    at secret (/home/u/file.ts:1)',
      'Look at the list.',
    );
  },
} as unknown as WindowServices;

const ours = new StubContents(`${APP_ORIGIN}/`);
const from = (contents: StubContents, frame: unknown = contents.mainFrame) => ({
  sender: contents,
  senderFrame: frame,
});
let stop: () => void;
const invoke: Handle = (event, name, input) =>
  (ipcMain.handlers.get(CALL_CHANNEL) as unknown as Handle)(event, name, input);

beforeEach(() => {
  runsList.mockClear();
  stop = serveCalls(services);
});
afterEach(() => stop());

describe('who may call', () => {
  it("answers the main frame of the app's page", async () => {
    expect(await invoke(from(ours), 'runs.list', {})).toEqual({ ok: true, output: { runs: [] } });
  });

  const evil = [
    'https://evil.example/',
    'app://evil/',
    'app://tackroom.evil/',
    'app://user@tackroom/',
    'file:///etc/passwd',
    'data:text/html,x',
    'about:blank',
    '',
  ];
  it.each(evil)('refuses a page at %j', async (url) => {
    const reply = await invoke(from(new StubContents(url)), 'runs.list', {});
    expect(reply).toMatchObject({ ok: false, error: { code: 'UNAUTHORIZED' } });
    expect(runsList).not.toHaveBeenCalled();
  });

  it('refuses a frame inside the page, also one of our own origin, and a frame that is gone', async () => {
    for (const frame of [{ url: `${APP_ORIGIN}/` }, null]) {
      const reply = await invoke(from(ours, frame), 'runs.list', {});
      expect(reply).toMatchObject({ ok: false, error: { code: 'UNAUTHORIZED' } });
    }
    expect(runsList).not.toHaveBeenCalled();
  });
});

describe('what may be called', () => {
  it.each([['nothing.known'], ['__proto__'], ['toString'], [42]])('refuses the call %j', async (name) => {
    expect(await invoke(from(ours), name, {})).toMatchObject({ ok: false, error: { code: 'BAD_ARGUMENT' } });
  });

  it('refuses inputs that break the schema', async () => {
    const reply = await invoke(from(ours), 'runs.list', { extra: 1 });
    expect(reply).toMatchObject({ ok: false, error: { code: 'BAD_ARGUMENT' } });
    expect(runsList).not.toHaveBeenCalled();
  });

  it('refuses inputs that are too long or no JSON', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const input of [{ id: 'x'.repeat(70_000) }, cyclic, { id: 1n }])
      expect(await invoke(from(ours), 'runs.get', input)).toMatchObject({ ok: false, error: { code: 'BAD_ARGUMENT' } });
  });

  it('maps errors to code, one line and hint', async () => {
    expect(await invoke(from(ours), 'runs.get', { id: 'r1' })).toEqual({
      ok: false,
      error: { code: 'NOT_FOUND', message: 'There is no such run.', hint: 'Look at the list.' },
    });
  });

  it('slows down a page that floods, and only that page', async () => {
    const flooding = new StubContents(`${APP_ORIGIN}/`);
    const replies = await Promise.all(Array.from({ length: 300 }, () => invoke(from(flooding), 'runs.list', {})));
    const busy = replies.filter((reply) => !reply.ok && reply.error.code === 'BUSY');
    expect(busy.length).toBeGreaterThan(100);
    expect(await invoke(from(new StubContents(`${APP_ORIGIN}/`)), 'runs.list', {})).toMatchObject({ ok: true });
  });
});

describe('events', () => {
  it('go to our page, stripped to the contract, until it is destroyed', () => {
    const bus = new EventBus();
    const page = new StubContents(`${APP_ORIGIN}/`);
    forwardEvents(bus, page as unknown as Parameters<typeof forwardEvents>[1]);
    bus.publish('record.changed', { kind: 'run', id: 'r1', secret: 'x' } as { kind: 'run'; id: string });
    expect(page.sent).toEqual([
      { channel: EVENT_CHANNEL, message: { event: 'record.changed', data: { kind: 'run', id: 'r1' } } },
    ]);
    page.mainFrame.url = 'https://evil.example/';
    bus.publish('record.changed', { kind: 'run', id: 'r2' });
    expect(page.sent).toHaveLength(1);
    page.emit('destroyed');
    expect(bus.listeners).toBe(0);
  });
});
