/** Entry of the desktop app: the same services as `tackroom serve`, as utility processes, behind an Electron window. */
import { disconnectNow } from '../harness/connect-change.js';
import { connectedTo } from '../harness/connected.js';
import { gatewayPort } from '../services/gateway-port.js';
import { defaultHome, demoModelDir, openHome, rendererDir } from '../services/paths.js';
import { Vault } from '../vault/vault.js';
import { startBackend } from '../window/backend.js';
import { systemKeychain } from './keychain.js';
import { appLoginItem, startedAlone } from './login-item.js';
import { spawnUtility } from './processes.js';
import { runShell } from './shell.js';

await runShell({
  rendererDir: rendererDir(),
  hidden: startedAlone(),
  async startBackend() {
    const { home } = openHome(defaultHome());
    const backend = await startBackend({
      home,
      // The engine opens model files itself: inside a package they lie beside the archive.
      modelDir: demoModelDir().replace(/app\.asar(?=[\\/])/, 'app.asar.unpacked'),
      port: await gatewayPort(home),
      spawn: spawnUtility,
      vault: new Vault(home, systemKeychain),
      loginItem: appLoginItem(),
    });
    return {
      services: backend.calls,
      bus: backend.bus,
      connected: {
        names: () => connectedTo(backend.services.port),
        disconnect: (harness) => disconnectNow({ harness }),
      },
      stop: () => backend.stop(),
    };
  },
});
