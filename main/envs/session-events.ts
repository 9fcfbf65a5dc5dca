/** A session as the replay needs it: what was asked, and every tool call with its result, in the order they ran. */
export interface UserEvent {
  kind: 'user';
  text: string;
}

export interface CallEvent {
  kind: 'call';
  name: string;
  /** Empty when the model's argument text was no JSON object. */
  arguments: Record<string, unknown>;
  /** Text of the result; null when the session ends before it. */
  output: string | null;
  isError: boolean;
  /** As reported by the harness in a field of its own; undefined where it reports none. */
  exitCode?: number | null;
}

export interface AgentText {
  kind: 'text';
  text: string;
}

export type SessionEvent = UserEvent | CallEvent | AgentText;

export interface SessionTrace {
  id: string;
  /** Absolute working directory, POSIX. */
  cwd: string;
  /** Active branch only. */
  events: SessionEvent[];
}

const ANY_PATH = ['path', 'file_path', 'filePath'];

/** The path argument of a file tool, whatever the harness calls it. */
export function pathArgument(args: Record<string, unknown>): string | null {
  for (const key of ANY_PATH) if (typeof args[key] === 'string') return args[key];
  return null;
}

/** The first of `keys` that holds a string. */
export function textArgument(args: Record<string, unknown>, ...keys: string[]): string | null {
  for (const key of keys) if (typeof args[key] === 'string') return args[key];
  return null;
}
