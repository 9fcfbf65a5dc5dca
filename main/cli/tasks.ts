/** `tackroom envs list`. */
import { type GlobalOptions, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { table } from './table.js';

export async function tasksListCommand(options: GlobalOptions & { json?: boolean }, io: CommandIo): Promise<number> {
  return withStore(options, (store) => {
    const tasks = store.task.list();
    if (options.json) io.stdout.write(`${JSON.stringify({ tasks })}\n`);
    else
      io.stdout.write(
        table(
          ['id', 'kind', 'split', 'status', 'folder'],
          tasks.map((t) => [t.id, t.kind, t.split, t.reason ? `${t.status}: ${t.reason}` : t.status, t.dir]),
        ),
      );
    return 0;
  });
}
