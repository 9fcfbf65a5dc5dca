/** One running pi in a sandbox: how it is mounted and started, and the files it finds at home. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LAUNCHER_INSIDE } from '../sandbox/launcher.js';
import type { SandboxDriver, SandboxLimits, SandboxProcess } from '../sandbox/sandbox.js';
import { insidePath, type PiInstall } from './find-pi.js';
import { PI_PROVIDER, piModelsJson, piSettingsJson } from './pi-config.js';
import type { Scratch } from './scratch.js';

const MODEL_PORT = 8080;
const MODEL_DIR = '/run/model';
const PI_MOUNT = '/opt/pi';
const HOME = '/home/agent';
const MEBIBYTE = 1024 * 1024;

/** Name of the gateway's worker socket inside the folder that is mounted. */
export const MODEL_SOCKET = 'model.sock';

/** For pi and everything it starts; a worker lives for many rollouts, so CPU time is bounded by their deadlines. */
export const PI_LIMITS: SandboxLimits = {
  memoryBytes: 2048 * MEBIBYTE,
  processes: 256,
  cpuSeconds: 7 * 24 * 3600,
  fileBytes: 256 * MEBIBYTE,
  wallMs: null,
};

export interface PiSandboxOptions {
  name: string;
  driver: SandboxDriver;
  pi: PiInstall;
  scratch: Scratch;
  /** Host folder that holds (or will hold) the gateway's socket `model.sock`; the folder is mounted, so that a socket made anew is seen. */
  socketDir: string;
  modelId: string;
  limits: SandboxLimits;
}

/** Writes pi's configuration into the (empty) home folder. */
export function writePiHome(home: string, modelId: string): void {
  const dir = join(home, '.pi', 'agent');
  mkdirSync(dir, { recursive: true });
  const baseUrl = `http://127.0.0.1:${MODEL_PORT}/pi/v1`;
  writeFileSync(join(dir, 'models.json'), piModelsJson({ baseUrl, modelId, apiKey: 'worker', sessionHeaders: true }));
  writeFileSync(join(dir, 'settings.json'), piSettingsJson(modelId));
}

/** Starts `pi --mode rpc` behind a forwarder from its loopback to the worker socket. Errors: those of the driver. */
export function spawnPi(options: PiSandboxOptions): Promise<SandboxProcess> {
  const { pi, scratch } = options;
  const command = [
    ...[insidePath(pi, pi.node, PI_MOUNT), insidePath(pi, pi.cli, PI_MOUNT)],
    ...['--mode', 'rpc', '--no-session', '--model', `${PI_PROVIDER}/${options.modelId}`, '--thinking', 'off'],
  ];
  return options.driver.spawn({
    name: options.name,
    argv: [LAUNCHER_INSIDE, 'forward', String(MODEL_PORT), `${MODEL_DIR}/${MODEL_SOCKET}`, '--', ...command],
    env: {
      HOME,
      PI_CODING_AGENT_DIR: `${HOME}/.pi/agent`,
      PI_OFFLINE: '1',
      PI_TELEMETRY: '0',
      LANG: 'C.UTF-8',
      SHELL: '/bin/bash',
    },
    cwd: '/work',
    mounts: [
      { source: pi.root, target: PI_MOUNT, readonly: true },
      { source: options.socketDir, target: MODEL_DIR, readonly: true },
      { source: scratch.home, target: HOME, readonly: false },
      { source: scratch.tmp, target: '/tmp', readonly: false },
      { source: scratch.shm, target: '/dev/shm', readonly: false },
      { source: scratch.work, target: '/work', readonly: false },
    ],
    limits: options.limits,
  });
}
