import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { shell, workingDrivers } from './drivers.js';

const cases = await workingDrivers();

describe.skipIf(cases.length === 0).each(cases)(
  'a sandbox by $label that is ended while it is being made',
  ({ driver, label }) => {
    it('leaves nothing, whatever it was doing at that moment', async () => {
      const marker = `sleep ${7500 + cases.findIndex((one) => one.label === label)}`;
      for (let delayMs = 0; delayMs < 16; delayMs += 3) {
        const sandbox = await driver.spawn(shell(marker));
        await sleep(delayMs);
        sandbox.kill();
        await sandbox.exit;
      }
      let left = marker;
      for (let wait = 0; wait < 100 && left !== ''; wait++) {
        await sleep(20);
        left = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
          .split('\n')
          .filter((line) => line.startsWith(marker))
          .join();
      }
      expect(left).toBe('');
    });
  },
);
