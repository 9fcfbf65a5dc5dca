/** The real pi answers data questions through the recording proxy, then does one repair with a scripted model. */

import { join } from 'node:path';
import { readRegularFile } from '../envs/copy-work.js';
import { checkAnswer } from '../envs/generate/check-answer.js';
import { makeDataTask } from '../envs/generate/data-task.js';
import { repairProject, repairPrompt, repairScript } from '../envs/scripted-repair.js';
import { startScriptedUpstream } from '../envs/scripted-upstream.js';
import { seedFrom } from '../train/seeds.js';
import { Camera } from './camera.js';
import type { DemoContext } from './context.js';
import { makePlanted, plantInTask } from './plant.js';

/** Kinds whose answer does not depend on the label column, where the strings are planted. */
const KINDS = ['count_where', 'sum_all', 'mean_all', 'sum_where'] as const;

export interface SessionsResult extends Record<string, unknown> {
  sessionIds: string[];
  repairSessionId: string;
}

export async function sessionsStage(context: DemoContext): Promise<SessionsResult> {
  const { app, plan, seed, signal, say } = context;
  const planted = makePlanted(seed);
  const camera = await Camera.open(app.services, context.driver, context.pi);
  try {
    const sessionIds: string[] = [];
    for (let i = 0; i < plan.sessions; i++) {
      const task = makeDataTask(`camera-${seed}-${i}`, 'train', { kind: KINDS[i % KINDS.length]! });
      context.progress.status(`pi answers question ${i + 1} of ${plan.sessions}`);
      const take = await camera.shoot(
        {
          title: task.question,
          files: plantInTask(task, planted),
          prompt: task.question,
          adapter: null,
          sampling: {
            temperature: plan.run.temperature,
            maxTokens: plan.run.maxTokens,
            seed: seedFrom(seed, 'camera', i),
          },
          upstream: null,
          maxPromptTokens: plan.run.maxPromptTokens,
        },
        signal,
      );
      const answer = readRegularFile(join(take.workDir, 'answer.txt'), 4096)?.bytes.toString('utf8') ?? null;
      sessionIds.push(...take.summary.sessionIds);
      say(
        `  ${checkAnswer(task, answer) ? 'right' : 'wrong'}  ${take.summary.toolCalls} calls  ${take.seconds.toFixed(1)} s  ${task.question}`,
      );
    }
    const repairSessionId = await shootRepair(context, camera);
    return { sessionIds: [...sessionIds, repairSessionId], repairSessionId };
  } finally {
    await camera.close();
  }
}

async function shootRepair(context: DemoContext, camera: Camera): Promise<string> {
  const planted = makePlanted(context.seed);
  const settings = `# settings of the rental desk\nEXPORT_DIR = "${planted.homePath}"\nGITHUB_TOKEN = "${planted.token}"\n`;
  const upstream = await startScriptedUpstream(repairScript({ alsoRead: ['settings.py'] }));
  try {
    context.progress.status('pi repairs a small project; a script plays the model');
    const take = await camera.shoot(
      {
        title: repairPrompt,
        files: { ...repairProject(), 'settings.py': settings },
        prompt: repairPrompt,
        adapter: null,
        sampling: { temperature: 0 },
        upstream: upstream.baseUrl,
        maxPromptTokens: 1_000_000,
      },
      context.signal,
    );
    context.say(
      `  repair session: ${take.summary.toolCalls} calls. The small model cannot do such work: here a script plays the model, pi and the work are real.`,
    );
    return take.summary.sessionIds[0]!;
  } finally {
    await upstream.close();
  }
}
