/**
 * Everything the window may ask of the app: one table of calls, each with the shape of its input and output. Both sides
 * derive their types from it, and both transports (Electron's IPC, the WebSocket behind the browser window) check
 * against it.
 */
import { z } from 'zod';
import { CLEAN_CALLS, VerdictFilter } from './clean-calls.js';
import { CONNECT_CALLS } from './connect-calls.js';
import type { ErrorShape } from './errors.js';
import type { EventMessage } from './events.js';
import { GUARD_CALLS } from './guard-calls.js';
import { RECORDING_CALLS } from './recording-calls.js';
import { Deployment, Harness, Origin, Rollout, Run, Session } from './records.js';
import { TranscriptStep } from './transcript.js';
import { AdapterView, DeploymentView, HomeState, RunDetail, RunSummary } from './views.js';
import { WORKSPACE_CALLS } from './workspace-calls.js';

/** Longest message the window may send, in bytes; nothing it asks needs more. */
export const MAX_INPUT_BYTES = 64 * 1024;
/** Rows a list call returns at most. */
export const MAX_PAGE = 200;

const id = z.string().min(1).max(200);
const nothing = z.strictObject({});
const page = {
  offset: z.number().int().min(0).max(10_000_000).default(0),
  limit: z.number().int().min(1).max(MAX_PAGE).default(100),
};

const SessionFilter = z.strictObject({
  harness: Harness.optional(),
  origin: Origin.optional(),
  blockedOnly: z.boolean().optional(),
  /** What was said of the cleaned copy. */
  clean: VerdictFilter.optional(),
  search: z.string().max(200).optional(),
  ...page,
});

export const CALLS = {
  'home.state': { input: nothing, output: HomeState },
  'sessions.list': {
    input: SessionFilter,
    output: z.object({ total: z.number().int(), sessions: z.array(Session).max(MAX_PAGE) }),
  },
  'sessions.get': {
    input: z.strictObject({ id, ...page }),
    output: z.object({ session: Session, totalSteps: z.number().int(), steps: z.array(TranscriptStep).max(MAX_PAGE) }),
  },
  'runs.list': { input: nothing, output: z.object({ runs: z.array(RunSummary).max(500) }) },
  'runs.get': { input: z.strictObject({ id }), output: RunDetail },
  'runs.rollouts': {
    input: z.strictObject({ id, step: z.number().int().min(0).optional(), ...page }),
    output: z.object({ total: z.number().int(), rollouts: z.array(Rollout).max(MAX_PAGE) }),
  },
  'runs.stop': { input: z.strictObject({ id }), output: z.object({ run: Run }) },
  'adapters.list': {
    input: nothing,
    output: z.object({ adapters: z.array(AdapterView).max(1000), deployments: z.array(DeploymentView).max(16) }),
  },
  'adapters.swap': {
    input: z.strictObject({ harness: Harness, adapterId: id.nullable() }),
    output: z.object({ deployment: Deployment }),
  },
  'adapters.rollback': { input: z.strictObject({ harness: Harness }), output: z.object({ deployment: Deployment }) },
  ...CONNECT_CALLS,
  ...GUARD_CALLS,
  ...CLEAN_CALLS,
  ...RECORDING_CALLS,
  ...WORKSPACE_CALLS,
} as const;

export type CallName = keyof typeof CALLS;
/** What a caller passes: fields with defaults may be left out. */
export type CallInput<N extends CallName> = z.input<(typeof CALLS)[N]['input']>;
/** What the implementation receives, defaults filled in. */
export type CallArgs<N extends CallName> = z.output<(typeof CALLS)[N]['input']>;
export type CallOutput<N extends CallName> = z.output<(typeof CALLS)[N]['output']>;

export const isCallName = (name: unknown): name is CallName => typeof name === 'string' && Object.hasOwn(CALLS, name);

/** Errors travel as values: an exception loses its code on the way through Electron's context bridge. */
export type Reply<T> = { ok: true; output: T } | { ok: false; error: ErrorShape };

/** The server's side: one function a call. */
export type WindowServices = { [N in CallName]: (input: CallArgs<N>) => CallOutput<N> | Promise<CallOutput<N>> };

/** `window.tackroom`, as Electron's preload exposes it; the browser window builds the same over a WebSocket. */
export interface WindowBridge {
  call<N extends CallName>(name: N, input: CallInput<N>): Promise<Reply<CallOutput<N>>>;
  /** Returns the unsubscriber. */
  onEvent(listener: (message: EventMessage) => void): () => void;
}
