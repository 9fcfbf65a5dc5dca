/** Session files of pi 0.7x and 1.x: a tree of entries in JSONL, with branches, compactions and edits. */
import { basename } from 'node:path';
import { type JsonLine, jsonLines, parseObject } from './json-lines.js';
import { PiContext, type PiNode } from './pi-context.js';
import { PiEntry, PiMessage } from './pi-format.js';
import { addedTools, answerOf, branchText, commandText, compactionText, resultOf, systemText } from './pi-messages.js';
import {
  fileFingerprint,
  type Place,
  ROOT,
  type SessionReader,
  type SessionWriter,
  type Skip,
  type SourceFile,
  Unreadable,
} from './session-writer.js';
import { asRecord, asText, asTime, contentText, quoted } from './values.js';

/** Entries that say nothing to the model. */
const SILENT = new Set(['model_change', 'thinking_level_change', 'usage', 'custom', 'label', 'session_info']);

export const piReader: SessionReader = {
  harness: 'pi',
  recognises({ head }) {
    const [first = '', second = ''] = head.toString('utf8').split('\n', 2);
    const header = parseObject(first);
    // `pi --mode json` prints the same header and then events.
    const isPrinted = /_(?:start|update|end)$/.test(asText(parseObject(second)?.type) ?? '');
    return header?.type === 'session' && typeof header.cwd === 'string' && !isPrinted;
  },
  *units(file) {
    yield {
      key: `pi\n${file.path}`,
      fingerprint: fileFingerprint(file),
      read: (writer, skip) => new PiFile(file, writer, skip).read(),
    };
  },
};

class PiFile {
  readonly #context = new PiContext();
  readonly #nodes = new Map<string, PiNode>();
  readonly #tools = new Map<string, ReturnType<typeof addedTools>>();
  #last: PiNode | null = null;
  #startedAt = 0;

  constructor(
    private readonly file: SourceFile,
    private readonly writer: SessionWriter,
    private readonly skip: Skip,
  ) {}

  read(): void {
    let begun = false;
    for (const line of jsonLines(this.file.path, this.skip)) {
      if (!begun) {
        this.#begin(line.value);
        begun = true;
        continue;
      }
      try {
        this.#entry(line);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.skip(line.line, 'nested too deeply');
      }
    }
  }

  #begin(header: Record<string, unknown>): void {
    if (header.type !== 'session') throw new Unreadable('its first line is no session header of pi');
    const id = asText(header.id) || basename(this.file.path, '.jsonl');
    const parent = asText(header.parentSession);
    this.#startedAt = asTime(header.timestamp) ?? Math.round(this.file.mtimeMs);
    this.writer.begin({
      harness: 'pi',
      id,
      createdAt: this.#startedAt,
      cwd: asText(header.cwd),
      harnessVersion: null,
      parent: parent === null ? null : { id: idInFileName(parent), kind: 'fork' },
    });
  }

  #entry({ line, value }: JsonLine): void {
    const parsed = PiEntry.safeParse(value);
    if (!parsed.success) {
      this.skip(line, 'no entry of a session');
      return;
    }
    const entry = parsed.data;
    const id = entry.id ?? `line ${line}`;
    const named = entry.parentId == null ? undefined : this.#nodes.get(entry.parentId);
    // Linear files name no parents; a named one that is missing stood in a damaged line.
    const parent = entry.parentId === null ? null : (named ?? this.#last);
    const node: PiNode = {
      id,
      parent,
      place: parent?.place ?? ROOT,
      said: null,
      toolsHash: parent?.toolsHash ?? null,
      isSystem: false,
    };
    const at = asTime(entry.timestamp) ?? this.#startedAt;
    // What follows an entry of an unknown type hangs on to it.
    this.#say(node, entry, at, line);
    this.#nodes.set(id, node);
    this.#last = node;
  }

  /** Fills in what the entry adds. */
  #say(node: PiNode, entry: PiEntry, at: number, line: number): void {
    const { type } = entry;
    if (type === 'message') this.#message(node, entry, at, line);
    else if (type === 'branch_summary') this.#add(node, branchText(asText(entry.summary) ?? ''), 'summary');
    else if (type === 'custom_message') this.#add(node, contentText(entry.content), 'context');
    else if (type === 'compaction') this.#compact(node, entry, line);
    else if (type === 'context_edit') this.#edit(node, entry, line);
    else if (type === 'session_info') this.writer.describe({ title: asText(entry.name) ?? '' });
    else if (!SILENT.has(type)) this.skip(line, `unknown type ${quoted(type)}`);
  }

  #message(node: PiNode, entry: PiEntry, at: number, line: number): void {
    const parsed = PiMessage.safeParse(entry.message);
    if (!parsed.success) {
      this.skip(line, 'no message');
      return;
    }
    const message = parsed.data;
    const { role } = message;
    if (role === 'system') this.#system(node, message);
    else if (role === 'user')
      this.#set(node, this.writer.message(node.place, { role, content: contentText(message.content) }));
    else if (role === 'assistant') this.#answer(node, message, asTime(message.timestamp) ?? at);
    else if (role === 'toolResult') this.#set(node, this.writer.result(node.place, resultOf(message)));
    else if (role === 'bashExecution') {
      if (message.excludeFromContext !== true) this.#add(node, commandText(message), 'command');
    } else if (role === 'custom') this.#add(node, contentText(message.content), 'context');
    else this.skip(line, `unknown role ${quoted(role)}`);
  }

  #system(node: PiNode, message: PiMessage): void {
    const added = addedTools(message);
    if (added.length > 0) {
      const names = new Set(added.map((tool) => tool.function.name));
      const before = (this.#tools.get(node.toolsHash ?? '') ?? []).filter((tool) => !names.has(tool.function.name));
      const tools = [...before, ...added];
      node.toolsHash = this.writer.tools(tools);
      this.#tools.set(node.toolsHash, tools);
    }
    const text = systemText(message);
    node.isSystem = true;
    if (text !== '') this.#set(node, this.writer.message(node.place, { role: 'system', content: text }));
  }

  #answer(node: PiNode, message: PiMessage, at: number): void {
    const answer = answerOf(message, node.id, at);
    const after = this.writer.request(node.place, { ...answer, toolsHash: node.toolsHash });
    this.writer.describe({ model: answer.model });
    // pi does not send failed answers again.
    if (answer.status === 'ok' && answer.answer) this.#set(node, after);
  }

  #compact(node: PiNode, entry: PiEntry, line: number): void {
    const text = systemText(asRecord(entry.systemMessage));
    const system = text === '' ? null : this.writer.message(ROOT, { role: 'system', content: text });
    const summary = this.writer.message(
      system ?? ROOT,
      { role: 'user', content: compactionText(asText(entry.summary) ?? '') },
      'summary',
    );
    node.compaction = { system, summary, keptFrom: asText(entry.firstKeptEntryId) ?? '' };
    this.#rebuild(node, line);
  }

  #edit(node: PiNode, entry: PiEntry, line: number): void {
    const target = this.#nodes.get(asText(entry.targetId) ?? '');
    if (!target?.said) return;
    const text = contentText(asRecord(entry.replacement).content ?? entry.replacement);
    const before = target.parent?.place ?? ROOT;
    node.edit = {
      target: target.id,
      with: text === '' ? null : this.writer.message(before, { role: 'user', content: text }),
    };
    // The usual case, without a walk: the last thing said is taken back before the next try.
    if (node.edit.with === null && target.place.node === node.place.node) node.place = before;
    else this.#rebuild(node, line);
  }

  #rebuild(node: PiNode, line: number): void {
    const messages = this.#context.messages(node);
    if (messages) node.place = messages.reduce((place, said) => this.writer.again(place, said), ROOT);
    else this.skip(line, 'too many compactions and edits for a tree of this depth');
  }

  #add(node: PiNode, text: string, mark: 'summary' | 'context' | 'command'): void {
    this.#set(node, this.writer.message(node.place, { role: 'user', content: text }, mark));
  }

  #set(node: PiNode, said: Place): void {
    node.said = said;
    node.place = said;
  }
}

/** `…/2026-11-29T12-58-01-446Z_01a22762-….jsonl` -> the id. */
function idInFileName(path: string): string {
  const name = basename(path.replaceAll('\\', '/'), '.jsonl');
  return name.slice(name.indexOf('_') + 1);
}
