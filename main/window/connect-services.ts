/** Calls of the Connect screen. What they do is what `tackroom connect`, `route`, `vault` and `login-item` do. */
import { join } from 'node:path';
import type { WindowServices } from '../../contract/api.js';
import type {
  CONNECT_CALLS,
  ConnectHarness,
  ConnectPlan,
  HarnessView,
  ServerView,
} from '../../contract/connect-calls.js';
import { TackroomError, toErrorShape } from '../../contract/errors.js';
import { refuseMissing } from '../harness/connect.js';
import {
  type ConnectOptions,
  connectNow,
  disconnectNow,
  gatewaySettings,
  planConnecting,
  planDisconnecting,
} from '../harness/connect-change.js';
import { connectionState } from '../harness/connection-state.js';
import { CONNECTORS, connectorOf } from '../harness/connectors.js';
import { type FoundHarness, findHarness } from '../harness/find-harness.js';
import { testCall } from '../harness/test-call.js';
import { forgetRoute, routesOf, setRoute } from '../proxy/set-route.js';
import { installToken } from '../proxy/token.js';
import { staysHere, type UpstreamRoute } from '../proxy/upstream-setting.js';
import { gatewayPort } from '../services/gateway-port.js';
import type { LoginItem } from '../services/login-item.js';
import { refusalFile, refusedLately } from '../services/refusals.js';
import { servedContext } from '../services/served-context.js';
import type { Store } from '../store/store.js';
import type { Vault } from '../vault/vault.js';

export interface ConnectSources {
  store: Store;
  vault: Vault;
  loginItem: LoginItem | null;
  /** Where the files of a model lie; default: the built-in one. Errors: MODEL_NOT_FOUND. */
  findModel(model: string | undefined): string;
  /** Tells the gateway to look at its routes again. */
  reloadRoutes(): Promise<unknown>;
  /** Gives the gateway what opens the vault. */
  unlockGateway(): Promise<void>;
  /** Another home folder of the harnesses. */
  root?: string;
}

type ConnectServices = Pick<WindowServices, keyof typeof CONNECT_CALLS>;

/** Shorter than the window waits for any call. */
const TEST_DEADLINE_MS = 12_000;
const PROGRAM_KEPT_MS = 60_000;
const SHOWN_TOKEN_CHARS = 4;
const ENVIRONMENT_COMMAND = 'eval "$(tackroom connect hermes --print-env)"';

function serverView(route: UpstreamRoute | undefined): ServerView | null {
  if (!route) return null;
  const { baseUrl, api, model, apiKeyEnv, apiKeyVault } = route;
  const key: ServerView['key'] =
    apiKeyVault !== undefined
      ? { from: 'vault' }
      : apiKeyEnv !== undefined
        ? { from: 'environment', name: apiKeyEnv }
        : { from: 'none' };
  return { baseUrl, api: api ?? null, model: model ?? null, key, local: staysHere(route) };
}

/** A harness takes seconds to say its version; it is asked once a minute at most. */
function programs(root: string | undefined): (harness: ConnectHarness) => Promise<FoundHarness | null> {
  const kept = new Map<ConnectHarness, { at: number; found: Promise<FoundHarness | null> }>();
  return (harness) => {
    const known = kept.get(harness);
    if (known && performance.now() - known.at < PROGRAM_KEPT_MS) return known.found;
    const found = findHarness(connectorOf(harness), { root, env: process.env });
    kept.set(harness, { at: performance.now(), found });
    return found;
  };
}

export function connectServices(sources: ConnectSources): ConnectServices {
  const { store, vault, loginItem, root } = sources;
  const { home } = store;
  const token = installToken(home);
  const programOf = programs(root);
  const target = async (harness: ConnectHarness): Promise<ConnectOptions> => ({
    harness,
    root,
    port: await gatewayPort(home),
    token,
  });
  const contextOf = async (options: ConnectOptions): Promise<number | null> =>
    servedContext(gatewaySettings(options), undefined, sources.findModel);

  async function harnessView(harness: ConnectHarness): Promise<HarnessView> {
    const connector = connectorOf(harness);
    const whose = { root, env: process.env };
    const options = await target(harness);
    const { dir, files } = connector.locate(whose);
    const [connection, contextTokens] = await Promise.all([
      connectionState(connector, home, whose),
      contextOf(options),
    ]);
    return {
      harness,
      files: files.map(({ name }) => join(dir, name)),
      connection,
      server: serverView(routesOf(store)[harness]),
      model: { id: gatewaySettings(options).modelId, contextTokens },
      environmentCommand: harness === 'hermes' ? ENVIRONMENT_COMMAND : null,
    };
  }

  async function planned(harness: ConnectHarness, undo: boolean): Promise<Omit<ConnectPlan, 'conflict'>> {
    const options = await target(harness);
    if (undo) return planDisconnecting(options);
    refuseMissing(connectorOf(harness), options, await programOf(harness));
    return planConnecting({ ...options, contextTokens: await contextOf(options) });
  }

  /** The gateway that runs may be the one of a `tackroom serve` that ends just now. */
  const changed = async (): Promise<Record<string, never>> => {
    await sources.reloadRoutes();
    return {};
  };

  return {
    async 'connect.state'() {
      const { status, problem } = vaultState(vault);
      return {
        port: await gatewayPort(home),
        harnesses: await Promise.all(CONNECTORS.map(({ name }) => harnessView(name))),
        vault: status,
        vaultProblem: problem,
        keychain: vault.hasKeychain && status.protection !== 'keychain',
        loginItem: loginItem && { on: loginItem.isOn(), place: loginItem.place },
        refused: { ...refusedLately(home), log: refusalFile(home) },
      };
    },
    'connect.program': async ({ harness }) => ({ program: await programOf(harness) }),
    async 'connect.plan'({ harness, undo }) {
      try {
        const { diff, notes, digest } = await planned(harness, undo);
        const shown = diff.replaceAll(token, `${token.slice(0, SHOWN_TOKEN_CHARS)}…`);
        return { diff: shown, notes, digest, conflict: null };
      } catch (error) {
        if (!(error instanceof TackroomError)) throw error;
        return { diff: '', notes: [], digest: '', conflict: { message: error.message, hint: error.hint ?? null } };
      }
    },
    async 'connect.apply'({ harness, undo, digest }) {
      const options = await target(harness);
      if (undo) await disconnectNow(options, { digest });
      else {
        refuseMissing(connectorOf(harness), options, await programOf(harness));
        await connectNow({ ...options, contextTokens: await contextOf(options) }, { digest });
      }
      return {};
    },
    'connect.test': async ({ harness }) => testCall(gatewaySettings(await target(harness)), TEST_DEADLINE_MS),
    async 'connect.setServer'({ harness, baseUrl, api, model, key }) {
      const asked = { baseUrl, ...(api && { api }), ...(model && { model }) };
      await setRoute({ store, vault }, harness, asked, key ?? undefined);
      // The first key makes the vault.
      await sources.unlockGateway();
      return changed();
    },
    async 'connect.forgetServer'({ harness }) {
      await forgetRoute({ store, vault }, harness);
      return changed();
    },
    async 'connect.unlockVault'({ passphrase }) {
      await vault.unlock(passphrase);
      await sources.unlockGateway();
      return {};
    },
    async 'connect.useKeychain'() {
      await vault.protect({ kind: 'keychain' });
      await sources.unlockGateway();
      return changed();
    },
    'connect.setLoginItem'({ on }) {
      if (!loginItem)
        throw new TackroomError(
          'UNSUPPORTED',
          'Nothing here can be started at login.',
          'Open the desktop app, or run: tackroom login-item on',
        );
      loginItem.set(on);
      return {};
    },
  };
}

type VaultView = Pick<Awaited<ReturnType<ConnectServices['connect.state']>>, 'vault' | 'vaultProblem'>;

function vaultState(vault: Vault): { status: VaultView['vault']; problem: VaultView['vaultProblem'] } {
  try {
    return { status: vault.status(), problem: null };
  } catch (error) {
    const { message, hint } = toErrorShape(error);
    return { status: { protection: null, locked: true }, problem: { message, hint: hint ?? null } };
  }
}
