/**
 * What a reader of session files says, in the order it reads; `main/record` writes it down. A conversation is a tree: a
 * place names everything said up to it, so a reader of any size keeps places and never texts.
 */
import type { MarkKind, Session, SourceHarness } from '../../../contract/records.js';
import type { ChatMessage, ToolDefinition } from '../../engine/protocol.js';

export interface Place {
  /** Hash of the conversation up to here; empty at the root. */
  node: string;
  /** Hash of its last message. */
  message: string;
  length: number;
}

export const ROOT: Place = { node: '', message: '', length: 0 };

export interface SessionInfo {
  harness: SourceHarness;
  /** The harness's own id of the session. */
  id: string;
  /** Unix milliseconds. */
  createdAt: number;
  cwd: string | null;
  harnessVersion: string | null;
  /** `id` is the harness's. */
  parent: { id: string; kind: 'fork' | 'subagent' | 'compaction' } | null;
}

export interface SessionDetails {
  title?: string;
  model?: string;
  cwd?: string;
  usage?: NonNullable<Session['source']>['usage'];
}

export interface ImportedAnswer {
  /** Names the request within its session, the same in every reading. */
  key: string;
  /** Unix milliseconds. */
  at: number;
  model: string;
  /** Who served it; null: the source does not say. */
  provider: string | null;
  /** null: nothing came. */
  answer: ChatMessage | null;
  finish: string;
  status: 'ok' | 'error' | 'cancelled';
  error: string | null;
  /** Cached ones included; 0: unknown. */
  promptTokens: number;
  completionTokens: number;
  cachedTokens?: number;
  durationMs: number;
  /** Written by the harness, not by a model. */
  synthetic?: boolean;
  toolsHash?: string | null;
  /** What the server called its answer: joins it with what was recorded. */
  responseId?: string;
}

export interface ImportedResult {
  callId: string;
  text: string;
  /** null: no command ran to its end, or the source does not say. */
  exitCode: number | null;
  isError: boolean;
}

export interface SessionWriter {
  /** Comes first. */
  begin(info: SessionInfo): void;
  describe(details: SessionDetails): void;
  message(at: Place, message: ChatMessage, mark?: MarkKind): Place;
  /** The message at `said` once more, after `at`: what a compaction kept. */
  again(at: Place, said: Place): Place;
  tools(tools: readonly ToolDefinition[]): string;
  /** The model was asked with the conversation at `at`; returns the place after its answer. */
  request(at: Place, answer: ImportedAnswer): Place;
  result(at: Place, result: ImportedResult): Place;
}

/** `line`: 1 is the first; null where the source has none. */
export type Skip = (line: number | null, reason: string) => void;

/** One session of a source. */
export interface SessionUnit {
  /** Names the session within the machine, the same in every reading. */
  key: string;
  /** Changes when the session does. */
  fingerprint: string;
  /** Says nothing before `begin`; a unit that never begins holds no session. Throws Unreadable. */
  read(writer: SessionWriter, skip: Skip): void;
}

export interface SourceFile {
  path: string;
  /** First bytes, at most HEAD_BYTES. */
  head: Buffer;
  size: number;
  mtimeMs: number;
}

export const HEAD_BYTES = 65_536;

export interface SessionReader {
  readonly harness: SourceHarness;
  recognises(file: SourceFile): boolean;
  /** Throws Unreadable. */
  units(file: SourceFile): Iterable<SessionUnit>;
}

/** A source, or one session of it, cannot be read; the message is the reason a person gets. */
export class Unreadable extends Error {}

/** A session that the source lists and does not have. */
export const missingUnit = (key: string, id: string): SessionUnit => ({
  key,
  fingerprint: 'missing',
  read() {
    throw new Unreadable(`session ${id.slice(0, 100)} is listed and not there`);
  },
});

export const fileFingerprint = (file: SourceFile): string => `${file.size}:${file.mtimeMs}`;
