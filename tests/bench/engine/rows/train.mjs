/** The LoRA training step against PyTorch + PEFT, the step over rows with a common prefix, and serving beside training. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelFile, python } from '../../../../scripts/peers/paths.mjs';
import { contest } from '../contest.mjs';
import { peak } from '../limits.mjs';
import { loraStepOperations } from '../operations.mjs';
import { measureOurs, ours } from '../ours/side.mjs';
import { json, policies } from '../process.mjs';
import { RANK } from './lora.mjs';

const MODEL = modelFile('Q8_0');
const SHAPE = { rows: 4, length: 512, rank: RANK };
/** Three quarters of a row. */
const SHARED = 384;
const torchScript = join(dirname(fileURLToPath(import.meta.url)), '..', 'peers', 'torch_step.py');

/** The faster of torch's precisions counts. */
async function torchStep(policy, { threads, repeats }) {
  const args = [torchScript, MODEL, '--rows', SHAPE.rows, '--length', SHAPE.length, '--rank', RANK];
  const found = await json(python, [...args, '--threads', threads, '--repeats', repeats].map(String), {
    policy,
    deadlineMs: 8 * 60_000,
  });
  const [setting, value] = Object.entries(found).reduce((a, b) => (b[1] > a[1] ? b : a));
  return { tokensPerSecond: { value, setting } };
}

export async function trainRows(context) {
  const { threads, repeats, have, limits, model } = context;
  const sides = policies(context.quick).flatMap((policy) => [
    ours({ measure: 'train', model: MODEL, threads, repeats, ...SHAPE }, policy),
    ...(have.torch ? [{ name: `torch (${policy})`, run: () => torchStep(policy, context) }] : []),
  ]);
  // A step is long enough to be steady; two turns are enough.
  const rounds = Math.min(context.rounds, 2);
  const { best, failures } = await contest(sides, { rounds, log: (line) => context.log(`train ${line}`) });
  const { ours: own, peer, all } = best.tokensPerSecond ?? {};
  const count = SHAPE.rows * SHAPE.length;
  const precision = model?.info.trainingPrecision;
  const operations = model && loraStepOperations(model.info, { tokens: count, length: SHAPE.length });
  const row = {
    id: 'train',
    name: `LoRA step, ${SHAPE.rows} x ${SHAPE.length} tokens, rank ${RANK}`,
    unit: 'tok/s',
    ours: own?.value,
    oursBy: own?.by,
    peer: peer?.value,
    peerBy: peer?.by,
    all,
    ratio: own && peer ? own.value / peer.value : null,
    bar: { atLeast: 2 },
    limit:
      limits && operations
        ? { value: (count * peak(limits, precision) * 1e9) / operations, what: `${precision} arithmetic` }
        : null,
  };
  return { rows: [row], failures };
}

export async function treeRows(context) {
  const { threads, repeats } = context;
  const job = { measure: 'tree', model: MODEL, threads, repeats, ...SHAPE, shared: SHARED };
  const sides = policies(context.quick).map((policy) => ours(job, policy));
  const { best, failures } = await contest(sides, {
    rounds: Math.min(context.rounds, 2),
    log: (line) => context.log(`tree ${line}`),
  });
  const value = (metric) => best[metric]?.ours?.value;
  const rows = [
    {
      id: 'tree-shared',
      name: `LoRA step, ${SHARED} of ${SHAPE.length} tokens in common`,
      note: 'peer: ours without sharing',
      ratio: value('shared') && value('unshared') ? value('shared') / value('unshared') : null,
      ours: value('shared'),
      peer: value('unshared'),
      bar: { atLeast: 2 },
    },
    {
      id: 'tree-apart',
      name: 'LoRA step, nothing in common: time that looking costs',
      note: 'peer: ours without sharing',
      ratio: value('apartOn') && value('apartOff') ? value('apartOff') / value('apartOn') - 1 : null,
      ours: value('apartOn'),
      peer: value('apartOff'),
      percent: true,
      bar: { atMost: 0.03 },
    },
  ];
  return { rows: rows.map((row) => ({ unit: 'tok/s', ...row, oursBy: best.shared?.ours?.by })), failures };
}

export async function yieldRows(context) {
  const { threads, repeats } = context;
  const found = [];
  const failures = {};
  for (const policy of policies(context.quick))
    try {
      context.log(`yield ours (${policy})`);
      const job = { measure: 'yields', model: MODEL, threads, repeats, ...SHAPE };
      found.push({ policy, ...(await measureOurs(job, policy)) });
    } catch (error) {
      failures[`ours (${policy})`] = error.message;
    }
  const best = found.sort((a, b) => b.busy / b.idle - a.busy / a.idle)[0];
  const row = {
    id: 'yield',
    name: 'decode 1 sequence beside a training step',
    unit: 'tok/s',
    ours: best?.busy,
    peer: best?.idle,
    oursBy: best?.policy,
    note:
      best &&
      `peer: ours, idle; longest gap ${Math.round(best.gapMs)} ms; step ${Math.round(best.stepMs)} ms alone, ${Math.round(best.busyStepMs)} ms beside`,
    all: found,
    ratio: best ? best.busy / best.idle : null,
    bar: { atLeast: 0.5 },
  };
  return { rows: [row], failures };
}
