// Steps that build: the native addons, the sandbox launcher, the TypeScript, the window, the demo model's tokenizer.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from './execute.mjs';
import { lockedVersion } from './packages.mjs';
import { ROOT } from './paths.mjs';
import { stampedStep } from './stamped-step.mjs';

const script = (step, file) => (until) => execute(step, process.execPath, [file], { until });
const notTypeScript = (name) => !name.endsWith('.ts');

export const native = stampedStep({
  name: 'native',
  title: 'the native engine (C++)',
  after: ['packages', 'tools'],
  deadlineMs: 15 * 60_000,
  inputs: ['native', 'scripts/build-native.mjs'],
  keep: notTypeScript,
  facts: () => [lockedVersion('node-addon-api'), lockedVersion('node-api-headers'), process.env.CXX ?? ''],
  outputs: ['build/native/engine.node', 'build/native/scan.node'],
  run: script('native', 'scripts/build-native.mjs'),
});

export const sandbox = stampedStep({
  name: 'sandbox',
  title: 'the sandbox launcher (C++)',
  after: [],
  deadlineMs: 3 * 60_000,
  inputs: ['native/sandbox', 'scripts/build-sandbox.mjs'],
  outputs: ['build/native/sandbox-launch'],
  absent: () => (process.platform === 'linux' ? null : `user namespaces are Linux's, this is ${process.platform}`),
  run: script('sandbox', 'scripts/build-sandbox.mjs'),
});

export const dist = stampedStep({
  name: 'dist',
  title: 'TypeScript',
  after: ['packages'],
  deadlineMs: 3 * 60_000,
  inputs: ['main', 'contract', 'native', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'],
  keep: (name) => name.endsWith('.ts') || name.endsWith('.json'),
  outputs: ['dist/contract/errors.js'],
  run: (until) => execute('dist', 'tsc', ['-p', 'tsconfig.build.json'], { until }),
});

export const preload = stampedStep({
  name: 'preload',
  title: "the window's bridge",
  after: ['packages'],
  deadlineMs: 2 * 60_000,
  inputs: ['main/app', 'contract', 'scripts/build-preload.mjs', 'package-lock.json'],
  outputs: ['dist/main/app/preload.cjs'],
  run: script('preload', 'scripts/build-preload.mjs'),
});

export const renderer = stampedStep({
  name: 'renderer',
  title: 'the window',
  after: ['packages'],
  deadlineMs: 3 * 60_000,
  inputs: ['renderer', 'contract', 'scripts/build-renderer.mjs', 'package-lock.json'],
  outputs: ['dist/renderer/index.html'],
  run: script('renderer', 'scripts/build-renderer.mjs'),
});

const COMPLETE = 'dist/main/models/demo/complete.js';

/** Makes the demo model's tokenizer cover the prompt that the installed pi really sends. */
export const tokenizer = stampedStep({
  name: 'tokenizer',
  title: "the demo model's tokenizer",
  after: ['dist', 'pi', 'sqlite', 'native', 'sandbox'],
  deadlineMs: 3 * 60_000,
  inputs: ['main/models', 'resources/demo-model', 'resources/harness'],
  outputs: ['build/demo-model/tokenizer.json'],
  absent: () => (existsSync(join(ROOT, COMPLETE)) ? null : 'nothing to complete'),
  run: script('tokenizer', COMPLETE),
});
