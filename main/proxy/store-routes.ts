/** Where each harness's requests go, as the store says; cached until `reload`. */
import type { Harness } from '../../contract/records.js';
import type { Store } from '../store/store.js';
import { Vault } from '../vault/vault.js';
import type { Routes, Upstream } from './services.js';
import { UPSTREAMS_SETTING, type UpstreamRoute, type UpstreamSetting } from './upstream-setting.js';

export class StoreRoutes implements Routes {
  #adapters = new Map<Harness, string | null>();
  #upstreams = new Map<Harness, Upstream | null>();

  constructor(
    private readonly store: Store,
    private readonly vault = new Vault(store.home),
  ) {}

  adapterFor(harness: Harness): string | null {
    const known = this.#adapters.get(harness);
    if (known !== undefined) return known;
    const newest = this.store.deployment.list({ where: { harness }, limit: 1 })[0];
    const hash = newest?.adapterHash ?? null;
    this.#adapters.set(harness, hash);
    return hash;
  }

  /** Throws VAULT_LOCKED, VAULT_DAMAGED: no request goes out without the key that it should have. */
  upstreamFor(harness: Harness): Upstream | null {
    const known = this.#upstreams.get(harness);
    if (known !== undefined) return known;
    const upstream = this.#readUpstream(harness);
    this.#upstreams.set(harness, upstream);
    return upstream;
  }

  #readUpstream(harness: Harness): Upstream | null {
    const route = ((this.store.setting(UPSTREAMS_SETTING) ?? {}) as UpstreamSetting)[harness];
    if (!route) return null;
    return {
      baseUrl: route.baseUrl,
      apiKey: this.#keyOf(route),
      ...(route.api && { api: route.api }),
      ...(route.model && { model: route.model }),
    };
  }

  #keyOf({ apiKeyEnv, apiKeyVault }: UpstreamRoute): string | null {
    if (apiKeyVault !== undefined) return this.vault.get(apiKeyVault) ?? null;
    return (apiKeyEnv !== undefined && process.env[apiKeyEnv]) || null;
  }

  /** What opens the vault, from the process that was given its passphrase. */
  unlock(key: Buffer): void {
    this.vault.accept(key);
    this.reload();
  }

  reload(): void {
    this.#adapters.clear();
    this.#upstreams.clear();
  }
}
