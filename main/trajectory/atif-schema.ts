/** Shapes of ATIF 1.0-1.8 documents (Harbor RFC 0001, checked against harbor 0.25). Unknown keys only inside `extra`. */
import { z } from 'zod';

export const ATIF_VERSIONS = ['1.0', '1.1', '1.2', '1.3', '1.4', '1.5', '1.6', '1.7', '1.8'].map(
  (v) => `ATIF-v${v}`,
) as [string, ...string[]];

const extra = z.record(z.string(), z.unknown());
const integer = z.number().int();
const Text = z.strictObject({ type: z.literal('text'), text: z.string() });
const Image = z.strictObject({
  type: z.literal('image'),
  source: z.strictObject({
    media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
    path: z.string(),
  }),
});
const Audio = z.strictObject({
  type: z.literal('audio'),
  source: z.strictObject({
    media_type: z.string().regex(/^audio\//),
    path: z.string(),
    duration_sec: z.number().nonnegative().optional(),
  }),
});
export const AtifContent = z.union([z.string(), z.array(z.discriminatedUnion('type', [Text, Image, Audio]))]);
export type AtifContent = z.infer<typeof AtifContent>;

const ToolCall = z.strictObject({
  tool_call_id: z.string(),
  function_name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  extra: extra.optional(),
});
const SubagentRef = z.strictObject({
  trajectory_id: z.string().optional(),
  trajectory_path: z.string().optional(),
  session_id: z.string().optional(),
  extra: extra.optional(),
});
const Result = z.strictObject({
  source_call_id: z.string().optional(),
  content: AtifContent.optional(),
  subagent_trajectory_ref: z.array(SubagentRef).optional(),
  extra: extra.optional(),
});
const Metrics = z.strictObject({
  prompt_tokens: integer.optional(),
  completion_tokens: integer.optional(),
  cached_tokens: integer.optional(),
  cost_usd: z.number().optional(),
  prompt_token_ids: z.array(integer).optional(),
  completion_token_ids: z.array(integer).optional(),
  logprobs: z.array(z.number()).optional(),
  extra: extra.optional(),
});
const Step = z.strictObject({
  step_id: integer.min(1),
  timestamp: z.string().optional(),
  source: z.enum(['system', 'user', 'agent']),
  model_name: z.string().optional(),
  reasoning_effort: z.union([z.string(), z.number()]).optional(),
  message: AtifContent,
  reasoning_content: z.string().optional(),
  tool_calls: z.array(ToolCall).optional(),
  observation: z.strictObject({ results: z.array(Result) }).optional(),
  metrics: Metrics.optional(),
  is_copied_context: z.boolean().optional(),
  llm_call_count: integer.nonnegative().optional(),
  extra: extra.optional(),
});
const Agent = z.strictObject({
  name: z.string(),
  version: z.string(),
  model_name: z.string().optional(),
  tool_definitions: z.array(z.record(z.string(), z.unknown())).optional(),
  extra: extra.optional(),
});
const FinalMetrics = z.strictObject({
  total_prompt_tokens: integer.optional(),
  total_completion_tokens: integer.optional(),
  total_cached_tokens: integer.optional(),
  total_cost_usd: z.number().optional(),
  total_steps: integer.nonnegative().optional(),
  extra: extra.optional(),
});
/** Embedded subagents are whole documents: they are read one by one, so that each problem keeps its place. */
export const AtifDocument = z.strictObject({
  schema_version: z.enum(ATIF_VERSIONS),
  session_id: z.string().optional(),
  trajectory_id: z.string().optional(),
  agent: Agent,
  steps: z.array(Step).min(1),
  notes: z.string().optional(),
  final_metrics: FinalMetrics.optional(),
  continued_trajectory_ref: z.string().optional(),
  extra: extra.optional(),
  subagent_trajectories: z.array(z.unknown()).optional(),
});
export type AtifDocument = z.infer<typeof AtifDocument>;
export type AtifStep = AtifDocument['steps'][number];

/** A copy without keys whose value is null: in ATIF null and absent are the same. Values inside `extra` stay. */
export function withoutNulls(value: unknown, key = ''): unknown {
  if (key === 'extra' || key === 'arguments') return value;
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([name, item]) => [name, withoutNulls(item, name)]),
  );
}
