/** Before a gateway ends: which harnesses lose their model, and whether they shall have their own back. */
import { createInterface } from 'node:readline';
import { disconnectNow } from '../harness/connect-change.js';
import { connectedTo } from '../harness/connected.js';
import type { HarnessName } from '../harness/connector.js';
import { onTerminal } from './ask-hidden.js';
import { type CommandIo, printError } from './io.js';

/** Somebody who closes the lid does not answer. */
const ANSWER_MS = 20_000;

/** Null: nobody answered in time. */
function ask(question: string, io: CommandIo, waitMs: number): Promise<string | null> {
  io.stderr.write(question);
  // Not as a terminal: a second Ctrl-C must reach the process and end it.
  const lines = createInterface({ input: io.stdin, terminal: false });
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), waitMs);
    lines.once('line', resolve);
    lines.once('close', () => resolve(null));
    lines.once('line', () => clearTimeout(timer));
  }).finally(() => {
    lines.close();
    io.stdin.pause();
  }) as Promise<string | null>;
}

async function giveBack(names: readonly HarnessName[], io: CommandIo): Promise<void> {
  for (const harness of names)
    try {
      await disconnectNow({ harness });
      io.stderr.write(`${harness} is as it was before.\n`);
    } catch (error) {
      printError(io, error);
    }
}

/** Names them, and where somebody is at the terminal offers to disconnect them. The gateway serves until it returns. */
export async function leaveHarnesses(port: number, io: CommandIo, waitMs = ANSWER_MS): Promise<void> {
  const names = connectedTo(port);
  if (names.length === 0) return;
  if (onTerminal(io)) {
    const list = names.join(' and ');
    const question = `${list} will have no model. Disconnect first, so that each uses its own again? [y/N, ${waitMs / 1000} s] `;
    const answer = await ask(question, io, waitMs);
    if (answer === null) io.stderr.write('\n');
    if (/^y(?:es)?$/i.test(answer?.trim() ?? '')) return giveBack(names, io);
  }
  for (const name of names)
    io.stderr.write(
      `${name} has no model until the next \`tackroom serve\`; \`tackroom disconnect ${name}\` gives it its own back.\n`,
    );
}
