/** `tackroom guard settings` and `guard plugins`. */
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { type GuardSettings, JudgeSetting } from '../../contract/guard.js';
import { addPlugin, pluginState, removePlugin } from '../guard/installed-plugins.js';
import { changeGuardSettings, guardSettings, resetGuardSettings } from '../guard/settings.js';
import { type GlobalOptions, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { wholeNumber } from './numbers.js';
import { minuteText, table } from './table.js';

export interface GuardSettingsOptions extends GlobalOptions {
  profile?: string;
  blocked?: string;
  /** Base URL, `engine` or `off`. */
  judge?: string;
  judgeModel?: string;
  judgeSeconds?: string;
  pluginsInRollouts?: string;
  reset?: boolean;
  json?: boolean;
}

const oneOf = <T extends string>(
  option: string,
  values: readonly [T, ...T[]],
  given: string | undefined,
): T | undefined => {
  const parsed = z.enum(values).optional().safeParse(given);
  if (parsed.success) return parsed.data as T | undefined;
  throw new TackroomError('BAD_ARGUMENT', `${option} cannot be ${given}.`, `Name ${values.join(' or ')}.`);
};

/** Without an option it shows. Errors: BAD_ARGUMENT. */
export async function guardSettingsCommand(options: GuardSettingsOptions, io: CommandIo): Promise<number> {
  const profile = oneOf('--profile', ['desktop', 'training'], options.profile);
  const blocked = oneOf('--blocked', ['notice', 'harmless'], options.blocked);
  const inRollouts = oneOf('--plugins-in-rollouts', ['on', 'off'], options.pluginsInRollouts);
  const changes = [profile, blocked, inRollouts, options.judge, options.judgeModel, options.judgeSeconds];
  return withStore(options, (store) => {
    if (options.reset) resetGuardSettings(store);
    const settings = changes.every((change) => change === undefined)
      ? guardSettings(store)
      : changeGuardSettings(store, (before) => ({
          ...before,
          ...(profile && { profile }),
          ...(blocked && { blocked }),
          ...(inRollouts && { pluginsInRollouts: inRollouts === 'on' }),
          judge: judgeAfter(before.judge, options),
        }));
    if (options.json) io.stdout.write(`${JSON.stringify(settings)}\n`);
    else io.stdout.write(table(['setting', 'value'], rows(settings)));
    return 0;
  });
}

function judgeAfter(before: GuardSettings['judge'], options: GuardSettingsOptions): GuardSettings['judge'] {
  const { judge: server, judgeModel: model, judgeSeconds: seconds } = options;
  if (server === 'off') return null;
  if (server === undefined && before === null) {
    if (model === undefined && seconds === undefined) return null;
    throw new TackroomError('BAD_ARGUMENT', 'There is no judge yet.', 'Name its server with --judge, or engine.');
  }
  const deadlineMs = seconds === undefined ? before?.deadlineMs : wholeNumber('--judge-seconds', seconds, 1) * 1000;
  const judge = JudgeSetting.safeParse({
    baseUrl: server === undefined ? before?.baseUrl : server === 'engine' ? null : server,
    // Another server has other models.
    model: model ?? (server === undefined ? before?.model : ''),
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
  if (judge.success) return judge.data;
  throw new TackroomError(
    'BAD_ARGUMENT',
    `The judge's ${judge.error.issues[0]?.path.join('.')} cannot be that: ${judge.error.issues[0]?.message}.`,
    'It has at most 20 seconds.',
  );
}

function rows({ profile, blocked, judge, plugins, pluginsInRollouts }: GuardSettings): string[][] {
  const judged = judge && `${judge.baseUrl ?? 'the built-in engine'} ${judge.model}`.trim();
  return [
    ['profile', profile],
    ['a blocked call becomes', blocked === 'notice' ? 'a notice' : 'a harmless call that reports'],
    ['judge', judge === null ? 'off' : `${judged}, ${judge.deadlineMs / 1000} s`],
    ['plugins', `${plugins.length}`],
    ['plugins in rollouts', pluginsInRollouts ? 'on' : 'off'],
  ];
}

export async function guardPluginsListCommand(
  options: GlobalOptions & { json?: boolean },
  io: CommandIo,
): Promise<number> {
  return withStore(options, async (store) => {
    const { plugins } = guardSettings(store);
    const found = await Promise.all(plugins.map(async (plugin) => ({ ...plugin, state: await pluginState(plugin) })));
    if (options.json) io.stdout.write(`${JSON.stringify({ plugins: found })}\n`);
    else
      io.stdout.write(
        table(
          ['file', 'added', 'state'],
          found.map(({ path, addedAt, state }) => [path, minuteText(addedAt), STATES[state]]),
        ),
      );
    return 0;
  });
}

const STATES = {
  ready: 'ready',
  changed: 'changed since, not run: add it again',
  missing: 'cannot be read, not run',
};

/** Errors: NOT_FOUND, BAD_ARGUMENT, UNSUPPORTED. */
export async function guardPluginsAddCommand(
  options: GlobalOptions & { file: string },
  io: CommandIo,
): Promise<number> {
  return withStore(options, async (store) => {
    const { plugins } = await addPlugin(store, options.file);
    io.stdout.write(`${plugins.at(-1)!.path} looks at calls from the next check on.\n`);
    return 0;
  });
}

/** Errors: NOT_FOUND. */
export async function guardPluginsRemoveCommand(
  options: GlobalOptions & { file: string },
  io: CommandIo,
): Promise<number> {
  return withStore(options, (store) => {
    removePlugin(store, options.file);
    io.stdout.write('Removed; the file stays.\n');
    return 0;
  });
}
