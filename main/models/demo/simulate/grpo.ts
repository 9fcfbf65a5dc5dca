import type { NativeAdapter, NativeTrainer, TrainSample } from '../../../../native/addon.js';
import { makeDataTask } from '../../../envs/generate/data-task.js';
import { type Episode, LIMITS } from './episode.js';
import { rollOut, type Simulator } from './rollout.js';

export interface GrpoOptions {
  seed: string;
  tasks: number;
  group: number;
  temperature: number;
  lr: number;
  warmUpSteps: number;
}

export const GRPO: GrpoOptions = { seed: 'rl', tasks: 10, group: 8, temperature: 0.8, lr: 1.5e-3, warmUpSteps: 4 };

/** 1 for a solved task and up to 0.1 more for few calls; 0 for a failed one. */
export function reward(episode: Episode): number {
  return episode.solved ? 1 + 0.1 * (1 - episode.calls / LIMITS.calls) : 0;
}

/** One on-policy step: fresh training tasks, group-normalised advantages, one update over the groups that differ. */
export async function grpoStep(
  sim: Simulator,
  adapter: NativeAdapter,
  trainer: NativeTrainer,
  step: number,
  options: GrpoOptions,
) {
  const tasks = Array.from({ length: options.tasks }, (_, i) => makeDataTask(`${options.seed}-${step}-${i}`, 'train'));
  const rolloutStart = performance.now();
  const episodes = await rollOut(sim, tasks, {
    adapter,
    group: options.group,
    temperature: options.temperature,
    seed: 7000 + step,
  });
  const trainStart = performance.now();
  const samples = withAdvantages(episodes, options.group);
  const lr = options.lr * Math.min(1, step / options.warmUpSteps);
  const metrics =
    samples.length > 0
      ? await trainer.step(
          samples,
          { loss: 'dapo', temperature: options.temperature, clipLow: 0.2, clipHigh: 0.28 },
          lr,
        )
      : null;
  const end = performance.now();
  return {
    episodes,
    used: samples.length,
    metrics,
    rolloutSeconds: (trainStart - rolloutStart) / 1000,
    trainSeconds: (end - trainStart) / 1000,
  };
}

/** Training rows of the groups whose rewards differ; advantage = (r - mean) / (std + 1e-4). */
function withAdvantages(episodes: Episode[], group: number): TrainSample[] {
  const samples: TrainSample[] = [];
  for (let start = 0; start < episodes.length; start += group) {
    const members = episodes.slice(start, start + group);
    const rewards = members.map(reward);
    const mean = rewards.reduce((sum, r) => sum + r, 0) / group;
    const std = Math.sqrt(rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0) / group);
    if (std < 1e-6) continue;
    members.forEach((episode, i) => {
      samples.push({
        inputIds: Int32Array.from(episode.ids),
        completionMask: Uint8Array.from(episode.mask),
        oldLogprobs: Float32Array.from(episode.logprobs),
        advantage: (rewards[i]! - mean) / (std + 1e-4),
      });
    });
  }
  return samples;
}
