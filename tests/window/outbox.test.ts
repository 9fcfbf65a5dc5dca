import { describe, expect, it } from 'vitest';
import type { EventMessage } from '../../contract/events.js';
import { Outbox } from '../../main/window/outbox.js';

const step = (n: number): EventMessage => ({ event: 'run.step', data: { runId: 'r', step: n, at: n, metrics: {} } });
const changed = (id: string): EventMessage => ({ event: 'record.changed', data: { kind: 'run', id } });

function slowWindow(capacity: number) {
  const sent: EventMessage[] = [];
  const state = { ready: true };
  const outbox = new Outbox({ ready: () => state.ready, send: (message) => sent.push(message) }, capacity);
  return { sent, state, outbox };
}

describe('Outbox', () => {
  it('passes events straight through while the window keeps up', () => {
    const { sent, outbox } = slowWindow(10);
    outbox.push(step(1));
    outbox.push(step(2));
    expect(sent).toEqual([step(1), step(2)]);
  });

  it('keeps the order and only the newest of a kind while the window is slow', () => {
    const { sent, state, outbox } = slowWindow(10);
    state.ready = false;
    outbox.push(changed('a'));
    outbox.push(step(1));
    outbox.push(changed('a'));
    outbox.push(step(2));
    expect(outbox.waiting).toBe(3);
    state.ready = true;
    outbox.flush();
    expect(sent).toEqual([step(1), changed('a'), step(2)]);
  });

  it('stays bounded and tells the window to read again', () => {
    const { sent, state, outbox } = slowWindow(100);
    state.ready = false;
    let most = 0;
    for (let n = 0; n < 10_000; n++) {
      outbox.push(step(n));
      most = Math.max(most, outbox.waiting);
    }
    expect(most).toBe(100);
    state.ready = true;
    outbox.flush();
    outbox.push(step(10_000));
    expect(sent).toEqual([{ event: 'window.resync', data: {} }, step(10_000)]);
  });

  it('sends nothing past a target that stopped being ready', () => {
    const { sent, state, outbox } = slowWindow(10);
    state.ready = false;
    outbox.push(step(1));
    outbox.flush();
    expect(sent).toEqual([]);
    state.ready = true;
    outbox.push(step(2));
    expect(sent).toEqual([]);
    outbox.flush();
    expect(sent).toEqual([step(1), step(2)]);
  });
});
