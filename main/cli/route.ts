/** `tackroom route`: which model server answers a harness. */
import { TackroomError } from '../../contract/errors.js';
import { Harness } from '../../contract/records.js';
import { forgetRoute, routesOf, setRoute } from '../proxy/set-route.js';
import { staysHere, UpstreamRoute } from '../proxy/upstream-setting.js';
import { defaultHome } from '../services/paths.js';
import { Vault } from '../vault/vault.js';
import { readSecret } from './ask-hidden.js';
import { type GlobalOptions, withStore } from './context.js';
import { parseHarness, reloadRoutes } from './gateway-routes.js';
import type { CommandIo } from './io.js';
import { unlockVault } from './open-vault.js';
import { table } from './table.js';

export interface RouteOptions extends GlobalOptions {
  harness?: string;
  /** Base URL, or `engine`. */
  server?: string;
  /** The same. */
  to?: string;
  model?: string;
  api?: string;
  keyEnv?: string;
  keyStdin?: boolean;
  forget?: boolean;
  json?: boolean;
}

function routeFrom(to: string, { model, api, keyEnv }: RouteOptions): UpstreamRoute {
  const parsed = UpstreamRoute.safeParse({ baseUrl: to, model, api, apiKeyEnv: keyEnv });
  if (parsed.success) return parsed.data;
  throw new TackroomError(
    'BAD_ARGUMENT',
    'A server speaks chat, responses or messages.',
    'Name one with --api, or leave it out.',
  );
}

/** Without a server it shows; Errors: BAD_ARGUMENT, those of the vault. A gateway that runs on this home takes the change at once. */
export async function routeCommand(options: RouteOptions, io: CommandIo): Promise<number> {
  const harness = options.harness === undefined ? null : parseHarness(options.harness);
  const to = options.server ?? options.to;
  if (options.forget || to === 'engine') return forget(options, harness, io);
  if (to === undefined) return show(options, harness, io);
  if (harness === null) throw noHarness();
  if (options.keyStdin && options.keyEnv !== undefined)
    throw new TackroomError('BAD_ARGUMENT', 'A key comes from stdin or from the environment, not from both.');
  const asked = routeFrom(to, options);
  const key = options.keyStdin ? await readSecret(`Key of ${asked.baseUrl}: `, io) : undefined;
  const route = await withStore(options, async (store) => {
    const vault = await unlockVault(new Vault(store.home), io);
    return setRoute({ store, vault }, harness, asked, key);
  });
  await reloadRoutes(defaultHome(options.home));
  io.stdout.write(`${route.baseUrl} answers ${harness}.\n`);
  if (!staysHere(route)) io.stderr.write(`What ${harness} asks now leaves this machine.\n`);
  return 0;
}

const noHarness = (): TackroomError =>
  new TackroomError('BAD_ARGUMENT', 'Say whose requests go there.', 'For example: tackroom route pi engine');

async function forget(options: RouteOptions, harness: Harness | null, io: CommandIo): Promise<number> {
  if (harness === null && !options.forget) throw noHarness();
  const names = harness === null ? Harness.options : [harness];
  await withStore(options, async (store) => {
    const vault = await unlockVault(new Vault(store.home), io);
    for (const name of names) await forgetRoute({ store, vault }, name);
  });
  await reloadRoutes(defaultHome(options.home));
  io.stdout.write(`The built-in engine answers ${harness ?? 'every harness'}.\n`);
  return 0;
}

const keyFrom = (upstream: UpstreamRoute | null): string =>
  upstream?.apiKeyVault !== undefined ? 'the vault' : (upstream?.apiKeyEnv ?? '');

function show(options: RouteOptions, harness: Harness | null, io: CommandIo): Promise<number> {
  return withStore(options, (store) => {
    const setting = routesOf(store);
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
            keyFrom(upstream),
          ]),
        ),
      );
    return 0;
  });
}
