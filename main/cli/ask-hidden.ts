/** Reads a secret: from stdin where something is piped in, else typed on the terminal without being shown. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';
import { type CommandIo, readAll } from './io.js';

/** Takes what the line editor would show. */
const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

/** Whether somebody can be asked. */
export const onTerminal = (io: CommandIo): boolean =>
  io.interactive && (io.stdin as Partial<NodeJS.ReadStream>).isTTY === true;

/** Errors: CANCELLED by Ctrl-C. */
export async function askHidden(question: string, io: CommandIo): Promise<string> {
  io.stderr.write(question);
  const lines = createInterface({ input: io.stdin, output: nowhere(), terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new TackroomError('CANCELLED', 'Nothing was entered, so nothing was changed.')));
    });
  } finally {
    lines.close();
    io.stderr.write('\n');
  }
}

/** All of stdin, or one line of a terminal. */
export const readSecret = (question: string, io: CommandIo): Promise<string> =>
  onTerminal(io) ? askHidden(question, io) : readAll(io.stdin);
