/** Problems of an ATIF document, with the codes of the format notes (1.3). Errors come first from the shape, then from the rules. */
import type { z } from 'zod';
import { type AtifContent, AtifDocument, type AtifStep, withoutNulls } from './atif-schema.js';

export interface Problem {
  /** E0xx: readers refuse it; E1xx: strict readers refuse it; Wxxx: legal but suspicious. */
  code: string;
  level: 'error' | 'strict' | 'warning';
  /** Such as `$.steps[2].step_id`. */
  at: string;
  message: string;
}

/** Files that the document names are not looked for. An empty list: valid and unsuspicious. */
export function validateAtif(doc: unknown): Problem[] {
  const problems: Problem[] = [];
  checkDocument(withoutNulls(doc), '$', false, problems);
  return problems;
}

type Add = (code: string, at: string, message: string) => void;

function checkDocument(doc: unknown, at: string, embedded: boolean, problems: Problem[]): string | undefined {
  const add: Add = (code, where, message) => {
    problems.push({
      code,
      level: code.startsWith('W') ? 'warning' : code.startsWith('E1') ? 'strict' : 'error',
      at: where,
      message,
    });
  };
  if (doc === null || typeof doc !== 'object' || Array.isArray(doc)) {
    add('E000', at, 'not a JSON object');
    return undefined;
  }
  const parsed = AtifDocument.safeParse(doc);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) add(shapeCode(issue), place(at, issue.path), issue.message);
    return undefined;
  }
  const document = parsed.data;
  const minor = Number(document.schema_version.split('.')[1]);
  if (embedded && document.trajectory_id === undefined) add('E010', at, 'an embedded subagent needs a trajectory_id');
  checkRoot(document, minor, at, add);
  const embeddedIds = new Set<string>();
  for (const [i, sub] of (document.subagent_trajectories ?? []).entries()) {
    const where = `${at}.subagent_trajectories[${i}]`;
    const id = checkDocument(sub, where, true, problems);
    if (id === undefined) continue;
    if (embeddedIds.has(id)) add('E011', where, `trajectory_id ${id} is used twice`);
    embeddedIds.add(id);
  }
  checkSteps(document, minor, at, embeddedIds, add);
  return document.trajectory_id;
}

function shapeCode(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return 'E004';
  return issue.code === 'invalid_type' && issue.message.endsWith('received undefined') ? 'E003' : 'E005';
}

function place(at: string, path: readonly PropertyKey[]): string {
  return at + path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
}

function checkRoot(document: AtifDocument, minor: number, at: string, add: Add): void {
  const gate = (present: boolean, since: number, what: string): void => {
    if (present && minor < since) add('E101', at, `${what} needs ATIF-v1.${since}`);
  };
  if (minor <= 6 && document.session_id === undefined) add('E102', at, 'session_id is required up to v1.6');
  gate(document.extra !== undefined, 1, 'root extra');
  gate(document.agent.tool_definitions !== undefined, 5, 'tool_definitions');
  gate(document.trajectory_id !== undefined, 7, 'trajectory_id');
  gate(document.subagent_trajectories !== undefined, 7, 'subagent_trajectories');
  for (const [i, tool] of (document.agent.tool_definitions ?? []).entries()) {
    const inner = tool.function as { name?: unknown } | undefined;
    if (tool.type !== 'function' || typeof inner?.name !== 'string')
      add('W020', `${at}.agent.tool_definitions[${i}]`, 'not a function definition');
  }
  const total = document.final_metrics?.total_steps;
  if (total !== undefined && total !== document.steps.length && document.notes === undefined)
    add('W008', at, `total_steps ${total} is not the number of steps and notes does not say why`);
}

function checkSteps(document: AtifDocument, minor: number, at: string, embeddedIds: Set<string>, add: Add): void {
  let previous = Number.NEGATIVE_INFINITY;
  const used = new Set<string>();
  const referenced = new Set<string>();
  document.steps.forEach((step, i) => {
    const where = `${at}.steps[${i}]`;
    if (step.step_id !== i + 1) add('E001', `${where}.step_id`, `expected ${i + 1}, got ${step.step_id}`);
    checkOwner(step, where, add);
    checkTime(step, where, previous, add);
    previous = Math.max(previous, Date.parse(step.timestamp ?? '') || previous);
    checkContent(step.message, minor, `${where}.message`, add);
    if (minor < 7 && step.llm_call_count !== undefined) add('E101', where, 'llm_call_count needs ATIF-v1.7');
    if (minor < 5 && step.is_copied_context !== undefined) add('E101', where, 'is_copied_context needs ATIF-v1.5');
    if (minor < 2 && step.source === 'system' && step.observation)
      add('E101', where, 'an observation on a system step needs ATIF-v1.2');
    const ids = checkCalls(step, where, used, add);
    const answered = checkResults(step, ids, minor, where, embeddedIds, referenced, add);
    const open = ids.filter((id) => !answered.has(id));
    if (open.length > 0 && i + 1 < document.steps.length)
      add('W006', where, `no result is recorded for ${open.join(', ')}`);
    checkMetrics(step, minor, where, add);
  });
  for (const id of embeddedIds) if (!referenced.has(id)) add('W007', at, `embedded subagent ${id} is never referenced`);
}

function checkOwner(step: AtifStep, where: string, add: Add): void {
  if (step.source !== 'agent') {
    for (const key of ['model_name', 'reasoning_effort', 'reasoning_content', 'tool_calls', 'metrics'] as const)
      if (step[key] !== undefined) add('E005', `${where}.${key}`, 'only agent steps may have this');
  } else if (step.llm_call_count === 0 && (step.metrics !== undefined || step.reasoning_content !== undefined))
    add('E005', where, 'metrics and reasoning_content must be absent when llm_call_count is 0');
}

function checkTime(step: AtifStep, where: string, previous: number, add: Add): void {
  if (step.timestamp === undefined) return;
  const time = Date.parse(step.timestamp);
  if (Number.isNaN(time)) add('E005', `${where}.timestamp`, 'not an ISO 8601 time');
  else if (!/(?:Z|[+-]\d{2}:?\d{2})$/.test(step.timestamp)) add('W001', `${where}.timestamp`, 'no time zone');
  else if (time < previous) add('W002', `${where}.timestamp`, 'earlier than a step before it');
}

function checkContent(content: AtifContent, minor: number, where: string, add: Add): void {
  if (typeof content === 'string') return;
  if (minor < 6) add('E101', where, 'content parts need ATIF-v1.6');
  for (const [i, part] of content.entries())
    if (part.type === 'audio' && minor < 8) add('E101', `${where}[${i}]`, 'audio needs ATIF-v1.8');
}

function checkCalls(step: AtifStep, where: string, used: Set<string>, add: Add): string[] {
  const ids: string[] = [];
  for (const [i, call] of (step.tool_calls ?? []).entries()) {
    const at = `${where}.tool_calls[${i}]`;
    if (ids.includes(call.tool_call_id)) add('E103', at, 'tool_call_id is repeated in one step');
    else if (used.has(call.tool_call_id)) add('W003', at, 'tool_call_id was used in an earlier step');
    if (call.tool_call_id === '' || call.function_name === '') add('E104', at, 'empty tool_call_id or function_name');
    ids.push(call.tool_call_id);
  }
  for (const id of ids) used.add(id);
  return ids;
}

function checkResults(
  step: AtifStep,
  ids: string[],
  minor: number,
  where: string,
  embeddedIds: Set<string>,
  referenced: Set<string>,
  add: Add,
): Set<string> {
  const answered = new Set<string>();
  for (const [i, result] of (step.observation?.results ?? []).entries()) {
    const at = `${where}.observation.results[${i}]`;
    if (result.source_call_id !== undefined) {
      if (!ids.includes(result.source_call_id)) add('E002', at, `${result.source_call_id} is no call of this step`);
      answered.add(result.source_call_id);
    }
    if (result.content !== undefined) checkContent(result.content, minor, `${at}.content`, add);
    else if (!result.subagent_trajectory_ref) add('W004', at, 'a result with neither content nor a subagent');
    for (const [k, ref] of (result.subagent_trajectory_ref ?? []).entries()) {
      const place = `${at}.subagent_trajectory_ref[${k}]`;
      const named = minor >= 7 ? (ref.trajectory_id ?? ref.trajectory_path) : (ref.session_id ?? ref.trajectory_path);
      if (named === undefined) add('E012', place, 'nothing to find the subagent by');
      if (ref.trajectory_id === undefined) continue;
      if (embeddedIds.has(ref.trajectory_id)) referenced.add(ref.trajectory_id);
      else if (ref.trajectory_path === undefined) add('E105', place, `${ref.trajectory_id} is not embedded here`);
    }
  }
  return answered;
}

function checkMetrics(step: AtifStep, minor: number, where: string, add: Add): void {
  const m = step.metrics;
  if (!m) return;
  const at = `${where}.metrics`;
  if (minor < 3 && m.completion_token_ids) add('E101', at, 'completion_token_ids needs ATIF-v1.3');
  if (minor < 4 && m.prompt_token_ids) add('E101', at, 'prompt_token_ids needs ATIF-v1.4');
  for (const key of ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost_usd'] as const)
    if ((m[key] ?? 0) < 0) add('E106', `${at}.${key}`, 'negative');
  if ((m.cached_tokens ?? 0) > (m.prompt_tokens ?? Number.POSITIVE_INFINITY))
    add('W010', at, 'more cached than prompt tokens');
  if (m.logprobs && m.completion_token_ids && m.logprobs.length !== m.completion_token_ids.length)
    add('W011', at, 'not one log probability per completion token');
  if (
    m.completion_token_ids &&
    m.completion_tokens !== undefined &&
    m.completion_token_ids.length !== m.completion_tokens
  )
    add('W012', at, 'completion_tokens is not the number of ids');
  if (m.prompt_token_ids && m.prompt_tokens !== undefined && m.prompt_token_ids.length !== m.prompt_tokens)
    add('W013', at, 'prompt_tokens is not the number of ids');
  if (m.logprobs?.some((value) => value > 0)) add('W014', at, 'a positive log probability');
}
