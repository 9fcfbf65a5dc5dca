/**
 * First look through a Claude Code file: which lines make up one message of the API. Results of its first calls may stand
 * before its last block, so a message can only be read once all its lines are known.
 */
import { closeSync } from 'node:fs';
import type { Line } from './claude-code-messages.js';
import { jsonLines, lineAt, MAX_LINE_BYTES, openSource } from './json-lines.js';
import type { Skip } from './session-writer.js';
import { asRecord, asText } from './values.js';

interface At {
  offset: number;
  bytes: number;
}

export class ClaudeIndex {
  readonly #fd: number;
  readonly #groups = new Map<string, { lines: At[]; bytes: number }>();
  readonly #path: string;
  /** Lines of the conversation. */
  turns = 0;

  constructor(
    path: string,
    private readonly subagent: boolean,
  ) {
    this.#path = path;
    this.#fd = openSource(path);
  }

  build(): void {
    const quiet: Skip = () => {};
    for (const { value, offset, bytes } of jsonLines(this.#path, quiet)) {
      if (value.type !== 'user' && value.type !== 'assistant') continue;
      if ((value.isSidechain === true) !== this.subagent) continue;
      this.turns++;
      const id = messageId(value);
      if (id !== null) this.#add(id, { offset, bytes });
    }
  }

  /** All lines of a message, in order; beyond what one line may hold, the rest is left out. */
  linesOf(id: string): Line[] {
    return (this.#groups.get(id)?.lines ?? []).flatMap(({ offset, bytes }): Line[] => {
      const line = lineAt(this.#fd, offset, bytes);
      return line ? [line] : [];
    });
  }

  #add(id: string, at: At): void {
    const group = this.#groups.get(id) ?? { lines: [], bytes: 0 };
    group.bytes += at.bytes;
    if (group.lines.length === 0 || group.bytes <= MAX_LINE_BYTES) group.lines.push(at);
    this.#groups.set(id, group);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

export const messageId = (line: Line): string | null =>
  line.type === 'assistant' ? asText(asRecord(line.message).id) : null;
