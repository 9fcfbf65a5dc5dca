/** What the user sets for the guard, as it is stored and shown. */
import { z } from 'zod';

export const GuardProfile = z.enum(['training', 'desktop']);

/** A plugin as it was when the user added it: another content is not run. */
export const GuardPlugin = z.object({
  /** Absolute. */
  path: z.string().min(1).max(4096),
  /** SHA-256 of the file, hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  addedAt: z.number(),
});
export type GuardPlugin = z.infer<typeof GuardPlugin>;

/** Longest wait for a judge's answer to one question, milliseconds. */
export const MAX_JUDGE_MS = 20_000;
export const JudgeSetting = z.object({
  /** OpenAI-compatible server on loopback, with `/v1`; null: the built-in engine. */
  baseUrl: z.string().max(2000).nullable(),
  /** The server's name of the model; '' where it serves only one. */
  model: z.string().max(200),
  deadlineMs: z.number().int().min(500).max(MAX_JUDGE_MS).default(5000),
});
export type JudgeSetting = z.infer<typeof JudgeSetting>;

export const MAX_PLUGINS = 32;
export const GuardSettings = z.object({
  /** Of the user's own sessions; rollouts say theirs. */
  profile: GuardProfile.default('desktop'),
  /** What a blocked call of the user's own sessions becomes: a notice as text, or a call that only reports. */
  blocked: z.enum(['notice', 'harmless']).default('notice'),
  plugins: z.array(GuardPlugin).max(MAX_PLUGINS).default([]),
  pluginsInRollouts: z.boolean().default(false),
  judge: JudgeSetting.nullable().default(null),
});
export type GuardSettings = z.infer<typeof GuardSettings>;
