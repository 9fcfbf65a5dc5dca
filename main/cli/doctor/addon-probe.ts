/** Child process of `tackroom doctor`: loads the addon, says what processor it found, ends. */
import { loadAddon } from '../../../native/addon.js';

try {
  process.send?.({ ok: true, cpu: loadAddon().cpuFeatures() });
} catch (error) {
  process.send?.({ ok: false, reason: error instanceof Error ? error.message : String(error) });
}
