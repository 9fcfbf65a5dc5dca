/** Changes which server answers a harness, and what the vault holds for it. */
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { Harness } from '../../contract/records.js';
import { sha256 } from '../record/hash.js';
import { withLock } from '../services/process-lock.js';
import type { Store } from '../store/store.js';
import type { Vault } from '../vault/vault.js';
import { checkRoute, UPSTREAMS_SETTING, type UpstreamRoute, type UpstreamSetting } from './upstream-setting.js';

/** Goes into a header as it is. */
const KEY = /^[\x21-\x7e]{1,4096}$/;

const LOCK_WAIT_MS = 10_000;

interface Kept {
  store: Store;
  vault: Vault;
}

/** With the server it is for, so that whatever ends this process in between, no other server gets it. */
function keyName(harness: Harness, { baseUrl }: UpstreamRoute): string {
  return `upstream/${harness}/${sha256(new URL(baseUrl).origin).slice(0, 32)}`;
}

export const routesOf = (store: Store): UpstreamSetting => (store.setting(UPSTREAMS_SETTING) ?? {}) as UpstreamSetting;

/** Without line ends around it, as it comes from a file or the clipboard. Errors: BAD_ARGUMENT. */
export function checkKey(text: string): string {
  const key = text.trim();
  if (KEY.test(key)) return key;
  throw new TackroomError(
    'BAD_ARGUMENT',
    key === '' ? 'There is no key in what was given.' : 'A key of a server is one line of visible characters.',
    'Give the key alone, as the server gave it out.',
  );
}

function save(store: Store, harness: Harness, route: UpstreamRoute | null): void {
  store.transaction(() => {
    const { [harness]: _before, ...others } = routesOf(store);
    store.setSetting(UPSTREAMS_SETTING, route === null ? others : { ...others, [harness]: route });
  });
}

/** A key is for the server it was given for: another address does not get it. */
function keptKey(
  before: UpstreamRoute | undefined,
  next: UpstreamRoute,
): Pick<UpstreamRoute, 'apiKeyEnv' | 'apiKeyVault'> {
  if (!before || new URL(before.baseUrl).origin !== new URL(next.baseUrl).origin) return {};
  const { apiKeyEnv, apiKeyVault } = before;
  return { ...(apiKeyEnv !== undefined && { apiKeyEnv }), ...(apiKeyVault !== undefined && { apiKeyVault }) };
}

/** One at a time: keys that no route names are forgotten, and another process may be about to save its route. */
const alone = <T>({ store }: Kept, work: () => Promise<T>): Promise<T> =>
  withLock(join(store.home, 'routes.lock'), { what: 'changing a server', waitMs: LOCK_WAIT_MS }, work);

/** Also those of a run that was killed before it saved its route. */
async function forgetKeys(vault: Vault, harness: Harness, but?: string): Promise<void> {
  const name = `upstream/${harness}`;
  const isOurs = (kept: string): boolean => kept === name || kept.startsWith(`${name}/`);
  for (const kept of vault.list()) if (isOurs(kept) && kept !== but) await vault.delete(kept);
}

/**
 * `key` goes into the vault; without one, and without `apiKeyEnv`, a key that was given for the same server stays. Errors:
 * BAD_ARGUMENT, BUSY, those of the vault. Gateways that run must be told to look again.
 */
export async function setRoute(
  kept: Kept,
  harness: Harness,
  asked: UpstreamRoute,
  key?: string,
): Promise<UpstreamRoute> {
  const { store, vault } = kept;
  const checked = checkRoute(asked);
  const given = key === undefined ? null : checkKey(key);
  return alone(kept, async () => {
    const before = routesOf(store)[harness];
    const name = keyName(harness, checked);
    if (given !== null) await vault.put(name, given);
    const withKey =
      given !== null ? { apiKeyVault: name } : checked.apiKeyEnv === undefined ? keptKey(before, checked) : {};
    const route = { ...checked, ...withKey };
    save(store, harness, route);
    if (given !== null || before?.apiKeyVault !== route.apiKeyVault)
      await forgetKeys(vault, harness, route.apiKeyVault);
    return route;
  });
}

/** The built-in engine answers again; the server and its key are forgotten. Errors: BUSY, those of the vault. */
export function forgetRoute(kept: Kept, harness: Harness): Promise<void> {
  const { store, vault } = kept;
  return alone(kept, async () => {
    const { apiKeyVault } = routesOf(store)[harness] ?? {};
    save(store, harness, null);
    if (apiKeyVault !== undefined) await forgetKeys(vault, harness);
  });
}
