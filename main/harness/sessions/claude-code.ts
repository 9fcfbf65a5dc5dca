/**
 * Claude Code's session files: a tree of lines by uuid. Lines of subagents (`isSidechain`) have files of their own, in older
 * versions they stand among the others: either way they are a session of their own.
 */
import { basename } from 'node:path';
import { ClaudeIndex, messageId } from './claude-code-index.js';
import { answerOfLines, askedOf, type Line, resultsOf, usageOf } from './claude-code-messages.js';
import { jsonLines, parseObject } from './json-lines.js';
import {
  fileFingerprint,
  type Place,
  ROOT,
  type SessionReader,
  type SessionUnit,
  type SessionWriter,
  type Skip,
  type SourceFile,
} from './session-writer.js';
import { asRecord, asText, asTime, quoted } from './values.js';

/** Lines that carry no conversation. */
const SILENT = new Set([
  'system',
  'file-history-snapshot',
  'queue-operation',
  'progress',
  'attachment',
  'permission-mode',
  'agent-name',
  'last-prompt',
  'pr-link',
  'worktree-state',
]);
const TITLES = new Map([
  ['summary', 'summary'],
  ['custom-title', 'customTitle'],
  ['ai-title', 'aiTitle'],
]);

export const claudeCodeReader: SessionReader = {
  harness: 'claude-code',
  recognises: ({ head }) =>
    head
      .toString('utf8')
      .split('\n', 20)
      .map(parseObject)
      .some(
        (line) =>
          (line?.type === 'user' || line?.type === 'assistant') &&
          typeof line.sessionId === 'string' &&
          'uuid' in line &&
          'message' in line,
      ),
  *units(file) {
    for (const subagent of [false, true])
      yield {
        key: `claude-code\n${file.path}\n${subagent ? 'subagent' : 'session'}`,
        fingerprint: fileFingerprint(file),
        read(writer, skip) {
          const index = new ClaudeIndex(file.path, subagent);
          try {
            index.build();
            if (index.turns > 0) new ClaudeFile(file, index, subagent, writer, subagent ? () => {} : skip).read();
          } finally {
            index.close();
          }
        },
      } satisfies SessionUnit;
  },
};

/** A message of the model and the results of its calls, which stand after it in one row whatever their lines name as parent. */
interface Group {
  end: Place;
}

class ClaudeFile {
  /** By uuid: what follows the line goes on from here, or after the latest result of its group. */
  readonly #places = new Map<string, Place | Group>();
  readonly #groups = new Map<string, Group>();
  #last: Place | Group = ROOT;
  #begun = false;

  constructor(
    private readonly file: SourceFile,
    private readonly index: ClaudeIndex,
    private readonly subagent: boolean,
    private readonly writer: SessionWriter,
    private readonly skip: Skip,
  ) {}

  read(): void {
    let title = 0;
    for (const { line, value } of jsonLines(this.file.path, this.skip)) {
      const type = asText(value.type) ?? '';
      const field = TITLES.get(type);
      if (type === 'user' || type === 'assistant') this.#turn(value, line);
      else if (field !== undefined && !this.subagent) {
        // What the user called it wins over what a model did.
        const rank = type === 'custom-title' ? 2 : 1;
        const text = asText(value[field]) ?? asText(value.title);
        if (text !== null && rank >= title) this.writer.describe({ title: text });
        title = Math.max(title, rank);
      } else if (field !== undefined || SILENT.has(type)) this.#passOn(value);
      else this.skip(line, `unknown type ${quoted(value.type)}`);
    }
  }

  #turn(value: Line, line: number): void {
    if ((value.isSidechain === true) !== this.subagent) return;
    try {
      if (!this.#begun) this.#begin(value);
      if (value.type === 'assistant') this.#assistant(value);
      else this.#user(value);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.skip(line, 'nested too deeply');
    }
  }

  #begin(value: Line): void {
    this.#begun = true;
    const session = asText(value.sessionId) || basename(this.file.path, '.jsonl');
    this.writer.begin({
      harness: 'claude-code',
      id: this.subagent ? `${session}/${asText(value.agentId) ?? agentIn(this.file.path)}` : session,
      createdAt: asTime(value.timestamp) ?? Math.round(this.file.mtimeMs),
      cwd: asText(value.cwd),
      harnessVersion: asText(value.version),
      parent: this.subagent ? { id: session, kind: 'subagent' } : null,
    });
  }

  #assistant(value: Line): void {
    const id = messageId(value) ?? `line ${asText(value.uuid)}`;
    let group = this.#groups.get(id);
    if (!group) {
      group = { end: this.#answer(value, id) };
      this.#groups.set(id, group);
    }
    this.#set(value, group);
  }

  #answer(value: Line, id: string): Place {
    const known = this.index.linesOf(id);
    const lines = known.length > 0 ? known : [value];
    const message = asRecord(lines.at(-1)?.message);
    const at = this.#parent(value);
    const failed = value.isApiErrorMessage === true;
    const answer = answerOfLines(lines);
    const model = asText(message.model) ?? '';
    const after = this.writer.request(at, {
      key: id,
      at: asTime(value.timestamp) ?? Math.round(this.file.mtimeMs),
      model,
      provider: 'anthropic',
      answer: failed ? null : answer,
      finish:
        lines.map((line) => asText(asRecord(line.message).stop_reason)).findLast((reason) => reason !== null) ?? '',
      status: failed ? 'error' : 'ok',
      error: failed ? (typeof answer?.content === 'string' ? answer.content : 'The request failed.') : null,
      ...usageOf(lines),
      durationMs: 0,
      synthetic: failed || model === '<synthetic>',
      ...(messageId(value) && { responseId: messageId(value)! }),
    });
    if (model !== '' && model !== '<synthetic>') this.writer.describe({ model });
    return after;
  }

  #user(value: Line): void {
    const results = resultsOf(value);
    const parent = this.#follows(value);
    const group = 'end' in parent ? parent : null;
    let place = group ? group.end : (parent as Place);
    for (const result of results) place = this.writer.result(place, result);
    if (group && results.length > 0) group.end = place;
    const { text, mark } = askedOf(value);
    if (text !== '') place = this.writer.message(place, { role: 'user', content: text }, mark);
    // Text beside a result begins something of its own.
    this.#set(value, group && results.length > 0 && text === '' ? group : place);
  }

  /** Lines without a conversation stand in the tree too. */
  #passOn(value: Line): void {
    if (typeof value.uuid === 'string') this.#places.set(value.uuid, this.#follows(value));
  }

  #set(value: Line, place: Place | Group): void {
    if (typeof value.uuid === 'string') this.#places.set(value.uuid, place);
    this.#last = place;
  }

  /** A parent that is missing stood in a damaged line. */
  #follows(value: Line): Place | Group {
    if (value.parentUuid === null) return ROOT;
    return this.#places.get(asText(value.parentUuid) ?? '') ?? this.#last;
  }

  #parent(value: Line): Place {
    const parent = this.#follows(value);
    return 'end' in parent ? parent.end : parent;
  }
}

const agentIn = (path: string): string => /^agent-(.+)\.jsonl$/.exec(basename(path))?.[1] ?? 'sidechain';
