/** SmolLM2-135M in the two types that both engines have fast kernels for, requantised from the published Q4_1 file. */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './command.mjs';
import { llamaProgram, MODEL, modelFile, modelsDir, QUANTISATIONS, root } from './paths.mjs';

export const models = {
  name: 'SmolLM2-135M as Q8_0 and Q4_0',
  cost: '93 MB download, 330 MB disk, half a minute',
  done: () => QUANTISATIONS.every((name) => existsSync(modelFile(name))),
  async make(log) {
    mkdirSync(modelsDir, { recursive: true });
    const printed = await run(process.execPath, [join(root, 'scripts', 'fetch-model.mjs'), MODEL]);
    const published = printed.trim().split('\n').at(-1);
    for (const name of QUANTISATIONS) {
      if (existsSync(modelFile(name))) continue;
      log(`writing ${name}`);
      const part = `${modelFile(name)}.part`;
      await run(llamaProgram('llama-quantize'), ['--allow-requantize', published, part, name]);
      renameSync(part, modelFile(name));
    }
  },
};
