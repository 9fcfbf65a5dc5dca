// Installs the pinned pi coding agent, with the Node.js it needs, into .harness/pi (git-ignored).
// Idempotent: does nothing when the pinned versions are already there. Usage: node scripts/install-pi.mjs
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'resources', 'harness', 'pi');
const target = join(root, '.harness', 'pi');
const pinned = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')).dependencies;
const nodeBinary = join(target, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const piPackage = join(target, 'node_modules', '@earendil-works', 'pi-coding-agent');
const piCli = join(piPackage, 'dist', 'bundle', 'cli.js');
const INSTALL_DEADLINE_MS = 10 * 60_000;

/** Version of the private Node.js, or null when it does not run. */
function nodeVersion() {
  try {
    return execFileSync(nodeBinary, ['--version'], { encoding: 'utf8', timeout: 20_000 }).trim().replace(/^v/, '');
  } catch {
    return null;
  }
}

/** Version of the installed pi package, or null. */
function piVersion() {
  const manifest = join(piPackage, 'package.json');
  return existsSync(manifest) && existsSync(piCli) ? JSON.parse(readFileSync(manifest, 'utf8')).version : null;
}

/** One sentence about what is missing, or null when everything is as pinned. */
function problem() {
  const pi = piVersion();
  if (pi !== pinned['@earendil-works/pi-coding-agent'])
    return `pi ${pinned['@earendil-works/pi-coding-agent']} is expected, found ${pi ?? 'none'}.`;
  const node = nodeVersion();
  if (node !== pinned.node) return `Node.js ${pinned.node} is expected for pi, found ${node ?? 'none'}.`;
  return null;
}

/** Runs `npm ci` in the target folder, the last lines of its output are shown when it fails. */
function npmInstall() {
  return new Promise((resolve, reject) => {
    // npm hands its own settings down as npm_* variables; a nested install must not inherit them.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^npm_(?!config_registry)/i.test(name)),
    );
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const args = ['ci', '--no-fund', '--no-audit', '--loglevel=error'];
    const child = spawn(npm, args, {
      cwd: target,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: INSTALL_DEADLINE_MS,
      shell: process.platform === 'win32',
    });
    let tail = '';
    const keep = (chunk) => {
      tail = (tail + chunk).slice(-4000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`npm ci for pi failed (exit ${code}):\n${tail}`)),
    );
  });
}

if (problem() === null) {
  console.log(`pi ${piVersion()} with Node.js ${nodeVersion()} is already installed.`);
} else {
  const started = Date.now();
  console.log(
    `Installing pi ${pinned['@earendil-works/pi-coding-agent']} and Node.js ${pinned.node} into .harness/pi (about 350 MB)...`,
  );
  mkdirSync(target, { recursive: true });
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(source, file), join(target, file));
  try {
    await npmInstall();
    const wrong = problem();
    if (wrong) throw new Error(wrong);
    console.log(`pi is installed (${Math.round((Date.now() - started) / 1000)} s).`);
  } catch (error) {
    console.error(`PI_INSTALL_FAILED: ${error instanceof Error ? error.message : String(error)}`);
    console.error('Check the network or the npm registry setting and run: node scripts/install-pi.mjs');
    process.exitCode = 1;
  }
}
