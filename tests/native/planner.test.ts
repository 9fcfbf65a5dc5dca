/** The planner against a step: bytes by what they are for. Its speeds are checked by tests/bench/planner.mjs on an idle machine. */
import { describe, expect, it } from 'vitest';
import { codeOf, tinyModel, tokens } from './support.js';

const SHAPES: Record<string, Record<string, unknown>> = {
  llama: { hidden_size: 192, intermediate_size: 512, num_hidden_layers: 4, head_dim: 32 },
  gemma3: {
    model_type: 'gemma3_text',
    hidden_activation: 'gelu_pytorch_tanh',
    hidden_size: 192,
    intermediate_size: 512,
    head_dim: 32,
    sliding_window: 16,
    layer_types: ['sliding_attention', 'full_attention'],
  },
  lfm2: {
    model_type: 'lfm2',
    hidden_size: 192,
    intermediate_size: 512,
    head_dim: 32,
    layer_types: ['conv', 'full_attention'],
    block_auto_adjust_ff_dim: false,
  },
};

describe('the plan of a step', () => {
  for (const [name, shape] of Object.entries(SHAPES))
    for (const checkpoint of ['none', 'block'] as const)
      it(`${name}, checkpoint ${checkpoint}: what is kept to the byte, all of it within 15 %`, async () => {
        const model = tinyModel({ vocab_size: 2000, ...shape });
        const [rank, longest, tokenBudget] = [8, 200, 400];
        const trainer = model.newTrainer(model.createAdapter({ rank, alpha: 8, seed: 1 }), { checkpoint, tokenBudget });
        const rows = [1, 2, 3, 4].map((i) => ({
          inputIds: tokens(longest, i, 2000).map((id, t) => (t === 0 ? 3 + i : id)),
          weights: new Float32Array(longest).fill(1),
        }));
        await trainer.step(rows, { loss: 'sft' }, 1e-3);
        const held = await trainer.memory();
        const plan = model.planTraining({ rank, longest, tokens: 4 * longest, tokenBudget, checkpoint });
        expect([plan.tokenBudget, plan.microBatches, plan.seconds]).toEqual([400, 2, 0]);
        // Each tensor starts on a line of 16 floats, hence not always to the byte.
        for (const part of ['gradients', 'optimizer', 'tape', 'stream'] as const)
          expect(Math.abs(plan.memory[part] / held[part] - 1), part).toBeLessThan(0.005);
        expect(Math.abs(plan.memory.total / held.total - 1)).toBeLessThan(0.15);
      });

  it('takes its speed from a calibration of this model', async () => {
    const model = tinyModel({ vocab_size: 500, hidden_size: 96, intermediate_size: 256, head_dim: 24 });
    const speeds = await model.calibrate(4);
    expect(Math.min(speeds.layers, speeds.head)).toBeGreaterThan(0);
    const short = model.planTraining({ rank: 4, tokens: 512, longest: 64 }, speeds);
    const long = model.planTraining({ rank: 4, tokens: 512, longest: 512 }, speeds);
    const few = model.planTraining({ rank: 4, tokens: 512, longest: 64, trainedShare: 0.1 }, speeds);
    expect(long.seconds).toBeGreaterThan(short.seconds);
    expect(few.seconds).toBeLessThan(short.seconds);
    expect(short.tokensPerSecond * short.seconds).toBeCloseTo(512, 6);
    expect(await codeOf(() => model.planTraining({ rank: 4, trainedShare: 2 }))).toBe('BAD_ARGUMENT');
  });
});
