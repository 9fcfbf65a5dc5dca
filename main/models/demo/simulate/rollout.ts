import type { NativeAdapter, NativeModel } from '../../../../native/addon.js';
import type { DataTask } from '../../../envs/generate/data-task.js';
import type { BpeTokenizer } from '../bpe.js';
import { encodePrompt } from '../codec.js';
import { type PiPrompt, withPaths } from '../pi-lines.js';
import type { CommandWorker } from './command-worker.js';
import { Episode } from './episode.js';

export interface Simulator {
  model: NativeModel;
  tokenizer: BpeTokenizer;
  prompt: PiPrompt;
  worker: CommandWorker;
}

export interface RolloutOptions {
  adapter: NativeAdapter | null;
  /** Episodes per task. */
  group: number;
  temperature: number;
  seed: number;
}

const INSTALL_ROOT = '/opt/tackroom/.harness/pi';

/** Plays every task `group` times, all together; episodes of one task are neighbours. */
export async function rollOut(sim: Simulator, tasks: readonly DataTask[], options: RolloutOptions): Promise<Episode[]> {
  const episodes: Episode[] = [];
  for (const [t, task] of tasks.entries()) {
    const messages = [
      { role: 'system' as const, content: withPaths(sim.prompt, '/work', INSTALL_ROOT) },
      { role: 'user' as const, content: [{ type: 'text', text: task.question }] },
    ];
    const prompt = encodePrompt(sim.tokenizer, messages, sim.prompt.tools);
    const shared = sim.model.newSequence(options.adapter);
    await sim.model.decode([{ sequence: shared, ids: Int32Array.from(prompt.slice(0, -1)) }]);
    for (let g = 0; g < options.group; g++) {
      const seed = options.seed * 1_000_003 + t * 1009 + g;
      episodes.push(new Episode(task, prompt, shared.clone(), prompt.length - 1, seed, sim.tokenizer, sim.worker));
    }
    shared.free();
  }
  await play(sim.model, episodes, options.temperature);
  for (const episode of episodes) episode.sequence.free();
  return episodes;
}

/** Decodes all episodes that are not waiting for a tool, one token each a round. */
async function play(model: NativeModel, episodes: Episode[], temperature: number): Promise<void> {
  const acting = new Set<Episode>();
  for (;;) {
    const ready = episodes.filter((episode) => !episode.done && !acting.has(episode));
    if (ready.length === 0) {
      if (acting.size === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 1));
      continue;
    }
    const items = ready.map((episode) => ({
      sequence: episode.sequence,
      ids: Int32Array.from(episode.pending),
      sample: { temperature, seed: episode.seed },
    }));
    const sampled = await model.decode(items);
    ready.forEach((episode, i) => {
      episode.pending = [];
      const { token, logprob } = sampled[i]!;
      if (!episode.push(token, logprob)) return;
      acting.add(episode);
      void episode.act().finally(() => acting.delete(episode));
    });
  }
}

export interface Score {
  episodes: number;
  /** Share of solved episodes. */
  pass: number;
  /** Mean tool calls of solved episodes, and of all. */
  callsPerSolved: number;
  calls: number;
}

export function score(episodes: readonly Episode[]): Score {
  const solved = episodes.filter((episode) => episode.solved);
  const mean = (list: readonly Episode[]) =>
    list.reduce((sum, episode) => sum + episode.calls, 0) / Math.max(1, list.length);
  return {
    episodes: episodes.length,
    pass: solved.length / episodes.length,
    callsPerSolved: mean(solved),
    calls: mean(episodes),
  };
}
