/** Every scenario with one real harness: directly at the model server and through the gateway, with the same outcome. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Purpose } from '../../../contract/records.js';
import type { HarnessName } from '../../../main/harness/connector.js';
import { openStore } from '../../../main/store/store.js';
import { notInstalled } from '../../support/real-harnesses.js';
import { type Aspect, differences } from './compare.js';
import { GatewayProcess } from './gateway-process.js';
import { ModelServer } from './model-server.js';
import { type Outcome, runScenario } from './outcome.js';
import { INSTALLED } from './programs.js';
import { exceptionFor } from './saved.js';
import { apisOf, SCENARIOS } from './scenarios.js';

/** Two runs of at most 240 s each, two turns in some. */
const TIMEOUT_MS = 1_000_000;

/** What the harnesses ask for in these scenarios, in the order of the alphabet. */
const PURPOSES: Record<HarnessName, Purpose[]> = {
  pi: ['compaction', 'main'],
  opencode: ['compaction', 'main', 'subagent', 'title'],
  hermes: ['approval', 'compaction', 'main'],
};
/** hermes asks for a title in the background and ends without waiting for it: whether the request goes out is chance. */
const CHANCE: Partial<Record<HarnessName, Purpose>> = { hermes: 'title' };

/** For whoever looks into a difference: a folder that every pair of outcomes is written to. */
const KEPT = process.env.TACKROOM_OUTCOMES;

function keep(name: string, pair: { direct: Outcome; proxied: Outcome; different: Aspect[] }): void {
  if (KEPT === undefined) return;
  mkdirSync(KEPT, { recursive: true });
  writeFileSync(join(KEPT, `${name.replace(/\W+/g, '-')}.json`), JSON.stringify(pair, null, 1));
}

/** `share`: titles of the cases that are run; absent: all. */
export function describeOutcomes(harness: HarnessName, share?: ReadonlySet<string>): void {
  const cases = SCENARIOS.flatMap((scenario) =>
    apisOf(scenario, harness).map((api) => ({ scenario, api, title: `${scenario.name} (${api})` })),
  ).filter(({ title }) => share === undefined || share.has(title));
  const reason = INSTALLED[harness] ? '' : `: ${notInstalled(harness)}`;
  const tally = { same: 0, saved: 0, guarded: 0, worded: 0, different: 0 };

  describe.skipIf(!INSTALLED[harness])(`the real ${harness} through the gateway${reason}`, { concurrent: true }, () => {
    const server = new ModelServer();
    const gateway = new GatewayProcess();
    beforeAll(async () => {
      await server.listen();
      await gateway.start(`http://127.0.0.1:${server.port}`);
    });
    afterAll(async () => {
      server.close();
      const { alive } = gateway;
      await gateway.stop();
      console.log(
        `${harness}: ${Object.entries(tally)
          .map(([kind, count]) => `${count} ${kind}`)
          .join(', ')}`,
      );
      gateway.remove();
      expect(alive).toBe(true);
    });

    it.each(cases)('$title', { timeout: TIMEOUT_MS }, async ({ scenario, api, title }) => {
      const direct = { origin: `http://127.0.0.1:${server.port}`, key: 'sk-scripted' };
      const proxied = { origin: `http://127.0.0.1:${gateway.port}/${harness}`, key: gateway.token };
      const pair = {
        direct: await runScenario(server, direct, harness, api, scenario),
        proxied: await runScenario(server, proxied, harness, api, scenario),
      };
      const different = differences(pair.direct, pair.proxied);
      keep(`${harness} ${title}`, { ...pair, different });
      const exception = exceptionFor(harness, api, scenario.name);
      tally[different.length === 0 ? 'same' : (exception?.kind ?? 'different')]++;
      if (different.length === 0) return;
      if (exception === undefined) return void expect(pair.proxied).toEqual(pair.direct);
      expect(different.filter((aspect) => !exception.differs.includes(aspect))).toEqual([]);
      expect(pair.direct).toMatchObject(exception.direct ?? {});
      expect(pair.proxied).toMatchObject(exception.proxied);
    });

    it.sequential('says of every request what it was for', () => {
      const store = openStore(gateway.home);
      const purposes = new Set(store.request.list().map(({ purpose }) => purpose));
      store.close();
      expect([...purposes].filter((purpose) => purpose !== CHANCE[harness]).sort()).toEqual(PURPOSES[harness]);
    });
  });
}
