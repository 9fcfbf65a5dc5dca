/** Two Tackrooms, one harness. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectNow, disconnectNow, planConnecting, planDisconnecting } from '../../main/harness/connect-change.js';
import { HARNESS_NAMES } from '../../main/harness/connector.js';
import { type Bundle, bundle } from '../record/bundle.js';
import { Home } from './connect-support.js';

let other: Bundle;
beforeAll(async () => {
  other = await bundle('tests/harness/connect-worker.ts');
}, 60_000);
afterAll(() => other.remove());

let home: Home;
beforeEach(() => {
  home = new Home('pi');
  home.existing();
});
afterEach(() => home.remove());

describe.each(HARNESS_NAMES)('%s', (harness) => {
  it('is left as it was by processes that connect and disconnect it all at once', async () => {
    const own = new Home(harness);
    own.existing();
    const before = own.snapshot();
    const codes = await Promise.all(
      ['2', '3', '4'].map(async (port) => (await once(fork(other.file, [harness, own.root, port, '3']), 'exit'))[0]),
    );
    expect(codes).toEqual([0, 0, 0]);
    await own.disconnect();
    expect(own.snapshot()).toEqual(before);
    own.remove();
  }, 60_000);
});

it('waits for the other one, and says for whom', async () => {
  const target = { harness: 'pi', root: home.root };
  const heard: string[] = [];
  const first = connectNow({ ...target, port: 1, token: 'tok-1' });
  await disconnectNow(target, { onWait: (holder) => void heard.push(holder) });
  await first;
  expect(heard).toEqual([expect.stringContaining(`process ${process.pid}, connecting pi`)]);
  expect(planDisconnecting(target).connected).toBe(false);
});

it('makes no other change than the one that was shown', async () => {
  const options = { harness: 'pi', root: home.root, port: 1, token: 'tok-1' };
  const { digest, diff } = planConnecting(options);
  expect(diff).toContain('+++ ');
  home.write('.pi/agent/settings.json', '{"theme":"light"}');
  await expect(connectNow(options, { digest })).rejects.toMatchObject({ code: 'BUSY' });
  expect(planDisconnecting(options).connected).toBe(false);
  await connectNow(options, { digest: planConnecting(options).digest });
  expect(planDisconnecting(options).connected).toBe(true);
});
