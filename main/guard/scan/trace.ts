/**
 * A whole ATIF trajectory as evidence: text by channel, each piece with its place. Only what the agent itself authored is
 * behaviour; prompts, copied context and results are kept apart. Channels follow the shape of an argument, not its tool.
 */
import { type AtifContent, AtifDocument, type AtifStep, withoutNulls } from '../../trajectory/atif-schema.js';
import { ModelFiles } from '../model-files.js';
import { readCall, type Surface } from '../surface.js';
import { argumentPieces } from './argument-channels.js';

export const CHANNELS = [
  'message',
  'reasoning',
  'command',
  'path',
  'query',
  'url',
  'arguments',
  'payload',
  'observation',
  'prompt',
] as const;
export type Channel = (typeof CHANNELS)[number];

/** Where a piece stands. Never its text. */
export interface Place {
  /** Index of the step, from 0. */
  step: number;
  stepId: number;
  channel: Channel;
  /** Index of the call in its step. */
  call: number | null;
  /** Index of the result in its step. */
  observation: number | null;
  /** Such as `command` or `edits.0.newText`. */
  field: string | null;
}
export interface Piece extends Place {
  text: string;
}
export interface TraceCall {
  step: number;
  stepId: number;
  index: number;
  id: string;
  name: string;
  surface: Surface;
  pieces: Piece[];
  /** Results paired with this call. */
  results: Piece[];
  /** True for a web search or a page fetch. */
  web: boolean;
  /** True for a tool that is known to write files. */
  writes: boolean;
  failed: boolean;
}
export interface Trace {
  document: AtifDocument;
  /** Text of the agent's own steps. */
  authored: Piece[];
  prompts: Piece[];
  observations: Piece[];
  calls: TraceCall[];
  compacted: boolean;
  partial: boolean;
  task: string | null;
  reward: number | null;
}
export interface TraceFacts {
  task: string | null;
  reward: number | null;
  partial: boolean;
}

const WEB_TOOL = /web|search_internet|google|bing|browser|fetch|tavily|brave/i;
const WRITE_TOOL =
  /^(?:write|edit|multi_?edit|create|patch|apply_patch|write_file|edit_file|str_replace\w*|notebook_edit)$/i;
const COMPACTION =
  /\b(?:conversation (?:was|has been) compacted|context (?:was|has been) (?:compacted|truncated|summari[sz]ed)|summary of the (?:conversation|session) so far)\b/i;

/** Errors: the zod error when `raw` is no ATIF document; an Error with one sentence when a call id is used twice in a step. */
export function readTrace(raw: unknown, facts: TraceFacts): Trace {
  const document = AtifDocument.parse(withoutNulls(raw));
  const trace: Trace = {
    document,
    authored: [],
    prompts: [],
    observations: [],
    calls: [],
    compacted: false,
    ...facts,
  };
  const files = new ModelFiles();
  for (const [step, record] of document.steps.entries()) readStep(trace, record, step, files);
  return trace;
}

function readStep(trace: Trace, record: AtifStep, step: number, files: ModelFiles): void {
  const place = (channel: Channel): Place => ({
    step,
    stepId: record.step_id,
    channel,
    call: null,
    observation: null,
    field: null,
  });
  const message = textOf(record.message);
  const copied = record.is_copied_context === true;
  if (
    record.extra?.context_management !== undefined ||
    (record.source !== 'agent' && COMPACTION.test(message.slice(0, 20_000)))
  )
    trace.compacted = true;
  if (record.source === 'agent' && !copied) {
    trace.authored.push({ ...place('message'), text: message });
    if (record.reasoning_content) trace.authored.push({ ...place('reasoning'), text: record.reasoning_content });
  } else trace.prompts.push({ ...place('prompt'), text: message });

  const calls: TraceCall[] = [];
  for (const [index, call] of (record.tool_calls ?? []).entries()) {
    if (calls.some(({ id }) => id === call.tool_call_id))
      throw new Error(`step ${record.step_id} uses a tool_call_id twice`);
    const surface = readCall(call.function_name, call.arguments, files);
    for (const { path, content } of surface.writes) if (content !== null) files.set(path, content);
    for (const [path, target] of surface.links) files.link(path, target);
    const pieces = argumentPieces(call.function_name, call.arguments).map((piece) => ({
      ...place('arguments'),
      ...piece,
      call: index,
    }));
    calls.push({
      step,
      stepId: record.step_id,
      index,
      id: call.tool_call_id,
      name: call.function_name,
      surface,
      pieces,
      results: [],
      web: WEB_TOOL.test(call.function_name),
      writes: WRITE_TOOL.test(call.function_name),
      failed: false,
    });
  }
  const results = record.observation?.results ?? [];
  for (const [index, result] of results.entries()) {
    const piece: Piece = { ...place('observation'), observation: index, text: textOf(result.content ?? '') };
    trace.observations.push(piece);
    const paired =
      calls.find((call) => call.id === result.source_call_id) ??
      (result.source_call_id === undefined && results.length === calls.length ? calls[index] : undefined);
    paired?.results.push(piece);
    if (paired && (result.extra?.is_error === true || Number(result.extra?.exit_code ?? 0) !== 0)) paired.failed = true;
  }
  if (copied || record.source !== 'agent') return;
  for (const call of calls) trace.authored.push(...call.pieces);
  trace.calls.push(...calls);
}

function textOf(content: AtifContent): string {
  return typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}
