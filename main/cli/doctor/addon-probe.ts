/** Child process of `tackroom doctor`: loads the addons, says what processor the engine found and whether the scan loads, ends. */
import { loadAddon } from '../../../native/addon.js';
import { loadScanAddon } from '../../../native/scan-addon.js';

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

let scan: string;
try {
  scan = loadScanAddon() ? '' : 'It is not built.';
} catch (error) {
  scan = reason(error);
}
try {
  process.send?.({ ok: true, cpu: loadAddon().cpuFeatures(), scan });
} catch (error) {
  process.send?.({ ok: false, reason: reason(error), scan });
}
