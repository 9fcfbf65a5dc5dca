/** Codex' rollout files: lines of items in order. What the model said between two results or questions is one request. */
import { basename } from 'node:path';
import type { ChatMessage } from '../../engine/protocol.js';
import { type Call, callOf, type Item, isInjected, isResult, reasoningText, resultOf, usageOf } from './codex-items.js';
import { type JsonLine, jsonLines, parseObject } from './json-lines.js';
import {
  fileFingerprint,
  type ImportedAnswer,
  type Place,
  ROOT,
  type SessionReader,
  type SessionWriter,
  type Skip,
  type SourceFile,
} from './session-writer.js';
import { asCount, asRecord, asText, asTime, contentText, quoted } from './values.js';

export const codexReader: SessionReader = {
  harness: 'codex',
  recognises({ head }) {
    const first = parseObject(head.toString('utf8').split('\n', 1)[0]!);
    // The header may be longer than the head.
    return first
      ? first.type === 'session_meta' && typeof first.payload === 'object'
      : /^\{"timestamp":\s*"[^"]*",\s*"type":\s*"session_meta"/.test(head.toString('utf8'));
  },
  *units(file) {
    yield {
      key: `codex\n${file.path}`,
      fingerprint: fileFingerprint(file),
      read: (writer, skip) => new CodexFile(file, writer, skip).read(),
    };
  },
};

interface Pending {
  line: number;
  at: number;
  text: string[];
  reasoning: string[];
  calls: Call[];
}

class CodexFile {
  #place: Place = ROOT;
  #system: Place = ROOT;
  #pending: Pending | null = null;
  /** The last request, until its usage is known. */
  #asked: { at: Place; told: ImportedAnswer } | null = null;
  /** Where each turn of the user began. */
  #turns: Place[] = [];
  #usage = { total: '' };
  #model = '';
  #provider: string | null = null;
  #begun = false;

  constructor(
    private readonly file: SourceFile,
    private readonly writer: SessionWriter,
    private readonly skip: Skip,
  ) {}

  read(): void {
    for (const line of jsonLines(this.file.path, this.skip)) {
      try {
        this.#line(line);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.skip(line.line, 'nested too deeply');
      }
    }
    this.#flush();
  }

  #line({ line, value }: JsonLine): void {
    const payload = asRecord(value.payload);
    const at = asTime(value.timestamp) ?? Math.round(this.file.mtimeMs);
    if (value.type === 'session_meta') this.#meta(payload, at);
    else if (!this.#begun) this.skip(line, 'before the session header');
    else if (value.type === 'turn_context') this.#context(payload);
    else if (value.type === 'response_item') this.#item(payload, at, line);
    else if (value.type === 'event_msg') this.#event(payload);
    else if (value.type === 'compacted') this.#compacted(payload);
    else if (value.type !== 'world_state') this.skip(line, `unknown type ${quoted(value.type)}`);
  }

  #meta(meta: Item, at: number): void {
    // A forked file repeats the header of the one it came from.
    if (this.#begun) return;
    this.#begun = true;
    const parent = asText(meta.forked_from_id);
    this.#provider = asText(meta.model_provider);
    this.writer.begin({
      harness: 'codex',
      id: asText(meta.id) ?? asText(meta.session_id) ?? basename(this.file.path, '.jsonl'),
      createdAt: asTime(meta.timestamp) ?? at,
      cwd: asText(meta.cwd),
      harnessVersion: asText(meta.cli_version),
      parent: parent === null ? null : { id: parent, kind: 'fork' },
    });
    const instructions = asText(asRecord(meta.base_instructions).text);
    if (instructions !== null)
      this.#place = this.#system = this.writer.message(ROOT, { role: 'system', content: instructions });
  }

  #context(context: Item): void {
    this.#model = asText(context.model) ?? this.#model;
    const cwd = asText(context.cwd);
    this.writer.describe({ model: this.#model, ...(cwd !== null && { cwd }) });
  }

  #item(item: Item, at: number, line: number): void {
    if (isResult(item)) {
      this.#flush();
      this.#place = this.writer.result(this.#place, resultOf(item));
    } else if (item.type === 'message' && item.role !== 'assistant') this.#say(item);
    else if (item.type === 'message') this.#spoken(at, line).text.push(contentText(item.content));
    else if (item.type === 'reasoning') this.#spoken(at, line).reasoning.push(reasoningText(item));
    else {
      const call = callOf(item);
      if (call) this.#spoken(at, line).calls.push(call);
      else if (item.type !== 'web_search_call') this.skip(line, `unknown item ${quoted(item.type)}`);
    }
  }

  #say(item: Item): void {
    this.#flush();
    const text = contentText(item.content);
    const role = item.role === 'developer' || item.role === 'system' ? item.role : 'user';
    const injected = isInjected(role, text);
    if (role === 'user' && !injected) this.#turns.push(this.#place);
    const mark = role === 'user' && injected ? 'context' : undefined;
    this.#place = this.writer.message(this.#place, { role, content: text }, mark);
  }

  #spoken(at: number, line: number): Pending {
    this.#pending ??= { line, at, text: [], reasoning: [], calls: [] };
    return this.#pending;
  }

  #event(event: Item): void {
    if (event.type === 'token_count') {
      this.#flush();
      const usage = usageOf(event, this.#usage);
      // Written again, with its usage.
      if (usage && this.#asked) this.writer.request(this.#asked.at, { ...this.#asked.told, ...usage });
      if (usage) this.#asked = null;
    } else if (event.type === 'thread_rolled_back') {
      this.#flush();
      const back = Math.min(asCount(event.num_turns), this.#turns.length);
      for (let i = 0; i < back; i++) this.#place = this.#turns.pop() ?? this.#place;
    } else if (event.type === 'thread_name_updated') this.writer.describe({ title: asText(event.thread_name) ?? '' });
  }

  /** The history is replaced by what stands in the line, or by a summary alone. */
  #compacted(payload: Item): void {
    this.#flush();
    this.#place = this.#system;
    this.#turns = [];
    const history = Array.isArray(payload.replacement_history) ? payload.replacement_history.map(asRecord) : [];
    for (const item of history) {
      const text = contentText(item.content);
      const { role } = item;
      if (item.type !== 'message' || text === '') continue;
      if (role === 'assistant') this.#place = this.writer.message(this.#place, { role, content: text });
      else this.#say(item);
    }
    const summary = asText(payload.message) ?? '';
    if (summary !== '') this.#place = this.writer.message(this.#place, { role: 'user', content: summary }, 'summary');
  }

  #flush(): void {
    const said = this.#pending;
    this.#pending = null;
    if (!said) return;
    const reasoning = said.reasoning.filter((text) => text !== '').join('\n\n');
    const answer: ChatMessage = {
      role: 'assistant',
      content: said.text.join('\n\n'),
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(said.calls.length > 0 && { tool_calls: said.calls }),
    };
    const told: ImportedAnswer = {
      key: `line ${said.line}`,
      at: said.at,
      model: this.#model,
      provider: this.#provider,
      answer,
      finish: said.calls.length > 0 ? 'tool_calls' : 'stop',
      status: 'ok',
      error: null,
      promptTokens: 0,
      completionTokens: 0,
      durationMs: 0,
    };
    this.#asked = { at: this.#place, told };
    this.#place = this.writer.request(this.#place, told);
  }
}
