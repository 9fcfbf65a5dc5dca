/** `tackroom sessions exports`: what was given out, and what of it is stale. */
import { type ExportState, isStale, type LoggedExport, loggedExports } from '../trajectory/export-log.js';
import { type GlobalOptions, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { printable } from './printable.js';
import { minuteText, table } from './table.js';

const STATES: Record<ExportState, string> = {
  current: 'current',
  rules: 'stale: older rules',
  'own-rules': 'stale: your rules or decisions changed',
  session: 'stale: the session went on',
  edited: 'edited since',
  gone: 'no longer there',
};

export async function sessionsExportsCommand(
  options: GlobalOptions & { json?: boolean; stale?: boolean },
  io: CommandIo,
): Promise<number> {
  return withStore(options, (store) => {
    const all = loggedExports(store);
    const shown = options.stale ? all.filter(isStale) : all;
    if (options.json) io.stdout.write(`${JSON.stringify({ exports: shown.map(asJson) })}\n`);
    else if (shown.length > 0) {
      const rows = shown.map((one) => [
        one.sessionId,
        one.format,
        minuteText(one.madeAt),
        one.rules,
        STATES[one.state],
        printable(one.path === '' ? '(printed)' : one.path),
      ]);
      io.stdout.write(table(['session', 'format', 'made', 'rules', 'state', 'file'], rows));
      for (const one of shown.filter(isStale)) io.stderr.write(`Make it again: ${printable(again(one))}\n`);
    }
    return 0;
  });
}

const asJson = (one: LoggedExport): object => ({
  ...one,
  stale: isStale(one),
  again: isStale(one) ? again(one) : null,
});

const quoted = (text: string): string => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function again({ sessionId, format, path }: LoggedExport): string {
  if (format === 'task') return `tackroom envs build ${sessionId} -o ${quoted(path.replace(/\/[^/]*$/, '') || '/')}`;
  return `tackroom sessions export ${sessionId} --format ${format}${path === '' ? '' : ` -o ${quoted(path)}`}`;
}
