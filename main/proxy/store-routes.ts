/** Where each harness's requests go, as the store says; cached until `reload`. */
import type { Harness } from '../../contract/records.js';
import type { Store } from '../store/store.js';
import type { Routes, Upstream } from './services.js';
import { UPSTREAMS_SETTING, type UpstreamSetting } from './upstream-setting.js';

export class StoreRoutes implements Routes {
  #adapters = new Map<Harness, string | null>();
  #upstreams: UpstreamSetting | undefined;

  constructor(private readonly store: Store) {}

  adapterFor(harness: Harness): string | null {
    const known = this.#adapters.get(harness);
    if (known !== undefined) return known;
    const newest = this.store.deployment.list({ where: { harness }, limit: 1 })[0];
    const hash = newest?.adapterHash ?? null;
    this.#adapters.set(harness, hash);
    return hash;
  }

  upstreamFor(harness: Harness): Upstream | null {
    this.#upstreams ??= (this.store.setting(UPSTREAMS_SETTING) as UpstreamSetting | undefined) ?? {};
    const route = this.#upstreams[harness];
    if (!route) return null;
    return {
      baseUrl: route.baseUrl,
      apiKey: (route.apiKeyEnv !== undefined && process.env[route.apiKeyEnv]) || null,
      ...(route.api && { api: route.api }),
      ...(route.model && { model: route.model }),
    };
  }

  reload(): void {
    this.#adapters.clear();
    this.#upstreams = undefined;
  }
}
