// Writes resources/licenses/THIRD_PARTY.md: every package whose code goes into the app, its licence and its text.
// Those are the production dependencies with theirs, what the window imports, and the headers the engine is compiled with.
// Usage: node scripts/licenses.mjs [--check]   (--check writes nothing, exit 1 when the file is out of date)
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const OUTPUT = join(root, 'resources', 'licenses', 'THIRD_PARTY.md');

/** Licences that may go into an Apache-2.0 app without further duties than naming them. */
export const ALLOWED = [
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
];
const COMPILED_IN = ['node-addon-api', 'node-api-headers'];

const readJson = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));

/** True for an SPDX expression that can be met by allowed licences alone (`OR`: any, `AND`: all). */
export function isAllowed(expression) {
  const bare = expression.replace(/^\((.*)\)$/, '$1');
  if (bare.includes(' OR ')) return bare.split(' OR ').some(isAllowed);
  return bare.split(' AND ').every((name) => ALLOWED.includes(name));
}

/** Packages that the sources of the window import, by name. */
function importedByWindow() {
  const names = new Set();
  const visit = (dir) => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (/\.tsx?$/.test(entry.name) && !/\.config\.ts$/.test(entry.name))
        for (const [, name] of readFileSync(path, 'utf8').matchAll(/from ['"]((?:@[\w.-]+\/)?[\w-][\w.-]*)/g))
          names.add(name);
    }
  };
  const dir = join(root, 'renderer');
  if (existsSync(dir)) visit(dir);
  return [...names].filter((name) => !name.startsWith('node:'));
}

/** Key in the lock of what `name` means to the package at `from`: the nearest node_modules upwards. */
function locate(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const key = `${at}${at ? '/' : ''}node_modules/${name}`;
    if (packages[key]) return key;
    if (at === '') return null;
  }
}

/** Everything that goes into the app, sorted by name: `{name, version, license, dir}`. */
export function bundledPackages() {
  const { packages } = readJson('package-lock.json');
  const first = [...Object.keys(readJson('package.json').dependencies), ...importedByWindow(), ...COMPILED_IN];
  const seen = new Set();
  const visit = (from, name) => {
    const key = locate(packages, from, name);
    if (key === null || seen.has(key)) return;
    seen.add(key);
    for (const next of Object.keys(packages[key].dependencies ?? {})) visit(key, next);
  };
  for (const name of first) visit('', name);
  return [...seen]
    .map((dir) => {
      const { version, license } = packages[dir];
      return { name: dir.slice(dir.lastIndexOf('node_modules/') + 13), version, license: license ?? 'none named', dir };
    })
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version.localeCompare(b.version)));
}

function licenseText(dir) {
  const folder = join(root, dir);
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)(\.(md|txt|mit))?$/i.test(name));
  return file ? readFileSync(join(folder, file), 'utf8').replace(/\r\n/g, '\n').trim() : null;
}

export function render(packages) {
  const rows = packages.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`);
  const texts = packages.map(({ name, version, dir, license }) => {
    const text = licenseText(dir) ?? `The package carries no licence file; its manifest names ${license}.`;
    return `## ${name} ${version}\n\n\`\`\`\`text\n${text}\n\`\`\`\`\n`;
  });
  return [
    '# Third-party software in Tackroom',
    '',
    'Written by `node scripts/licenses.mjs`. Electron and Chromium bring their own notices with the app; SQLite, inside',
    'better-sqlite3, is in the public domain.',
    '',
    '| package | version | licence |',
    '|---|---|---|',
    ...rows,
    '',
    ...texts,
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const packages = bundledPackages();
  const refused = packages.filter(({ license }) => !isAllowed(license));
  for (const { name, version, license } of refused)
    console.error(`${name} ${version}: ${license} is not on the allow-list.`);
  const text = render(packages);
  const current = existsSync(OUTPUT) && readFileSync(OUTPUT, 'utf8') === text;
  if (process.argv.includes('--check')) {
    if (!current) console.error('resources/licenses/THIRD_PARTY.md is out of date. Run: node scripts/licenses.mjs');
  } else {
    mkdirSync(dirname(OUTPUT), { recursive: true });
    writeFileSync(OUTPUT, text);
    console.log(`${packages.length} packages.`);
  }
  process.exitCode = refused.length > 0 || (process.argv.includes('--check') && !current) ? 1 : 0;
}
