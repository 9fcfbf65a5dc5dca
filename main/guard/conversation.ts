/** The conversation before the new answer: who vouches for a host, and which files the model wrote itself. */
import type { ChatMessage } from '../engine/protocol.js';
import { IMPLICIT_FILES } from './build-scripts.js';
import { isLocalHost, mentionsHost } from './hosts.js';
import { parseObject } from './json-object.js';
import { ModelFiles } from './model-files.js';
import { readCall } from './surface.js';
import type { GuardInput } from './types.js';

export type Vouching =
  | 'yes'
  | 'no'
  /** Only a tool result names it, and the model had named it before: it may have put it there itself. */
  | 'second-hand';

const MAX_HISTORY_CALLS = 200;
const MAX_HISTORY_TEXT = 100_000;
const WRITES_SOMETHING = /write|edit|create|patch|>|tee|cat|base64|printf|echo|ln |symlink/;
const LINKS = /\bln\b|symlink/;
/** Anything with a name and an ending, and the names without one that runners know. */
const FILE_NAME = /[\w.-]{1,80}\.\w{1,8}\b|\b(?:GNUm|M|m)akefile\b|\b[Jj]ustfile\b|(?<=\/)\w[\w-]{2,40}\b/g;
const MAY_RUN_CODE = /python|import |-m /;

export class Conversation {
  readonly #callArguments = new Map<string, { name: string; text: string }>();

  constructor(private readonly request: GuardInput['request']) {
    for (const message of request.messages)
      for (const call of message.tool_calls ?? [])
        this.#callArguments.set(call.id, { name: call.function.name, text: call.function.arguments });
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

  /** Files and links that earlier calls made and that `hint` (the new calls' text) names; the newest text wins. */
  filesNamedIn(hint: string): ModelFiles {
    const files = new ModelFiles();
    const implicit = Object.entries(IMPLICIT_FILES)
      .filter(([program]) => hint.includes(program))
      .flatMap(([, names]) => names);
    const code = MAY_RUN_CODE.test(hint);
    for (const { name, text } of [...this.#callArguments.values()].slice(-MAX_HISTORY_CALLS)) {
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
      for (const { path, content } of surface.writes) if (content !== null) files.set(path, content);
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
