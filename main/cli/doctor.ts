/** `tackroom doctor`: what this machine can do, numbered, with what to do about what is missing. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { knownPort } from '../services/gateway-port.js';
import { defaultHome } from '../services/paths.js';
import { type Check, formatChecks } from './doctor/check.js';
import { checkConnections, runningGateway } from './doctor/connection-checks.js';
import { checkAddon, checkCpu, checkGpu, checkNode, checkScan, probeAddon } from './doctor/engine-checks.js';
import { checkBrowser, checkDisk, checkHarnesses, checkPorts, checkSandbox } from './doctor/system-checks.js';
import type { CommandIo } from './io.js';

const DEFAULT_PORT = 4141;
const WINDOW_PORT = 4142;

export interface DoctorOptions {
  home?: string;
  json?: boolean;
}

/** Compiled beside this file; from sources (tests) the compiled one of `dist/` is used. */
function addonProbe(): string {
  const beside = fileURLToPath(new URL('./doctor/addon-probe.js', import.meta.url));
  return existsSync(beside)
    ? beside
    : fileURLToPath(new URL('../../dist/main/cli/doctor/addon-probe.js', import.meta.url));
}

/** All checks, in the order they are numbered. Never throws. */
export async function runChecks(home: string): Promise<Check[]> {
  const [addon, sandbox, harnesses, connections, ports] = await Promise.all([
    probeAddon(addonProbe()),
    checkSandbox(),
    checkHarnesses(),
    checkConnections(home),
    runningGateway(home).then((running) => checkPorts([knownPort(home) ?? DEFAULT_PORT, WINDOW_PORT], running)),
  ]);
  return [
    checkNode(),
    checkAddon(addon),
    checkCpu(addon),
    checkGpu(),
    checkScan(addon),
    sandbox,
    harnesses,
    connections,
    checkDisk(home),
    ports,
    checkBrowser(),
  ];
}

/** Exit code 0, or 1 when something that Tackroom cannot work without is missing. */
export async function doctorCommand(options: DoctorOptions, io: Pick<CommandIo, 'stdout'>): Promise<number> {
  const checks = await runChecks(defaultHome(options.home));
  io.stdout.write(options.json ? `${JSON.stringify({ checks }, null, 1)}\n` : formatChecks(checks));
  return checks.some((check) => check.status === 'failed') ? 1 : 0;
}
