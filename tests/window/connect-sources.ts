/** The Connect screen's sources in a home of its own, with a user who has no harness yet and no gateway that runs. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileLoginItem } from '../../main/services/login-item.js';
import { Vault } from '../../main/vault/vault.js';
import type { WindowSources } from '../../main/window/services.js';

export function connectSources(home: string): WindowSources['connect'] {
  const user = join(home, 'user');
  mkdirSync(user);
  return {
    vault: new Vault(home),
    loginItem: fileLoginItem(['tackroom', '--home', home, 'serve', '--gateway-only'], 'linux', { HOME: user }),
    findModel: () => join(home, 'no-model'),
    reloadRoutes: () => Promise.resolve(),
    unlockGateway: () => Promise.resolve(),
    root: user,
  };
}
