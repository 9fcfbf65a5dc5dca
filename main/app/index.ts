/** Entry of the desktop app: the same services as `tackroom serve`, as utility processes, behind an Electron window. */
import { defaultHome, demoModelDir, rendererDir } from '../services/paths.js';
import { startBackend } from '../window/backend.js';
import { spawnUtility } from './processes.js';
import { runShell } from './shell.js';

const GATEWAY_PORT = 4141;

await runShell({
  rendererDir: rendererDir(),
  async startBackend() {
    const backend = await startBackend({
      home: defaultHome(),
      // The engine opens model files itself: inside a package they lie beside the archive.
      modelDir: demoModelDir().replace(/app\.asar(?=[\\/])/, 'app.asar.unpacked'),
      port: GATEWAY_PORT,
      spawn: spawnUtility,
    });
    return { services: backend.calls, bus: backend.bus, stop: () => backend.stop() };
  },
});
