/** The conversation before the new answer: who vouches for a host, and which files the model wrote itself. */
import { createHash } from 'node:crypto';
import type { ChatMessage } from '../engine/protocol.js';
import { IMPLICIT_FILES } from './build-scripts.js';
import { isLocalHost, mentionsHost } from './hosts.js';
import { parseObject } from './json-object.js';
import { ModelFiles } from './model-files.js';
import { readCall, type Surface } from './surface.js';
import type { GuardInput, SampledCall } from './types.js';

export type Vouching =
  | 'yes'
  | 'no'
  /** Only a tool result names it, and the model had named it before: it may have put it there itself. */
  | 'second-hand';

const MAX_HISTORY_CALLS = 200;
const MAX_HISTORY_TEXT = 100_000;
const WRITES_SOMETHING =
  /write|edit|create|replace|insert|save|patch|>|tee|cat|base64|printf|echo|ln |symlink|sed |perl |awk |cp |mv |dd |install |rsync |curl |wget |truncate |open\(/;
const LINKS = /\bln\b|symlink/;
/** Anything with a name and an ending, and the names without one that runners know. */
const FILE_NAME = /[\w.-]{1,80}\.\w{1,8}\b|\b(?:GNUm|M|m)akefile\b|\b[Jj]ustfile\b|(?<=\/)\w[\w-]{2,40}\b/g;
const MAY_RUN_CODE = /python|import |-m /;

export class Conversation {
  readonly #callArguments = new Map<string, { name: string; text: string }>();
  readonly #calls: { name: string; text: string }[] = [];
  readonly #said = createHash('sha256');
  #hashed = 0;

  constructor(private readonly request: GuardInput['request']) {
    for (const message of request.messages)
      for (const call of message.tool_calls ?? []) {
        const said = { name: call.function.name, text: call.function.arguments };
        this.#callArguments.set(call.id, said);
        this.#calls.push(said);
      }
  }

  /** Takes in what a call of the new answer writes. */
  follow(call: SampledCall, surface: Surface, files: ModelFiles): void {
    this.#calls.push({ name: call.name, text: call.arguments });
    this.#record(surface, files, this.#calls.length);
  }

  #record(surface: Surface, files: ModelFiles, calls: number): void {
    // Source text can write whatever file it names.
    const named = surface.code.flatMap((text) => text.slice(0, MAX_HISTORY_TEXT).match(FILE_NAME) ?? []);
    const writes = [...surface.writes, ...[...new Set(named)].map((path) => ({ path, content: null }))];
    if (writes.length > 0) files.record(writes, this.#upTo(calls), surface.followed.size === 0);
  }

  /** The hash of the first `count` calls; asked for in rising order. */
  #upTo(count: number): string {
    for (; this.#hashed < count; this.#hashed++) {
      const { name, text } = this.#calls[this.#hashed]!;
      this.#said.update(`${name.length} ${text.length} ${name}${text}`);
    }
    return this.#said.copy().digest('hex');
  }

  /** Whether somebody other than the model and the harness named `host`. Linear in the conversation. */
  vouches(host: string): Vouching {
    if (isLocalHost(host)) return 'yes';
    let saidByModel = false;
    let secondHand = false;
    for (const message of this.request.messages) {
      const { role } = message;
      if (role === 'system' || role === 'developer' || !names(message, host)) continue;
      if (role === 'assistant') saidByModel = true;
      else if (role === 'user') return 'yes';
      else if (role === 'tool' && !this.#namedInCall(message.tool_call_id, host)) {
        if (!saidByModel) return 'yes';
        secondHand = true;
      }
    }
    if (mentionsHost(JSON.stringify(this.request.tools ?? []).toLowerCase(), host)) return 'yes';
    return secondHand ? 'second-hand' : 'no';
  }

  /**
   * Files and links that earlier calls made and that `hint` (the new calls' text) names; the newest text wins. Throws when one of those
   * calls cannot be read.
   */
  filesNamedIn(hint: string): ModelFiles {
    const files = new ModelFiles();
    const implicit = Object.entries(IMPLICIT_FILES)
      .filter(([program]) => hint.includes(program))
      .flatMap(([, names]) => names);
    const code = MAY_RUN_CODE.test(hint);
    const first = Math.max(0, this.#calls.length - MAX_HISTORY_CALLS);
    for (const [at, { name, text }] of this.#calls.slice(first).entries()) {
      if (!WRITES_SOMETHING.test(name) && !WRITES_SOMETHING.test(text)) continue;
      const names: string[] = text.slice(0, MAX_HISTORY_TEXT).match(FILE_NAME) ?? [];
      const wanted =
        LINKS.test(text) ||
        names.some(
          (file) =>
            implicit.includes(file) ||
            hint.includes(file) ||
            (code && file.endsWith('.py') && hint.includes(file.slice(0, -3))),
        );
      const args = wanted ? parseObject(text) : null;
      if (!args) continue;
      const surface = readCall(name, args, files);
      this.#record(surface, files, first + at + 1);
      for (const [path, target] of surface.links) files.link(path, target);
    }
    return files;
  }

  #namedInCall(callId: string | undefined, host: string): boolean {
    const call = callId === undefined ? undefined : this.#callArguments.get(callId);
    if (!call) return false;
    if (mentionsHost(call.text.toLowerCase(), host)) return true;
    const args = parseObject(call.text);
    if (!args) return false;
    const surface = readCall(call.name, args);
    return [...surface.commands, ...surface.code, ...surface.payloads].some((text) =>
      mentionsHost(text.toLowerCase(), host),
    );
  }
}

/** Whether a message, or a call in it, names `host` in any case. Copies are made for one message at a time only. */
function names(message: ChatMessage, host: string): boolean {
  const has = (text: string): boolean => mentionsHost(text, host) || mentionsHost(text.toLowerCase(), host);
  return has(textOf(message.content)) || (message.tool_calls ?? []).some((call) => has(call.function.arguments));
}

export function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => part.text ?? '').join('\n') : '';
}
