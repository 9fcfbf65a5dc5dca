/** What the window may ask of the guard: its log, answers to its verdicts, and its settings. */
import { z } from 'zod';
import { GuardProfile, GuardSettings, JudgeSetting, MAX_PLUGINS } from './guard.js';
import { Harness, Origin, Verdict } from './records.js';

/** Rows of the log that one call gives. */
export const GUARD_PAGE = 100;
/** Longest text of a call that the log sends, in UTF-16 units; what is cut off is counted in `clipped`. */
export const MAX_CALL_TEXT = 20_000;
export const MAX_ALLOWANCES = 1000;

const count = z.number().int().nonnegative();
const id = z.string().min(1).max(200);
const nothing = z.strictObject({});

export const GuardFilter = z.strictObject({
  verdict: z.enum(['block', 'suspicious']).optional(),
  rule: z.string().max(128).optional(),
  harness: Harness.optional(),
  sessionId: id.optional(),
  /** Rollouts too: what an agent tried while it was trained. */
  rollouts: z.boolean().default(false),
});
export type GuardFilter = z.input<typeof GuardFilter>;

/** One finding with its call. */
export const GuardEntry = z.object({
  verdict: Verdict,
  /** null: the call is not on record. */
  call: z.object({ name: z.string(), arguments: z.string().max(MAX_CALL_TEXT), clipped: count }).nullable(),
  session: z.object({ title: z.string(), harness: Harness, origin: Origin }),
  /** The user's answer: not given, given, or not possible (`stage1.tool` and the like: nobody can run such a call). */
  wrong: z.enum(['no', 'yes', 'impossible']),
});
export type GuardEntry = z.infer<typeof GuardEntry>;

export const AllowanceView = z.object({
  id,
  createdAt: z.number(),
  rule: z.string(),
  tool: z.string(),
  verdictId: z.string(),
  sessionId: z.string(),
  /** The call as it was sampled, cut; null: its session was deleted. */
  arguments: z.string().max(MAX_CALL_TEXT).nullable(),
});
export type AllowanceView = z.infer<typeof AllowanceView>;

export const PluginView = z.object({
  path: z.string(),
  addedAt: z.number(),
  /** `changed`: another content than was added, so it is not run. */
  state: z.enum(['ready', 'changed', 'missing']),
});
export type PluginView = z.infer<typeof PluginView>;

export const GuardSettingsView = GuardSettings.omit({ plugins: true }).extend({
  plugins: z.array(PluginView).max(MAX_PLUGINS),
});
export type GuardSettingsView = z.infer<typeof GuardSettingsView>;

/** Members that are absent stay as they are. */
const Change = z.strictObject({
  profile: GuardProfile.optional(),
  blocked: z.enum(['notice', 'harmless']).optional(),
  pluginsInRollouts: z.boolean().optional(),
  judge: JudgeSetting.nullable().optional(),
});
/** Absolute: the window has no folder that it stands in. */
const path = z
  .string()
  .max(4096)
  .regex(/^(?:\/|[A-Za-z]:[\\/])/, 'it has to begin at the root');

export const GUARD_CALLS = {
  'guard.log': {
    input: GuardFilter.extend({ offset: z.number().int().min(0).max(10_000_000).default(0) }),
    output: z.object({
      entries: z.array(GuardEntry).max(GUARD_PAGE),
      /** There are older ones. */
      more: z.boolean(),
    }),
  },
  /** Rules that found something in the sessions that the log shows, with how often. */
  'guard.rules': {
    input: z.strictObject({ rollouts: z.boolean().default(false) }),
    output: z.object({ rules: z.array(z.object({ rule: z.string(), found: count })).max(500) }),
  },
  'guard.wrong': { input: z.strictObject({ verdictId: id }), output: z.object({ allowance: AllowanceView }) },
  'guard.allowances': { input: nothing, output: z.object({ allowances: z.array(AllowanceView).max(MAX_ALLOWANCES) }) },
  'guard.revoke': { input: z.strictObject({ id }), output: nothing },
  'guard.settings': { input: nothing, output: z.object({ settings: GuardSettingsView }) },
  'guard.configure': { input: Change, output: z.object({ settings: GuardSettingsView }) },
  'guard.addPlugin': { input: z.strictObject({ path }), output: z.object({ settings: GuardSettingsView }) },
  'guard.removePlugin': { input: z.strictObject({ path }), output: z.object({ settings: GuardSettingsView }) },
} as const;
