// Packages the app against a stub of Electron's distribution and checks the result: what is in the archive, what lies
// beside it, which fuses are set. Proves the packaging without Electron's binary; the result does not start.
// Usage: node scripts/package-stub.mjs
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { extractFile, listPackage } from '@electron/asar';
import fuses from '@electron/fuses';

const { FuseV1Options, getCurrentFuseWire } = fuses;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stub = join(root, 'build', 'electron-stub');
const output = join(root, 'build', 'package-stub');
const unpacked = join(output, 'linux-unpacked');
const DEADLINE_MS = 180_000;

/** Marks the fuse wire in Electron's binary; then the wire's version, its length, one character a fuse. */
const FUSE_SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
const FUSE_COUNT = 9;
/** States as they stand in the wire: the characters 0 and 1. */
const [OFF, ON] = [0x30, 0x31];
const FUSES = {
  RunAsNode: OFF,
  EnableCookieEncryption: ON,
  EnableNodeOptionsEnvironmentVariable: OFF,
  EnableNodeCliInspectArguments: OFF,
  EnableEmbeddedAsarIntegrityValidation: ON,
  OnlyLoadAppFromAsar: ON,
  GrantFileProtocolExtraPrivileges: OFF,
};

/** Must be in the archive's listing. */
const PACKED = [
  '/package.json',
  '/dist/main/app/index.js',
  '/dist/main/app/preload.cjs',
  '/dist/main/engine/entry.js',
  '/dist/main/proxy/entry.js',
  '/dist/contract/api.js',
  '/dist/renderer/index.html',
  '/node_modules/zod/package.json',
];
/** Must be real files beside the archive. */
const UNPACKED = [
  'build/native/engine.node',
  'build/native/scan.node',
  'build/native/sandbox-launch',
  'node_modules/better-sqlite3/build/Release/better_sqlite3.node',
  'resources/guard/rules.json',
];
const FORBIDDEN = [
  /\.ts$/,
  /\.map$/,
  /^\/tests\//,
  /^\/scripts\//,
  /^\/\.harness/,
  /^\/build\/(logs|stamps|tools|kept)/,
];
/** Development packages that must not slip in. */
const DEVELOPMENT = ['electron', 'electron-builder', 'vite', 'vitest', 'typescript', 'playwright-core', 'react'];

/** An ELF with an unset fuse wire where Electron would be. */
function makeStub() {
  rmSync(stub, { recursive: true, force: true });
  mkdirSync(join(stub, 'resources'), { recursive: true });
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/electron/package.json'), 'utf8'));
  const wire = `${FUSE_SENTINEL}\x01${String.fromCharCode(FUSE_COUNT)}${'0'.repeat(FUSE_COUNT)}`;
  const binary = Buffer.concat([readFileSync('/bin/true'), Buffer.from(wire, 'latin1')]);
  writeFileSync(join(stub, 'electron'), binary, { mode: 0o755 });
  cpSync('/bin/true', join(stub, 'chrome-sandbox'));
  for (const name of ['LICENSE', 'LICENSES.chromium.html']) writeFileSync(join(stub, name), 'A stub.\n');
  writeFileSync(join(stub, 'version'), version);
}

function build() {
  rmSync(output, { recursive: true, force: true });
  const settings = [`-c.electronDist=${stub}`, '-c.npmRebuild=false', `-c.directories.output=${output}`];
  const builder = join(root, 'node_modules', 'electron-builder', 'cli.js');
  const result = spawnSync(process.execPath, [builder, '--linux', '--dir', '--publish=never', ...settings], {
    cwd: root,
    encoding: 'utf8',
    timeout: DEADLINE_MS,
    env: { ...process.env, CSC_IDENTITY_AUTO_DISCOVERY: 'false' },
  });
  if (result.status === 0) return;
  const tail = `${result.stdout}${result.stderr}`.trim().split('\n').slice(-20).join('\n');
  throw new Error(`electron-builder failed (${result.signal ?? `exit ${result.status}`}):\n${tail}`);
}

/** Sentences about what is wrong with the package; empty when nothing is. */
async function faults() {
  const found = [];
  const archive = join(unpacked, 'resources', 'app.asar');
  const listed = listPackage(archive, { isPack: false }).map((path) => path.replaceAll('\\', '/'));
  const present = new Set(listed);
  for (const path of PACKED) if (!present.has(path)) found.push(`${path} is not in the archive.`);
  for (const path of UNPACKED)
    if (!existsSync(join(`${archive}.unpacked`, path))) found.push(`${path} does not lie beside the archive.`);
  for (const path of listed)
    if (FORBIDDEN.some((pattern) => pattern.test(path) && !path.startsWith('/node_modules/')))
      found.push(`${path} must not be in the archive.`);
  for (const name of DEVELOPMENT)
    if (present.has(`/node_modules/${name}`)) found.push(`The development package ${name} is in the archive.`);
  const addons = listed.filter((path) => path.endsWith('.node'));
  for (const path of addons)
    if (!existsSync(join(`${archive}.unpacked`, path)))
      found.push(`${path} is inside the archive: it cannot be loaded.`);
  const { main } = JSON.parse(extractFile(archive, 'package.json').toString('utf8'));
  if (!present.has(`/${main}`)) found.push(`The entry ${main} is not in the archive.`);
  for (const name of ['THIRD_PARTY.md', 'LICENSE.txt'])
    if (!existsSync(join(unpacked, 'resources', 'licenses', name))) found.push(`licenses/${name} is missing.`);
  const wire = await getCurrentFuseWire(join(unpacked, 'tackroom-desktop'));
  for (const [name, wanted] of Object.entries(FUSES))
    if (wire[FuseV1Options[name]] !== wanted) found.push(`The fuse ${name} is not ${wanted === ON ? 'on' : 'off'}.`);
  return { found, files: listed.length, addons: addons.length };
}

const began = Date.now();
try {
  makeStub();
  build();
  const { found, files, addons } = await faults();
  for (const fault of found) console.error(`✗ ${fault}`);
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  console.log(JSON.stringify({ ok: found.length === 0, faults: found, files, addons, seconds: Number(seconds) }));
  process.exitCode = found.length === 0 ? 0 : 1;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
