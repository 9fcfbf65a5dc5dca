import type { ToolDefinition } from '../protocol.js';
import type { AnswerFormats, AnswerParser, CallFormat, CallReader, Delta } from './answer-parser.js';

const THINK = '<think>';
const THINK_END = '</think>';

/**
 * Splits an answer into reasoning, text and calls. Line breaks just inside and after the reasoning tags, white space
 * before a call and white space behind the last one belong to the markup; every other character that is part of no call
 * comes out as text or reasoning.
 * A call inside the reasoning stays reasoning: the model is only weighing it.
 */
export class MarkupParser implements AnswerParser {
  #phase: 'start' | 'reasoning' | 'after-reasoning' | 'text' | 'call';
  /** What is not decided yet; in `text` no longer than an opener, so that each push looks at little. */
  #buffer = '';
  /** White space that is text unless a call follows (or, behind a call, unless text follows). */
  #space = '';
  #afterCall = false;
  /** Nothing but white space and calls so far. */
  #bare = true;
  #reader: CallReader | null = null;
  #opener = '';
  #reasoningSaid = false;
  #out: Delta[] = [];

  constructor(
    private readonly formats: AnswerFormats,
    private readonly tools: readonly ToolDefinition[] = [],
    /** The prompt ended inside the reasoning. */
    startsInReasoning = false,
  ) {
    this.#phase = !formats.reasoning ? 'text' : startsInReasoning ? 'reasoning' : 'start';
  }

  push(text: string): Delta[] {
    this.#buffer += text;
    return this.#run(false);
  }

  finish(): Delta[] {
    return this.#run(true);
  }

  #run(final: boolean): Delta[] {
    this.#out = [];
    while (this.#step(final)) {}
    return this.#out;
  }

  /** True when it got on and should be called again. */
  #step(final: boolean): boolean {
    switch (this.#phase) {
      case 'start':
        return this.#start(final);
      case 'reasoning':
        return this.#reasoning(final);
      case 'after-reasoning':
        return this.#skipLines(final);
      case 'text':
        return this.#text(final);
      case 'call':
        return this.#call(final);
    }
  }

  #start(final: boolean): boolean {
    const at = this.#buffer.search(/\S/);
    const rest = at < 0 ? '' : this.#buffer.slice(at);
    if (rest.startsWith(THINK)) {
      this.#buffer = rest.slice(THINK.length);
      this.#phase = 'reasoning';
      return true;
    }
    if (!final && THINK.startsWith(rest)) return false;
    this.#phase = 'text';
    return true;
  }

  #reasoning(final: boolean): boolean {
    const end = this.#buffer.indexOf(THINK_END);
    const decided =
      end >= 0 ? end : final ? this.#buffer.length : this.#buffer.length - heldTail(this.#buffer, [THINK_END]);
    this.#sayReasoning(this.#buffer.slice(0, decided));
    this.#buffer = this.#buffer.slice(decided);
    if (end < 0) return false;
    this.#buffer = this.#buffer.slice(THINK_END.length);
    this.#space = '';
    this.#phase = 'after-reasoning';
    return true;
  }

  #sayReasoning(piece: string): void {
    const text = this.#space + piece;
    let end = text.length;
    while (end > 0 && isLineBreak(text[end - 1]!)) end--;
    let start = 0;
    if (!this.#reasoningSaid) while (start < end && isLineBreak(text[start]!)) start++;
    if (end > start) {
      this.#reasoningSaid = true;
      this.#out.push({ kind: 'reasoning', text: text.slice(start, end) });
    }
    this.#space = text.slice(end);
  }

  #skipLines(final: boolean): boolean {
    let at = 0;
    while (at < this.#buffer.length && isLineBreak(this.#buffer[at]!)) at++;
    this.#buffer = this.#buffer.slice(at);
    if (this.#buffer === '' && !final) return false;
    this.#phase = 'text';
    return true;
  }

  #text(final: boolean): boolean {
    const found = this.#findOpener();
    if (found) {
      this.#say(this.#buffer.slice(0, found.at));
      this.#buffer = this.#buffer.slice(found.at);
      // An opener of the kind that must come first may have been text before it that is now known.
      if (found.format.onlyFirst && !this.#bare) {
        this.#say(found.format.opener);
        this.#buffer = this.#buffer.slice(found.format.opener.length);
        return true;
      }
      this.#reader = found.format.reader(this.tools);
      this.#opener = found.format.opener;
      this.#phase = 'call';
      return true;
    }
    const held = final ? 0 : heldTail(this.#buffer, this.#openers());
    this.#say(this.#buffer.slice(0, this.#buffer.length - held));
    this.#buffer = this.#buffer.slice(this.#buffer.length - held);
    if (final) this.#sayRest();
    return false;
  }

  #call(final: boolean): boolean {
    const read = this.#reader!.read(this.#buffer, final);
    if (read === null) return false;
    this.#phase = 'text';
    this.#reader = null;
    if (read === 'text') {
      this.#say(this.#opener);
      this.#buffer = this.#buffer.slice(this.#opener.length);
      return true;
    }
    this.#buffer = this.#buffer.slice(read.length);
    this.#space = '';
    this.#afterCall = true;
    for (const { name, arguments: args } of read.calls)
      this.#out.push(
        { kind: 'tool_call_start', name },
        { kind: 'tool_call_args', text: args },
        { kind: 'tool_call_end' },
      );
    return true;
  }

  /** Text, white space at its end held back; so is a semicolon behind a call: Llama 3 puts one between calls. */
  #say(text: string): void {
    const onlySpace = (this.#afterCall ? /^[\s;]*$/ : /^\s*$/).test(text);
    if (onlySpace) {
      this.#space += text;
      return;
    }
    const said = text.trimEnd();
    this.#bare = false;
    this.#afterCall = false;
    this.#out.push({ kind: 'text', text: this.#space + said });
    this.#space = text.slice(said.length);
  }

  #sayRest(): void {
    const onlyMarkup = this.#afterCall && this.#space.trim() === '';
    if (this.#space !== '' && !onlyMarkup) this.#out.push({ kind: 'text', text: this.#space });
    this.#space = '';
  }

  #active(): CallFormat[] {
    return this.formats.calls.filter((format) => this.#bare || !format.onlyFirst);
  }

  #openers(): string[] {
    return this.#active().map(({ opener }) => opener);
  }

  #findOpener(): { at: number; format: CallFormat } | null {
    let best: { at: number; format: CallFormat } | null = null;
    for (const format of this.#active()) {
      const at = this.#buffer.indexOf(format.opener);
      if (at < 0 || (best && (at > best.at || (at === best.at && format.opener.length <= best.format.opener.length))))
        continue;
      best = { at, format };
    }
    return best;
  }
}

function isLineBreak(character: string): boolean {
  return character === '\n' || character === '\r';
}

/** Length of the longest tail of the text that may still grow into one of the markers. */
function heldTail(text: string, markers: readonly string[]): number {
  let held = 0;
  for (const marker of markers)
    for (let n = Math.min(marker.length - 1, text.length); n > held; n--)
      if (text.endsWith(marker.slice(0, n))) {
        held = n;
        break;
      }
  return held;
}
