/** Changes which server answers a harness, and what the vault holds for it. */
import { TackroomError } from '../../contract/errors.js';
import type { Harness } from '../../contract/records.js';
import type { Store } from '../store/store.js';
import type { Vault } from '../vault/vault.js';
import { checkRoute, UPSTREAMS_SETTING, type UpstreamRoute, type UpstreamSetting } from './upstream-setting.js';

/** Goes into a header as it is. */
const KEY = /^[\x21-\x7e]{1,4096}$/;

const keyName = (harness: Harness): string => `upstream/${harness}`;

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

/**
 * `key` goes into the vault; without one, and without `apiKeyEnv`, a key that was given for the same server stays. Errors:
 * BAD_ARGUMENT, those of the vault. Gateways that run must be told to look again.
 */
export async function setRoute(
  { store, vault }: { store: Store; vault: Vault },
  harness: Harness,
  asked: UpstreamRoute,
  key?: string,
): Promise<UpstreamRoute> {
  const checked = checkRoute(asked);
  const before = routesOf(store)[harness];
  const given = key === undefined ? null : checkKey(key);
  const name = keyName(harness);
  if (given !== null) await vault.put(name, given);
  const withKey =
    given !== null ? { apiKeyVault: name } : checked.apiKeyEnv === undefined ? keptKey(before, checked) : {};
  const route = { ...checked, ...withKey };
  save(store, harness, route);
  if (before?.apiKeyVault !== undefined && route.apiKeyVault === undefined) await vault.delete(before.apiKeyVault);
  return route;
}

/** The built-in engine answers again; the server and its key are forgotten. Errors: those of the vault. */
export async function forgetRoute({ store, vault }: { store: Store; vault: Vault }, harness: Harness): Promise<void> {
  const { apiKeyVault } = routesOf(store)[harness] ?? {};
  save(store, harness, null);
  if (apiKeyVault !== undefined) await vault.delete(apiKeyVault);
}
