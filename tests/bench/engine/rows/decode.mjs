/** Decoding of 1 and of 8 sequences on Q8_0 and Q4_0. */
import { statSync } from 'node:fs';
import { modelFile, QUANTISATIONS } from '../../../../scripts/peers/paths.mjs';
import { contest } from '../contest.mjs';
import { readBandwidth } from '../limits.mjs';
import { ours } from '../ours/side.mjs';
import { batchedDecode, benchDecode } from '../peers/llama-cpp.mjs';
import { nodeLlama } from '../peers/node-llama-side.mjs';
import { policies } from '../process.mjs';

export const PROMPT = 64;
export const STEPS = 64;
const BARS = { 1: 1.1, 8: 3 };

function sidesOf(model, { threads, repeats, have, quick }) {
  const sides = [];
  const flashes = quick ? [true] : [true, false];
  for (const policy of policies(quick)) {
    const common = { policy, threads, prompt: PROMPT, steps: STEPS, repeats };
    sides.push(ours({ measure: 'decode', model, threads, repeats, prompt: PROMPT, steps: STEPS }, policy));
    if (have.llamaCpp) sides.push(benchDecode(model, common));
    for (const flash of flashes) {
      if (have.llamaCpp) sides.push(batchedDecode(model, { ...common, flash }));
      if (have.nodeLlamaCpp) sides.push(nodeLlama({ model, ...common, flash, measure: 'decode', counts: [1, 8] }));
    }
  }
  return sides;
}

/** One forward reads every weight once, so a step cannot be shorter than the file's bytes over the bandwidth. */
const readLimit = (limits, bytes, sequences) => (limits ? (sequences * readBandwidth(limits, bytes) * 1e9) / bytes : 0);

export async function decodeRows(context) {
  const rows = [];
  const failures = {};
  for (const quantisation of QUANTISATIONS) {
    const model = modelFile(quantisation);
    const found = await contest(sidesOf(model, context), {
      ...context,
      log: (line) => context.log(`decode ${quantisation} ${line}`),
    });
    Object.assign(failures, found.failures);
    for (const count of [1, 8]) {
      const { ours: own, peer, all } = found.best[`decode${count}`] ?? {};
      rows.push({
        id: `decode${count}-${quantisation}`,
        name: `decode ${count} sequence${count > 1 ? 's' : ''}, ${quantisation}`,
        unit: 'tok/s',
        ours: own?.value,
        oursBy: own?.by,
        peer: peer?.value,
        peerBy: peer?.by,
        all,
        ratio: own && peer ? own.value / peer.value : null,
        bar: { atLeast: BARS[count] },
        limit: { value: readLimit(context.limits, statSync(model).size, count), what: 'weights read once a step' },
      });
    }
  }
  return { rows, failures };
}
