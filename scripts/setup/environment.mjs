// The environment of every step: a home folder that can be written, Node.js's own headers, tools on the PATH.
import { accessSync, constants, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { BUILD, ROOT, TOOLS } from './paths.mjs';

function writable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function safeHome() {
  try {
    return homedir();
  } catch {
    return '';
  }
}

/**
 * The user's home folder, or `build/home` where npm and pip could not write into it. The user's npm and pip settings
 * stay in force through links.
 */
function usableHome() {
  const home = safeHome();
  const caches = ['.npm', '.cache'].map((name) => join(home, name)).filter(existsSync);
  if (home !== '' && [home, ...caches].every(writable)) return home;
  const own = join(BUILD, 'home');
  mkdirSync(join(own, '.config'), { recursive: true });
  for (const name of ['.npmrc', join('.config', 'pip')]) {
    const [from, to] = [join(home, name), join(own, name)];
    if (home !== '' && existsSync(from) && !existsSync(to)) symlinkSync(from, to);
  }
  return own;
}

/** Folder with the headers of exactly this Node.js, or null: then node-gyp fetches them. */
function nodeHeaders() {
  const prefix = dirname(dirname(process.execPath));
  const file = join(prefix, 'include', 'node', 'node_version.h');
  if (!existsSync(file)) return null;
  const text = readFileSync(file, 'utf8');
  const part = (name) => text.match(new RegExp(`#define NODE_${name}_VERSION (\\d+)`))?.[1];
  const version = ['MAJOR', 'MINOR', 'PATCH'].map(part).join('.');
  return version === process.versions.node ? prefix : null;
}

/** Environment variables for a step. */
export function stepEnvironment() {
  const home = usableHome();
  const headers = nodeHeaders();
  const bins = [join(ROOT, 'node_modules', '.bin'), process.env.PATH ?? '', join(TOOLS, 'bin')];
  return {
    ...process.env,
    HOME: home,
    // A home that had to be replaced must not be written to through these either.
    ...(home === safeHome() ? {} : { npm_config_cache: join(home, '.npm'), XDG_CACHE_HOME: join(home, '.cache') }),
    ...(headers ? { npm_config_nodedir: headers } : {}),
    PATH: bins.join(delimiter),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    ELECTRON_SKIP_BINARY_DOWNLOAD: '1',
  };
}
