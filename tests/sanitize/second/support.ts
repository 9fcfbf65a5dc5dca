import { Readable, Writable } from 'node:stream';
import { type SanitizeOptions, sanitizeCommand } from '../../../main/sanitize/cli.js';

/** Runs the command over `input`; without a home it keeps no map. */
export async function runSanitize(
  input: string | Buffer,
  options: Partial<SanitizeOptions> = {},
): Promise<{ code: number; bytes: Buffer; out: string; err: string }> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const into = (list: Buffer[]): Writable =>
    new Writable({
      write: (chunk: Buffer, _, done) => {
        list.push(Buffer.from(chunk));
        done();
      },
    });
  const io = { stdin: Readable.from([Buffer.from(input)]), stdout: into(out), stderr: into(err) };
  const code = await sanitizeCommand({ file: '-', ...(options.home === undefined && { map: false }), ...options }, io);
  const bytes = Buffer.concat(out);
  return { code, bytes, out: bytes.toString(), err: Buffer.concat(err).toString() };
}
