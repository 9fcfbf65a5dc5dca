/** `tackroom sanitize [FILE|-]`: text or session records in, the same number of lines out. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';
import { type Finding, type RedactionSummary, SanitizeContext, sanitizeBytes } from './sanitize.js';

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
  const input = options.file === '-' ? await readAll(io.stdin) : readFileSync(options.file);
  const sessions = options.eachLine ? linesOf(input) : [input];
  const report: (Finding & { count: number })[] = [];
  let withheld = 0;
  let lines = 0;
  for (const session of sessions) {
    const result = sanitizeBytes(session, new SanitizeContext());
    withheld += result.withheld.length;
    for (const finding of result.findings)
      report.push({ ...finding, line: lines + finding.line, count: countOf(result.redactions, finding.placeholder) });
    if (!options.check) io.stdout.write(result.bytes);
    lines += countLines(session);
  }
  if (options.report)
    writeFileSync(options.report, report.map((row) => `${JSON.stringify(row)}\n`).join(''), { mode: 0o600 });
  if (options.check) {
    io.stderr.write(`${report.length} places with secrets or personal data in ${lines} lines.\n`);
    return report.length > 0 ? 3 : 0;
  }
  if (withheld > 0)
    io.stderr.write(`${withheld} of ${lines} lines were withheld because the second scan still found something.\n`);
  return withheld > 0 ? 3 : 0;
}

/** Lines with their ends. */
function linesOf(input: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < input.length; ) {
    const end = input.indexOf(10, at);
    lines.push(input.subarray(at, end < 0 ? input.length : end + 1));
    at = end < 0 ? input.length : end + 1;
  }
  return lines;
}

function countLines(input: Buffer): number {
  let count = 0;
  for (let at = input.indexOf(10); at >= 0; at = input.indexOf(10, at + 1)) count++;
  return count + (input.length > 0 && input[input.length - 1] !== 10 ? 1 : 0);
}

function countOf(redactions: RedactionSummary[], placeholder: string): number {
  return redactions.find((each) => each.placeholder === placeholder)?.occurrences ?? 0;
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks);
}
