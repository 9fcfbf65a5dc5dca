/**
 * Who was turned away at a port of ours: a line each in `refused.log`, for the user to read. No token is in it, and whoever
 * knocks all day fills no disk.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { RateLimit } from './rate-limit.js';

const MAX_BYTES = 256 * 1024;
const LINES_PER_SECOND = 0.2;
const BURST = 20;
const MAX_FROM_CHARS = 120;
const DAY_MS = 24 * 60 * 60 * 1000;

/** What was wrong: the page it came from, the name it was sent to, or the token. */
const Why = z.enum(['origin', 'host', 'token']);
export type Why = z.infer<typeof Why>;

const Line = z.object({
  at: z.iso.datetime(),
  port: z.enum(['gateway', 'window']),
  why: Why,
  /** As it named itself: nothing of it is to be trusted. */
  from: z.string().max(200),
  /** Further ones since the line before, of which none was written. */
  more: z.int().min(0).default(0),
});
export type Refusal = z.infer<typeof Line>;

export const refusalFile = (home: string): string => join(home, 'refused.log');
const olderOf = (home: string): string => `${refusalFile(home)}.1`;

/** Printable, short, and without anything that could be a secret of ours. */
const harmless = (text: string, secrets: readonly string[]): string =>
  secrets
    .reduce((left, secret) => left.replaceAll(secret, '[token]'), text)
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_FROM_CHARS);

function fromOf({ headers }: IncomingMessage, why: Why): string {
  if (why === 'host') return headers.host ?? 'no host';
  return headers.origin ?? headers['user-agent'] ?? 'a program without a name';
}

/** Of one port; the gateway and the window write into the same file. */
export class RefusalLog {
  readonly #limit = new RateLimit(LINES_PER_SECOND, BURST);
  #more = 0;

  constructor(
    private readonly home: string,
    private readonly port: Refusal['port'],
    /** Of this install: they are never written. */
    private readonly secrets: readonly string[],
  ) {}

  /** Never throws: a full disk must not change what is refused. */
  add(request: IncomingMessage, why: Why): void {
    if (!this.#limit.take()) {
      this.#more += 1;
      return;
    }
    const line: Refusal = {
      at: new Date().toISOString(),
      port: this.port,
      why,
      from: harmless(fromOf(request, why), this.secrets),
      more: this.#more,
    };
    try {
      makeRoom(this.home);
      appendFileSync(refusalFile(this.home), `${JSON.stringify(line)}\n`, { mode: 0o600 });
      this.#more = 0;
    } catch {
      this.#more += 1;
    }
  }
}

function makeRoom(home: string): void {
  const file = refusalFile(home);
  if (existsSync(file) && statSync(file).size > MAX_BYTES) renameSync(file, olderOf(home));
}

function linesOf(file: string): Refusal[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text) => {
      try {
        return [Line.parse(JSON.parse(text))];
      } catch {
        // The last line may be torn, and anybody may have edited the file.
        return [];
      }
    });
}

/** How many were turned away in the last day, and the last one. */
export function refusedLately(home: string, now = Date.now()): { count: number; last: Refusal | null } {
  const lately = [olderOf(home), refusalFile(home)].flatMap(linesOf).filter(({ at }) => now - Date.parse(at) < DAY_MS);
  return { count: lately.reduce((sum, { more }) => sum + 1 + more, 0), last: lately.at(-1) ?? null };
}
