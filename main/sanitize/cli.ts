/** `tackroom sanitize [FILE|-]`: text or session records in, the same number of lines out. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';
import { type Finding, type RedactionSummary, SanitizeContext, sanitizeLines } from './sanitize.js';

export interface SanitizeOptions {
  /** Path, or `-` for stdin. */
  file: string;
  /** Each line is a session of its own. */
  eachLine?: boolean;
  /** One JSON line a replacement is written here. */
  report?: string;
  /** Writes nothing; exit 3 when something is found. */
  check?: boolean;
  canary?: boolean;
  rules?: string;
  restore?: boolean;
}
export interface SanitizeIo {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
}

/** Exit code: 0 clean or cleaned, 3 a line was withheld (or, with `check`, something was found). Errors: UNSUPPORTED, IO. */
export async function sanitizeCommand(options: SanitizeOptions, io: SanitizeIo): Promise<number> {
  for (const name of ['canary', 'rules', 'restore'] as const)
    if (options[name])
      throw new TackroomError('UNSUPPORTED', `The option --${name} is not available yet.`, `Leave out --${name}.`);
  // One character a byte, so that bytes which are no UTF-8 pass through unchanged.
  const text = options.file === '-' ? await readAll(io.stdin) : readFileSync(options.file, 'latin1');
  const { lines, breaks } = splitLines(text);
  const sessions = options.eachLine ? lines.map((line) => [line]) : [lines];
  const report: (Finding & { count: number })[] = [];
  let withheld = 0;
  let base = 0;
  for (const session of sessions) {
    const result = sanitizeLines(session, new SanitizeContext());
    withheld += result.withheld.length;
    for (const finding of result.findings)
      report.push({ ...finding, line: base + finding.line, count: countOf(result.redactions, finding.placeholder) });
    if (!options.check)
      io.stdout.write(Buffer.from(result.lines.map((line, i) => line + breaks[base + i]!).join(''), 'latin1'));
    base += session.length;
  }
  if (options.report)
    writeFileSync(options.report, report.map((row) => `${JSON.stringify(row)}\n`).join(''), { mode: 0o600 });
  if (options.check) {
    io.stderr.write(`${report.length} places with secrets or personal data in ${lines.length} lines.\n`);
    return report.length > 0 ? 3 : 0;
  }
  if (withheld > 0)
    io.stderr.write(
      `${withheld} of ${lines.length} lines were withheld because the second scan still found something.\n`,
    );
  return withheld > 0 ? 3 : 0;
}

/** Lines without their ends, and the ends (`\n`, `\r\n` or '' for the last). */
export function splitLines(text: string): { lines: string[]; breaks: string[] } {
  const lines: string[] = [];
  const breaks: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const stop = end < 0 ? text.length : end;
    const carriage = text[stop - 1] === '\r' && stop > at ? 1 : 0;
    lines.push(text.slice(at, stop - carriage));
    breaks.push((carriage ? '\r' : '') + (end < 0 ? '' : '\n'));
    at = stop + 1;
  }
  return { lines, breaks };
}

function countOf(redactions: RedactionSummary[], placeholder: string): number {
  return redactions.find((each) => each.placeholder === placeholder)?.occurrences ?? 0;
}

async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks).toString('latin1');
}
