/** A session that comes as a stream: it is learnt while it comes, put aside, and written without its secrets once all of it is known. */
import type { Registry } from './detect/registry.js';
import { SanitizeEngine } from './engine.js';
import type { MapRecorder } from './map/map-recorder.js';
import { type Piece, PieceCutter } from './pieces.js';
import { Pseudonyms } from './pseudonyms.js';
import type { Ranges } from './ranges.js';
import { reportRows } from './report.js';
import {
  type Finding,
  findingsOf,
  passSecondScan,
  type RedactionSummary,
  refuseDenied,
  rescan,
  summaries,
} from './sanitize.js';
import { count } from './scan/index-of.js';
import { SecondScan } from './second/second-scan.js';
import { Spool } from './spool.js';

const NEWLINE = 10;

interface Learnt {
  piece: Piece;
  ranges: Ranges;
}

export class SanitizeStream {
  readonly pseudonyms = new Pseudonyms();
  readonly #engine: SanitizeEngine;
  readonly #second: SanitizeEngine;
  #scan: SecondScan | null = null;
  readonly #cutter = new PieceCutter();
  readonly #spool: Spool;
  readonly #learnt: Learnt[] = [];
  #lines = 0;
  #places = 0;
  #lastByte = 10;

  /** `folder`: where a long input is put aside. */
  constructor(folder: string, registry?: Registry) {
    this.#engine = new SanitizeEngine(this.pseudonyms, registry);
    this.#second = new SanitizeEngine(this.pseudonyms, registry);
    this.#spool = new Spool(folder);
  }

  /** Lines that have come, a last one without an end too. */
  get lines(): number {
    return this.#lines + (this.#lastByte === 10 ? 0 : 1);
  }

  /** Replacements so far. */
  get places(): number {
    return this.#places;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#spool.append(chunk);
    this.#lines += count(chunk, NEWLINE);
    this.#lastByte = chunk[chunk.length - 1]!;
    for (const piece of this.#cutter.push(chunk)) this.#learn(piece);
  }

  /**
   * Ends the input and gives it out cleaned, in order. `found` is called for each replacement with the number of its line from 0, with
   * `details` as a ReportRow (null: nobody wants to know), `withheld` for each line that still held something; `keep` notes what would put the
   * originals back. Errors: REFUSED when a rule of the user keeps the session in.
   */
  *finish(
    found: ((finding: Finding) => void) | null,
    withheld: (line: number) => void,
    { details = false, keep = null }: { details?: boolean; keep?: MapRecorder | null } = {},
  ): Generator<Buffer> {
    for (const piece of this.#cutter.end()) this.#learn(piece);
    refuseDenied(this.pseudonyms);
    this.#engine.learn();
    const second = new SecondScan(this.pseudonyms);
    this.#scan = second;
    let line = 0;
    for (const { piece, ranges } of this.#learnt) {
      const bytes = this.#spool.read(piece.from, piece.to - piece.from);
      const from = piece.ownFrom - piece.from;
      const to = piece.ownTo - piece.from;
      const complete = this.#engine.complete(bytes, ranges).within(from, to);
      const own = bytes.subarray(from, to);
      this.#places += complete.length;
      const spliced = this.#engine.splice(bytes, complete, from, to);
      const clean = passSecondScan(rescan(spliced, this.#second, line), second, line);
      if (found || keep) {
        const ranges = complete.within(from, to, -from);
        keep?.piece(own, ranges, spliced, clean.bytes, this.pseudonyms);
        const findings = found ? findingsOf(own, ranges, this.pseudonyms) : [];
        const rows = details && found ? reportRows(own, clean.bytes, findings) : findings;
        for (const finding of rows) found?.({ ...finding, line: line + finding.line });
      }
      for (const number of clean.withheld) withheld(line + number);
      line += count(own, NEWLINE);
      yield clean.bytes;
    }
  }

  redactions(): RedactionSummary[] {
    return summaries(this.pseudonyms);
  }

  close(): void {
    this.#spool.close();
    this.#engine.close();
    this.#second.close();
    this.#scan?.close();
  }

  #learn(piece: Piece): void {
    const bytes = this.#spool.read(piece.from, piece.to - piece.from);
    const ranges = this.#engine.detect(bytes);
    this.#learnt.push({ piece, ranges: ranges.within(piece.ownFrom - piece.from, piece.ownTo - piece.from).compact() });
  }
}
