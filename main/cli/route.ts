/** `tackroom route`: which model server answers a harness. */
import { TackroomError } from '../../contract/errors.js';
import { Harness } from '../../contract/records.js';
import {
  checkRoute,
  staysHere,
  UPSTREAMS_SETTING,
  UpstreamRoute,
  type UpstreamSetting,
} from '../proxy/upstream-setting.js';
import { defaultHome } from '../services/paths.js';
import { type GlobalOptions, withStore } from './context.js';
import { parseHarness, reloadRoutes } from './gateway-routes.js';
import type { CommandIo } from './io.js';
import { table } from './table.js';

export interface RouteOptions extends GlobalOptions {
  harness?: string;
  /** Base URL, or `engine`. */
  to?: string;
  model?: string;
  api?: string;
  keyEnv?: string;
  json?: boolean;
}

function routeFrom({ to, model, api, keyEnv }: RouteOptions): UpstreamRoute {
  const parsed = UpstreamRoute.safeParse({ baseUrl: to, model, api, apiKeyEnv: keyEnv });
  if (!parsed.success)
    throw new TackroomError(
      'BAD_ARGUMENT',
      'A server speaks chat, responses or messages.',
      'Name one with --api, or leave it out.',
    );
  return checkRoute(parsed.data);
}

/** Without --to it shows; Errors: BAD_ARGUMENT. A gateway that runs on this home takes the change at once. */
export async function routeCommand(options: RouteOptions, io: CommandIo): Promise<number> {
  const harness = options.harness === undefined ? null : parseHarness(options.harness);
  if (options.to === undefined) return show(options, harness, io);
  if (harness === null)
    throw new TackroomError(
      'BAD_ARGUMENT',
      'Say whose requests go there.',
      'For example: tackroom route pi --to engine',
    );
  const route = options.to === 'engine' ? null : routeFrom(options);
  await withStore(options, (store) => {
    const { [harness]: _before, ...others } = (store.setting(UPSTREAMS_SETTING) ?? {}) as UpstreamSetting;
    store.setSetting(UPSTREAMS_SETTING, route === null ? others : { ...others, [harness]: route });
    return 0;
  });
  await reloadRoutes(defaultHome(options.home));
  io.stdout.write(
    route === null ? `The built-in engine answers ${harness}.\n` : `${route.baseUrl} answers ${harness}.\n`,
  );
  if (route !== null && !staysHere(route)) io.stderr.write(`What ${harness} asks now leaves this machine.\n`);
  return 0;
}

function show(options: RouteOptions, harness: Harness | null, io: CommandIo): Promise<number> {
  return withStore(options, (store) => {
    const setting = (store.setting(UPSTREAMS_SETTING) ?? {}) as UpstreamSetting;
    const routes = Harness.options
      .filter((name) => harness === null || name === harness)
      .map((name) => ({ harness: name, upstream: setting[name] ?? null }));
    if (options.json) io.stdout.write(`${JSON.stringify({ routes })}\n`);
    else
      io.stdout.write(
        table(
          ['harness', 'answered by', 'model there', 'API', 'key from'],
          routes.map(({ harness: name, upstream }) => [
            name,
            upstream?.baseUrl ?? 'the built-in engine',
            upstream?.model ?? '',
            upstream?.api ?? '',
            upstream?.apiKeyEnv ?? '',
          ]),
        ),
      );
    return 0;
  });
}
