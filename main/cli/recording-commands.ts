/** `tackroom recording`. */
import type { Command } from 'commander';
import { collect, example, run } from './run-command.js';

export function addRecordingCommands(program: Command): void {
  example(
    program
      .command('recording')
      .description('what is recorded: shows it, and changes what is named')
      .option('--pause [time]', 'record nothing for 30m, 8h, 2d, or until --resume')
      .option('--resume', 'record again')
      .option('--exclude <dir>', 'record no session that works in this folder; may be given again', collect)
      .option('--include <dir>', 'take an excluded folder in again; may be given again', collect)
      .option('--max-age <days>', 'delete sessions not used for longer, or none')
      .option('--max-size <size>', 'delete the oldest sessions beyond it, such as 5GB, or none')
      .option('--workspace <on|off>', 'capture commit, changes, lock files and tool versions when a session begins')
      .option('--json'),
    'tackroom recording --pause 30m',
  ).action(run(async () => (await import('./recording.js')).recordingCommand));
}
