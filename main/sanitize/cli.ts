/** `tackroom sanitize [FILE|-]`: text or session records in, the same number of lines out. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { defaultHome } from '../services/paths.js';
import { plantCanaries, scoreCanaries } from './canary.js';
import type { Registry } from './detect/registry.js';
import { forgetMapsCommand, keepMap, restoreCommand } from './map/commands.js';
import { MapRecorder } from './map/map-recorder.js';
import { breathe, Output, ReportFile } from './output.js';
import { reportRows } from './report.js';
import { ownRegistry } from './rules.js';
import { type Finding, SanitizeContext, sanitizeBytes } from './sanitize.js';
import { SanitizeStream } from './stream.js';
import { refuseWideText } from './wide-text.js';

export interface SanitizeOptions {
  /** Path, or `-` for stdin. */
  file: string;
  home?: string;
  /** Each line is a session of its own. */
  eachLine?: boolean;
  /** One JSON line a replacement is written here. */
  report?: string;
  /** Writes nothing; exit 3 when something is found. */
  check?: boolean;
  canary?: boolean;
  rules?: string;
  /** Puts the originals back. */
  restore?: boolean;
  /** Which map that is taken for it; false: none is kept. */
  map?: string | false;
  /** Deletes all maps. */
  forgetMaps?: boolean;
}
export interface SanitizeIo {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  /** Ctrl-C. */
  signal?: AbortSignal;
  /** Somebody can be asked. */
  interactive?: boolean;
}

interface Totals {
  lines: number;
  places: number;
  withheld: number;
}

/**
 * Exit code: 0 clean or cleaned, 3 a line was withheld (or, with `check`, something was found). Errors: IO, DISK_FULL,
 * BAD_ARGUMENT for rules that cannot be read, REFUSED where one of them keeps the session in; those of `restoreCommand`.
 */
export async function sanitizeCommand(options: SanitizeOptions, io: SanitizeIo): Promise<number> {
  if (options.forgetMaps) return forgetMapsCommand(options, io);
  if (options.restore) return restoreCommand(options, io);
  const registry = ownRegistry(defaultHome(options.home), options.rules);
  const sample = options.canary ? new Sample() : null;
  const source: AsyncIterable<Buffer> =
    options.file === '-' ? io.stdin : createReadStream(options.file, { highWaterMark: 1 << 20 });
  const input = sample ? sample.of(source) : source;
  const report = options.report === undefined ? null : new ReportFile(options.report, [options.file, options.rules]);
  const told: Finding[] = [];
  const found = report === null ? null : (finding: Finding): void => void told.push(finding);
  const writeReport = (counts: ReadonlyMap<string, number>): void => {
    for (const finding of told.splice(0)) report?.write({ ...finding, count: counts.get(finding.placeholder) ?? 0 });
  };
  const sink = options.check ? null : new Output(io.stdout, io.signal);
  const keep = sink && options.map !== false ? new MapRecorder() : null;
  try {
    const totals = options.eachLine
      ? await eachLine(input, sink, registry, found, writeReport, io.signal)
      : await wholeSession(input, sink, options, registry, found, writeReport, keep, io);
    await sink?.end();
    report?.keep();
    if (sample) tellCanaries(sample.lines(), registry, io);
    return tell(totals, options, io);
  } finally {
    report?.close();
    sink?.close();
  }
}

type WriteReport = (counts: ReadonlyMap<string, number>) => void;

async function wholeSession(
  input: AsyncIterable<Buffer>,
  sink: Output | null,
  options: SanitizeOptions,
  registry: Registry | undefined,
  found: ((finding: Finding) => void) | null,
  writeReport: WriteReport,
  keep: MapRecorder | null,
  io: SanitizeIo,
): Promise<Totals> {
  const session = new SanitizeStream(join(defaultHome(options.home), 'run'), registry);
  let withheld = 0;
  try {
    let first = true;
    for await (const chunk of input) {
      if (first) refuseWideText(chunk);
      first = false;
      session.push(chunk);
      await breathe(io.signal);
    }
    const pieces = session.finish(found, () => withheld++, { details: true, keep });
    for (const piece of pieces) {
      await sink?.write(piece);
      await breathe(io.signal);
    }
    writeReport(new Map(session.redactions().map(({ placeholder, occurrences }) => [placeholder, occurrences])));
    if (keep) await keepMap(keep, session.pseudonyms, options, io);
    return { lines: session.lines, places: session.places, withheld };
  } finally {
    session.close();
  }
}

async function eachLine(
  input: AsyncIterable<Buffer>,
  sink: Output | null,
  registry: Registry | undefined,
  found: ((finding: Finding) => void) | null,
  writeReport: WriteReport,
  signal: AbortSignal | undefined,
): Promise<Totals> {
  const totals: Totals = { lines: 0, places: 0, withheld: 0 };
  const one = async (line: Buffer): Promise<void> => {
    const result = sanitizeBytes(line, new SanitizeContext(), registry);
    if (found) for (const row of reportRows(line, result.bytes, result.findings)) found({ ...row, line: totals.lines });
    writeReport(new Map(result.redactions.map(({ placeholder, occurrences }) => [placeholder, occurrences])));
    totals.lines++;
    totals.places += result.findings.length;
    totals.withheld += result.withheld.length;
    await sink?.write(result.bytes);
  };
  let open: Buffer[] = [];
  for await (const chunk of input) {
    let rest = chunk;
    if (totals.lines === 0 && open.length === 0) refuseWideText(chunk);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      await one(Buffer.concat([...open, rest.subarray(0, end + 1)]));
      open = [];
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) open.push(rest);
    await breathe(signal);
  }
  if (open.length > 0) await one(Buffer.concat(open));
  return totals;
}

/** The beginning of the input, for the fakes: more would tell nothing else. */
const SAMPLE_BYTES = 4 << 20;

class Sample {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  async *of(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      if (this.#length < SAMPLE_BYTES) this.#chunks.push(chunk);
      this.#length += chunk.length;
      yield chunk;
    }
  }

  /** Whole lines. */
  lines(): Buffer {
    const all = Buffer.concat(this.#chunks);
    const end = all.length === this.#length ? all.length : all.lastIndexOf(10) + 1;
    return all.subarray(0, end);
  }
}

function tellCanaries(lines: Buffer, registry: Registry | undefined, io: SanitizeIo): void {
  const planted = plantCanaries(lines);
  const clean = sanitizeBytes(planted.bytes, new SanitizeContext(), registry).bytes;
  const { planted: count, gone, kinds } = scoreCanaries(clean, planted);
  if (count === 0) {
    io.stderr.write('Canary: nothing could be planted, the input has no line with text.\n');
    return;
  }
  io.stderr.write(`Canary: ${gone} of ${count} planted fakes went (${Math.round((100 * gone) / count)} %).\n`);
  for (const { label, known, planted: all, gone: went } of kinds)
    io.stderr.write(`  ${went} of ${all}  ${label}${known ? '' : ' (a form that nothing was made for)'}\n`);
}

function tell({ lines, places, withheld }: Totals, { check }: SanitizeOptions, io: SanitizeIo): number {
  if (check) {
    io.stderr.write(`${places} places with secrets or personal data in ${lines} lines.\n`);
    if (withheld > 0)
      io.stderr.write(`${withheld} lines would be withheld: the second scan finds something in them.\n`);
    return places > 0 || withheld > 0 ? 3 : 0;
  }
  if (withheld > 0)
    io.stderr.write(`${withheld} of ${lines} lines were withheld because the second scan still found something.\n`);
  return withheld > 0 ? 3 : 0;
}
