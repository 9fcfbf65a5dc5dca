import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { differences } from './real/compare.js';
import { exceptionFor } from './real/saved.js';
import { apisOf, SCENARIOS } from './real/scenarios.js';
it('check', () => {
  const have = new Set(readdirSync('/tmp/outcomes'));
  for (const harness of ['pi', 'opencode', 'hermes'] as const) {
    const tally: Record<string, number> = {};
    for (const scenario of SCENARIOS)
      for (const api of apisOf(scenario, harness)) {
        const file = `${`${harness} ${scenario.name} (${api})`.replace(/\W+/g, '-')}.json`;
        if (!have.has(file)) { tally.missing = (tally.missing ?? 0) + 1; continue; }
        const pair = JSON.parse(readFileSync(`/tmp/outcomes/${file}`, 'utf8'));
        const different = differences(pair.direct, pair.proxied);
        const exception = exceptionFor(harness, api, scenario.name);
        let kind = different.length === 0 ? 'same' : (exception?.kind ?? 'different');
        if (different.length > 0 && exception) {
          try {
            expect(different.filter((a) => !exception.differs.includes(a))).toEqual([]);
            expect(pair.direct).toMatchObject(exception.direct ?? {});
            expect(pair.proxied).toMatchObject(exception.proxied);
          } catch (e) { kind = 'WRONG'; console.log(file, different, pair.direct.ended, pair.proxied.ended, pair.proxied.code, pair.proxied.answer.slice(0,200), pair.proxied.failure.slice(0,200)); }
        } else if (kind === 'different') console.log(file, different, JSON.stringify(pair.direct.answer.slice(0,120)), JSON.stringify(pair.proxied.answer.slice(0,200)), pair.direct.failure.slice(0,100), '=>', pair.proxied.failure.slice(0,200), pair.direct.asked.length, pair.proxied.asked.length);
        tally[kind] = (tally[kind] ?? 0) + 1;
      }
    console.log(harness, JSON.stringify(tally));
  }
});
