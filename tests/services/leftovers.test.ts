import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { engineSocketName, gatewaySocketName, gatewaySockets, removeLeftovers } from '../../main/services/leftovers.js';
import { openHome } from '../../main/services/paths.js';

const home = mkdtempSync(join(tmpdir(), 'tackroom-left-'));
afterAll(() => rmSync(home, { recursive: true }));

it('removes what killed processes left, and nothing of running ones or of anybody else', () => {
  const gone = spawnSync('true').pid;
  const paths = openHome(home);
  const mine = [engineSocketName(), gatewaySocketName()];
  for (const name of [...mine, `engine-${gone}.sock`, `gateway-${gone}.sock`])
    writeFileSync(join(paths.sockets, name), '');
  for (const dir of [paths.sockets, paths.rollouts])
    for (const name of [`r${gone}-1-0`, `r${process.pid}-1-0`, 'demo-camera', `notes-${gone}`])
      mkdirSync(join(dir, name, 'scratch'), { recursive: true });
  const run = join(paths.runs, 'run_1');
  const saves = [`step-0001.tmp-${gone}`, `step-0001.tmp-${gone}.tmp-${gone}-0`, `step-0001.tmp-${process.pid}`];
  for (const name of ['step-0001', ...saves]) mkdirSync(join(run, name), { recursive: true });
  mkdirSync(join(paths.adapters, `3fa2bc.tmp-${gone}`));
  removeLeftovers(paths);
  expect(readdirSync(run).sort()).toEqual(['step-0001', `step-0001.tmp-${process.pid}`]);
  expect(readdirSync(paths.adapters)).toEqual([]);
  const kept = ['demo-camera', `notes-${gone}`, `r${process.pid}-1-0`];
  expect(readdirSync(paths.rollouts).sort()).toEqual(kept);
  expect(readdirSync(paths.sockets).sort()).toEqual([...kept, ...mine].sort());
  expect(gatewaySockets(paths)).toEqual([join(paths.sockets, gatewaySocketName())]);
});
