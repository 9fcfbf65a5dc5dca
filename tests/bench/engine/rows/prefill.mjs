/** Prompts of 512 and 2048 tokens up to their first token, on Q8_0 and Q4_0. */
import { modelFile, QUANTISATIONS } from '../../../../scripts/peers/paths.mjs';
import { contest } from '../contest.mjs';
import { peak } from '../limits.mjs';
import { forwardOperations } from '../operations.mjs';
import { ours } from '../ours/side.mjs';
import { benchPrefill } from '../peers/llama-cpp.mjs';
import { nodeLlama } from '../peers/node-llama-side.mjs';
import { policies } from '../process.mjs';

const LENGTHS = [512, 2048];

function sidesOf(model, { threads, repeats, have, quick }) {
  const sides = [];
  for (const policy of policies(quick)) {
    const common = { policy, threads, lengths: LENGTHS, repeats };
    sides.push(ours({ measure: 'prefill', model, threads, repeats, lengths: LENGTHS }, policy));
    if (have.llamaCpp) sides.push(benchPrefill(model, common));
    if (have.nodeLlamaCpp)
      for (const flash of quick ? [true] : [true, false])
        sides.push(nodeLlama({ model, ...common, flash, measure: 'prefill' }));
  }
  return sides;
}

export async function prefillRows(context) {
  const rows = [];
  const failures = {};
  for (const quantisation of QUANTISATIONS) {
    const model = modelFile(quantisation);
    const found = await contest(sidesOf(model, context), {
      ...context,
      log: (line) => context.log(`prefill ${quantisation} ${line}`),
    });
    Object.assign(failures, found.failures);
    for (const length of LENGTHS) {
      const { ours: own, peer, all } = found.best[`prefill${length}`] ?? {};
      const operations = context.model && forwardOperations(context.model.info, { tokens: length, length, heads: 1 });
      const precision = context.model?.info.servingPrecision;
      rows.push({
        id: `prefill${length}-${quantisation}`,
        name: `prefill ${length} tokens, ${quantisation}`,
        unit: 'tok/s',
        ours: own?.value,
        oursBy: own?.by,
        peer: peer?.value,
        peerBy: peer?.by,
        all,
        ratio: own && peer ? own.value / peer.value : null,
        bar: { atLeast: 2 },
        limit:
          context.limits && operations
            ? { value: (length * peak(context.limits, precision) * 1e9) / operations, what: `${precision} arithmetic` }
            : null,
      });
    }
  }
  return { rows, failures };
}
