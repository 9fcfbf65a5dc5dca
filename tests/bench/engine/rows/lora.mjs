/** What a rank-32 adapter costs one sequence's decode speed. The peer's cost, where it can be measured, stands beside it. */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelFile, python, QUANTISATIONS } from '../../../../scripts/peers/paths.mjs';
import { contest } from '../contest.mjs';
import { measureOurs } from '../ours/side.mjs';
import { nodeLlama } from '../peers/node-llama-side.mjs';
import { output, policies } from '../process.mjs';
import { PROMPT, STEPS } from './decode.mjs';

export const RANK = 32;
const adapterScript = join(dirname(fileURLToPath(import.meta.url)), '..', 'peers', 'adapter_gguf.py');
const BARS = { Q8_0: 0.15, Q4_0: 0.3 };

const oursSide = (job, policy) => ({ name: `ours (${policy})`, ours: true, run: () => measureOurs(job, policy) });

function peerSide(job, file) {
  const plain = nodeLlama(job);
  const adapted = nodeLlama({ ...job, lora: file });
  return {
    name: plain.name,
    run: async () => ({ plain: (await plain.run()).decode1, adapted: (await adapted.run()).decode1 }),
  };
}

async function peerAdapter(buildDir) {
  const file = join(buildDir, `adapter-r${RANK}.gguf`);
  if (existsSync(file)) return file;
  await output(python, [adapterScript, `${file}.part`, String(RANK)]);
  renameSync(`${file}.part`, file);
  return file;
}

function noteOf(best, peerCost) {
  const without = ['ours', 'peer'].filter((who) => best.plain?.[who]);
  const speeds = without.map((who) => `${who} ${Math.round(best.plain[who].value)}`).join(', ');
  return `without it: ${speeds}${peerCost === null ? '' : `; the peer's costs ${(100 * peerCost).toFixed(1)} %`}`;
}

export async function loraRows(context) {
  const { threads, repeats, have, buildDir, quick } = context;
  mkdirSync(buildDir, { recursive: true });
  const withPeer = have.nodeLlamaCpp && have.torch;
  const file = withPeer ? await peerAdapter(buildDir) : null;
  const rows = [];
  const failures = {};
  for (const quantisation of QUANTISATIONS) {
    const model = modelFile(quantisation);
    const common = { model, threads, repeats, prompt: PROMPT, steps: STEPS };
    const sides = [];
    for (const policy of policies(quick)) {
      sides.push(
        oursSide({ measure: 'lora', ...common, rank: RANK, adapterDir: join(buildDir, `adapter-r${RANK}`) }, policy),
      );
      if (withPeer)
        for (const flash of quick ? [true] : [true, false])
          sides.push(peerSide({ ...common, policy, flash, measure: 'decode', counts: [1] }, file));
    }
    const { best, failures: failed } = await contest(sides, {
      ...context,
      log: (line) => context.log(`lora ${quantisation} ${line}`),
    });
    Object.assign(failures, failed);
    const cost = (who) =>
      best.plain?.[who] && best.adapted?.[who] ? 1 - best.adapted[who].value / best.plain[who].value : null;
    rows.push({
      id: `lora-${quantisation}`,
      name: `decode with a rank-${RANK} adapter, ${quantisation}: speed it costs`,
      unit: 'tok/s',
      ours: best.adapted?.ours?.value,
      oursBy: best.adapted?.ours?.by,
      peer: best.adapted?.peer?.value,
      peerBy: best.adapted?.peer?.by,
      all: { ...best.adapted?.all, 'ours without': best.plain?.ours?.value, 'peer without': best.plain?.peer?.value },
      ratio: cost('ours'),
      percent: true,
      bar: { atMost: BARS[quantisation] },
      note: noteOf(best, cost('peer')),
    });
  }
  return { rows, failures };
}
