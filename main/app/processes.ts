/**
 * The app's services as Electron utility processes, behind the same interface as the child processes of the command
 * line (main/services/supervisor.ts). Electron tells only an exit code, and knows no signal but its own kill.
 */
import { PassThrough, type Readable } from 'node:stream';
import { utilityProcess } from 'electron';
import type { SpawnService } from '../services/supervisor.js';

/** Electron types both outputs as possibly absent; readers get a stream that is never null. */
function through(source: NodeJS.ReadableStream | null): Readable {
  const stream = new PassThrough();
  if (source) source.pipe(stream);
  else stream.end();
  return stream;
}

/** `entry` as a utility process named after the service. Call after the app is ready. */
export const spawnUtility: SpawnService = (entry, args, name) => {
  const child = utilityProcess.fork(entry, args, { serviceName: `Tackroom ${name}`, stdio: 'pipe' });
  return {
    get pid() {
      return child.pid;
    },
    stdout: through(child.stdout),
    stderr: through(child.stderr),
    exited: new Promise((resolve) => child.once('exit', (code) => resolve({ code, signal: null }))),
    kill(signal) {
      // `kill()` asks; a process that does not listen must be ended by the system.
      if (signal === 'SIGKILL' && child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
      else child.kill();
    },
  };
};
