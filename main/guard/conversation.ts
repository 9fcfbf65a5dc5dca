/** The conversation before the new answer: who vouches for a host, and which files the model wrote itself. */
import type { ChatMessage } from '../engine/protocol.js';
import { isLocalHost, mentionsHost } from './hosts.js';
import { readCall } from './surface.js';
import type { GuardInput } from './types.js';

export type Vouching =
  | 'yes'
  | 'no'
  /** Only a tool result names it, and the model had named it before: it may have put it there itself. */
  | 'second-hand';

const MAX_HISTORY_CALLS = 200;

interface Spoken {
  role: ChatMessage['role'];
  /** Lower case. */
  text: string;
  callId: string | undefined;
}

export class Conversation {
  #texts: Spoken[] | null = null;
  readonly #callArguments = new Map<string, { name: string; text: string }>();

  constructor(private readonly request: GuardInput['request']) {}

  /** Whether somebody other than the model and the harness named `host`. Linear in the conversation. */
  vouches(host: string): Vouching {
    if (isLocalHost(host)) return 'yes';
    let saidByModel = false;
    let secondHand = false;
    for (const { role, text, callId } of this.#read()) {
      if (!mentionsHost(text, host)) continue;
      if (role === 'assistant') saidByModel = true;
      else if (role === 'user') return 'yes';
      else if (role === 'tool' && !this.#namedInCall(callId, host)) {
        if (!saidByModel) return 'yes';
        secondHand = true;
      }
    }
    if (mentionsHost(JSON.stringify(this.request.tools ?? []).toLowerCase(), host)) return 'yes';
    return secondHand ? 'second-hand' : 'no';
  }

  /** Text of files that earlier calls wrote and that `hint` (the new calls' text) names; newest wins. */
  filesNamedIn(hint: string): Map<string, string> {
    const files = new Map<string, string>();
    this.#read();
    for (const { name, text } of [...this.#callArguments.values()].slice(-MAX_HISTORY_CALLS)) {
      if (!/write|edit|create|patch|>|tee|cat|base64|printf|echo/.test(name + text)) continue;
      const names = text.match(/[\w-]{2,80}\.(?:sh|py|js|mjs|ts|pl|rb|b64|txt|bin|dat|cfg|mk)\b|\bMakefile\b/g) ?? [];
      if (!names.some((file) => hint.includes(file))) continue;
      const args = parseObject(text);
      if (!args) continue;
      for (const { path, content } of readCall(name, args, files).writes)
        if (content !== null) files.set(path, content);
    }
    return files;
  }

  #read(): Spoken[] {
    if (this.#texts) return this.#texts;
    this.#texts = [];
    for (const message of this.request.messages) {
      for (const call of message.tool_calls ?? [])
        this.#callArguments.set(call.id, { name: call.function.name, text: call.function.arguments });
      const calls = (message.tool_calls ?? []).map((call) => call.function.arguments).join('\n');
      this.#texts.push({
        role: message.role,
        text: `${textOf(message.content)}\n${calls}`.toLowerCase(),
        callId: message.tool_call_id,
      });
    }
    return this.#texts;
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

export function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => part.text ?? '').join('\n') : '';
}

/** A JSON object, or null. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
