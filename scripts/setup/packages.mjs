// Steps that install npm packages: the checkout's own, the compiled SQLite among them, and pi.
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execute } from './execute.mjs';
import { BUILD, ROOT } from './paths.mjs';
import { stampedStep } from './stamped-step.mjs';

const lockOf = (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')).packages;

/** Version of a package in package-lock.json. */
export const lockedVersion = (name) => lockOf('package-lock.json')[`node_modules/${name}`]?.version ?? 'none';

/** True when node_modules holds exactly what package-lock.json asks for (optional ones of other platforms aside). */
function installedAsLocked() {
  const hidden = join('node_modules', '.package-lock.json');
  if (!existsSync(join(ROOT, hidden))) return false;
  const [wanted, installed] = [lockOf('package-lock.json'), lockOf(hidden)];
  const names = Object.keys(wanted).filter((name) => name !== '');
  const right = (name) => installed[name]?.version === wanted[name].version;
  const missing = (name) => installed[name] === undefined && wanted[name].optional === true;
  const extra = Object.keys(installed).some((name) => wanted[name] === undefined);
  return !extra && names.every((name) => right(name) || missing(name));
}

export const packages = {
  name: 'packages',
  title: 'npm packages',
  after: [],
  deadlineMs: 10 * 60_000,
  skip: () => (installedAsLocked() ? 'up to date' : null),
  // Install scripts wait: the only one that matters compiles SQLite, which runs beside the other steps.
  run: (until) => execute('packages', 'npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit'], { until }),
};

const sqliteOutput = join('node_modules', 'better-sqlite3', 'build', 'Release', 'better_sqlite3.node');
const CHECK_SQLITE = "new (require('better-sqlite3'))(':memory:').prepare('select 1').get()";

/** A kept copy of the compiled file: a later `npm ci` need not compile again. */
function keptSqlite() {
  const { platform, arch, versions } = process;
  const name = `better-sqlite3-${lockedVersion('better-sqlite3')}-${platform}-${arch}-${versions.modules}.node`;
  return join(BUILD, 'kept', name);
}

async function buildSqlite(until) {
  const [kept, output] = [keptSqlite(), join(ROOT, sqliteOutput)];
  const works = () =>
    execute('sqlite', process.execPath, ['-e', CHECK_SQLITE], { until }).then(
      () => true,
      () => false,
    );
  if (existsSync(output) && (await works())) return;
  if (existsSync(kept)) {
    mkdirSync(dirname(output), { recursive: true });
    copyFileSync(kept, output);
    if (await works()) return;
  }
  await execute('sqlite', 'npm', ['rebuild', 'better-sqlite3', '--no-fund', '--no-audit'], { until });
  if (!(await works())) throw new Error('better-sqlite3 was compiled but this Node.js cannot load it.');
  mkdirSync(dirname(kept), { recursive: true });
  copyFileSync(output, kept);
}

export const sqlite = stampedStep({
  name: 'sqlite',
  title: 'SQLite (compiled here, about a minute and a half)',
  after: ['packages'],
  deadlineMs: 15 * 60_000,
  inputs: [],
  facts: () => [lockedVersion('better-sqlite3')],
  outputs: [sqliteOutput],
  run: buildSqlite,
});

const piPackages = join('.harness', 'pi', 'node_modules');

export const pi = stampedStep({
  name: 'pi',
  title: 'the pi coding agent and its Node.js',
  after: [],
  deadlineMs: 10 * 60_000,
  inputs: [join('resources', 'harness', 'pi'), join('scripts', 'install-pi.mjs')],
  outputs: [
    join(piPackages, '@earendil-works', 'pi-coding-agent', 'package.json'),
    join(piPackages, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node'),
  ],
  run: (until) => execute('pi', process.execPath, [join('scripts', 'install-pi.mjs')], { until }),
});
