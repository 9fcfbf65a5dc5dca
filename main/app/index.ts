/** Entry of the desktop app: the same services as `tackroom serve`, as utility processes, behind an Electron window. */
import { gatewayPort } from '../services/gateway-port.js';
import { defaultHome, demoModelDir, openHome, rendererDir } from '../services/paths.js';
import { startBackend } from '../window/backend.js';
import { spawnUtility } from './processes.js';
import { runShell } from './shell.js';

await runShell({
  rendererDir: rendererDir(),
  async startBackend() {
    const { home } = openHome(defaultHome());
    const backend = await startBackend({
      home,
      // The engine opens model files itself: inside a package they lie beside the archive.
      modelDir: demoModelDir().replace(/app\.asar(?=[\\/])/, 'app.asar.unpacked'),
      port: await gatewayPort(home),
      spawn: spawnUtility,
    });
    return { services: backend.calls, bus: backend.bus, stop: () => backend.stop() };
  },
});
