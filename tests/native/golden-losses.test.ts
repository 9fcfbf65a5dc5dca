import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeShared } from '../support/shared.js';
import { ARCHITECTURES, type Golden, lossFor, readJson, samplesFor, worstShare } from './golden.js';
import { addon, readSafetensors } from './support.js';

const VARIANTS = [
  'dapo',
  'dapo_T08',
  'grpo',
  'dr_grpo',
  'gspo',
  'dapo_kl',
  'dapo_kl_plain',
  'dapo_tis_token',
  'dapo_mis_seq',
  'dapo_delta',
  'dapo_opsm',
  'cispo',
];

describeShared('losses and gradients against PyTorch', (shared) => {
  for (const architecture of ARCHITECTURES)
    it(`${architecture}: every loss, its gradient norm, and every gradient tensor that is stored`, async () => {
      const dir = join(shared, 'golden', architecture);
      const golden = readJson<Golden>(dir, 'golden.json');
      const reference = readSafetensors(join(dir, 'golden.safetensors'));
      const model = await addon.loadModel(join(dir, 'hf'));
      const trainer = model.newTrainer(await model.loadAdapter(join(dir, 'adapter')));
      expect(Object.keys(golden.losses).sort()).toEqual([...VARIANTS].sort());
      let compared = 0;
      for (const [name, { config, loss, grad_norm, full_grads }] of Object.entries(golden.losses)) {
        const result = await trainer.gradients(samplesFor(golden, config), lossFor(golden, config));
        expect(Math.abs(result.loss - loss), name).toBeLessThan(1e-5);
        expect(Math.abs(result.gradNorm / grad_norm - 1), name).toBeLessThan(1e-4);
        if (!full_grads) continue;
        for (const [tensor, values] of Object.entries(result.tensors)) {
          expect(worstShare(values, reference.get(`grad.${name}.${tensor}`)!.values), `${name} ${tensor}`).toBeLessThan(
            1,
          );
          compared++;
        }
        if (name !== 'dapo') continue;
        const coefficient = golden.adamw.steps[0]!.clip_coef;
        for (const [tensor, values] of Object.entries(result.tensors)) {
          const clipped = reference.get(`clipped_grad.${tensor}`);
          if (clipped)
            expect(
              worstShare(
                values.map((x) => x * coefficient),
                clipped.values,
              ),
              `clipped ${tensor}`,
            ).toBeLessThan(1);
        }
      }
      expect(compared).toBe([...reference.keys()].filter((key) => key.startsWith('grad.')).length);
    });
});
