/** Points the user's own harness at Tackroom and takes that back, and says what is done. */
import { existsSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';
import {
  type ChangeOptions,
  type ConnectOptions,
  type ConnectTarget,
  connectNow,
  disconnectNow,
  gatewaySettings,
  type PlannedChange,
  planConnecting,
  planDisconnecting,
} from './connect-change.js';
import type { Connector } from './connector.js';
import { connectorOf } from './connectors.js';
import { type FoundHarness, findHarness } from './find-harness.js';
import { type TestCall, testCall } from './test-call.js';

/** Print the change, make none. */
export interface Looking {
  dryRun?: boolean;
}

interface Io {
  stdout: Writable;
  stderr: Writable;
}

const printing = (io: Io): Required<Pick<ChangeOptions, 'onPlan' | 'onWait'>> => ({
  onPlan({ diff, notes }: PlannedChange) {
    io.stdout.write(diff);
    for (const note of notes) io.stderr.write(`Note: ${note}\n`);
  },
  onWait: (holder) => void io.stderr.write(`Waiting for another Tackroom (${holder})…\n`),
});

/** Errors: HARNESS_MISSING, unless it was found, was used here, or its home was named. */
export function refuseMissing(connector: Connector, { root }: ConnectTarget, found: FoundHarness | null): void {
  const named = root !== undefined || connector.homeVariables.some((variable) => process.env[variable]);
  // Whoever has its settings has used it: it may be on the PATH of another shell.
  const used = existsSync(connector.locate({ root, env: process.env }).dir);
  if (found || named || used) return;
  throw new TackroomError(
    'HARNESS_MISSING',
    `There is no ${connector.name} on the PATH or where its installers put it, so nothing was changed.`,
    `Install it, add it to the PATH, or name the home folder it will use with --root.`,
  );
}

/** Says what was found. Errors: HARNESS_MISSING. */
async function announce(connector: Connector, target: ConnectTarget & Looking, io: Io): Promise<void> {
  const { name } = connector;
  const found = await findHarness(connector, { root: target.root, env: process.env });
  if (!target.dryRun) refuseMissing(connector, target, found);
  io.stderr.write(
    found
      ? `${name} ${found.version ?? '(it did not say which version)'} at ${found.path}\n`
      : `No ${name} was found on the PATH or where its installers put it; its settings are written all the same.\n`,
  );
}

/** Returns the exit code: 1 where something else answers at the port. Errors: HARNESS_MISSING, REFUSED, BUSY, IO. */
export async function connectCommand(options: ConnectOptions & Looking, io: Io): Promise<number> {
  const connector = connectorOf(options.harness);
  await announce(connector, options, io);
  if (options.dryRun) {
    printing(io).onPlan(planConnecting(options));
    return 0;
  }
  await connectNow(options, printing(io));
  const settings = gatewaySettings(options);
  io.stdout.write(
    `${connector.name} now uses ${settings.modelId} through Tackroom. To undo: tackroom disconnect ${connector.name}\n`,
  );
  return report(await testCall(settings), connector.name, options.port, io);
}

function report(call: TestCall, name: string, port: number, io: Io): number {
  switch (call.outcome) {
    case 'arrived':
      io.stdout.write(`A test call arrived and was answered in ${Math.round(call.ms)} ms.\n`);
      return 0;
    case 'nobody':
      io.stdout.write(`No gateway runs at port ${port} yet. Start it: tackroom serve\n`);
      return 0;
    case 'stranger':
      io.stderr.write(
        `What answers at port ${port} is not the gateway of this home, so ${name} has no model now.\n  Stop that program, or choose another port: tackroom connect ${name} --port N\n`,
      );
      return 1;
    case 'failed':
      io.stderr.write(
        `A test call reached the gateway, but it had no answer: ${call.reason}\n  Run \`tackroom doctor\`, or connect again when the model is loaded.\n`,
      );
      return 1;
  }
}

/** Returns the exit code; what is not connected is left as it is. Errors: REFUSED on a conflict, BUSY, IO. */
export async function disconnectCommand(target: ConnectTarget & Looking, io: Io): Promise<number> {
  const { name } = connectorOf(target.harness);
  if (target.dryRun) {
    printing(io).onPlan(planDisconnecting(target));
    return 0;
  }
  const { connected, dir } = await disconnectNow(target, printing(io));
  io.stdout.write(
    connected ? `${name} is as it was before.\n` : `${name} is not connected in ${dir}; nothing to undo.\n`,
  );
  return 0;
}
