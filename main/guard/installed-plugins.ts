/** The plugins that the user added, ready to look at calls. What runs is the content that was added: a file that changed since does not. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { type GuardPlugin, type GuardSettings, MAX_PLUGINS } from '../../contract/guard.js';
import type { Store } from '../store/store.js';
import { inTime } from './in-time.js';
import { type Plugin, pluginFrom, readPlugin, stopPlugins } from './plugins.js';
import { changeGuardSettings } from './settings.js';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export type PluginState = 'ready' | 'changed' | 'missing';

/** Whether the file is what was added. */
export async function pluginState({ path, sha256 }: GuardPlugin): Promise<PluginState> {
  const text = await readPlugin(path).catch(() => null);
  return text === null ? 'missing' : hashOf(text) === sha256 ? 'ready' : 'changed';
}

/**
 * Adds the file, or its new content. Errors: those of `readPlugin` and `pluginFrom`, BAD_ARGUMENT for a module that lists no rules or
 * one plugin too many.
 */
export async function addPlugin(store: Store, path: string): Promise<GuardSettings> {
  const file = resolve(path);
  const text = await readPlugin(file);
  const plugin = pluginFrom(file, text);
  try {
    if (plugin.kind === 'module' && (await plugin.module.rules()) === null)
      throw new TackroomError(
        'BAD_ARGUMENT',
        `The module ${file} cannot be loaded, or lists no rules.`,
        'Compare with resources/guard/example-plugin.mjs.',
      );
  } finally {
    stopPlugins([plugin]);
  }
  const added = { path: file, sha256: hashOf(text), addedAt: Date.now() };
  return changeGuardSettings(store, (settings) => {
    const others = settings.plugins.filter((one) => one.path !== file);
    if (others.length >= MAX_PLUGINS)
      throw new TackroomError(
        'BAD_ARGUMENT',
        `There are ${MAX_PLUGINS} plugins already.`,
        'Remove one with `tackroom guard plugins remove`.',
      );
    return { ...settings, plugins: [...others, added] };
  });
}

/** Errors: NOT_FOUND. The file stays. */
export function removePlugin(store: Store, path: string): GuardSettings {
  const file = resolve(path);
  return changeGuardSettings(store, (settings) => {
    const plugins = settings.plugins.filter((one) => one.path !== file);
    if (plugins.length === settings.plugins.length)
      throw new TackroomError(
        'NOT_FOUND',
        `${file} is not among the guard's plugins.`,
        'List them with `tackroom guard plugins list`.',
      );
    return { ...settings, plugins };
  });
}

interface Loaded {
  sha256: string;
  /** Of the file when it was read: as long as it stays, nobody reads it again. */
  stamp: string;
  plugin: Plugin;
}

/** For looking at a file and reading it: a network folder may not answer for minutes. */
const READ_MS = 2000;

export class InstalledPlugins {
  /** One for each file, however often it is asked for. */
  readonly #reading = new Map<string, Promise<Loaded>>();
  #loaded = new Map<string, Loaded>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly readMs = READ_MS,
    private readonly readText = readPlugin,
  ) {}

  /** In the order of `entries`. Never rejects: what cannot run stands as unusable. */
  load(entries: readonly GuardPlugin[]): Promise<Plugin[]> {
    // One after the other: two checks must not start the same module twice.
    const result = this.#turn.then(() => this.#load(entries));
    this.#turn = result;
    return result;
  }

  #read(entry: GuardPlugin): Promise<Loaded> {
    const { path, sha256 } = entry;
    const key = `${sha256} ${path}`;
    const pending = this.#reading.get(key);
    if (pending) return pending;
    const read = async (): Promise<Loaded> => {
      const stamp = await stampOf(path);
      const known = this.#loaded.get(path);
      return known?.sha256 === sha256 && known.stamp === stamp
        ? known
        : { sha256, stamp, plugin: await open(entry, this.readText) };
    };
    const reading = read().finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  stop(): void {
    stopPlugins([...this.#loaded.values()].map(({ plugin }) => plugin));
    this.#loaded.clear();
  }

  async #load(entries: readonly GuardPlugin[]): Promise<Plugin[]> {
    const next = new Map<string, Loaded>();
    const loaded = await Promise.all(entries.map((entry) => inTime(this.#read(entry), this.readMs, () => late(entry))));
    for (const [at, { path }] of entries.entries()) next.set(path, loaded[at]!);
    const kept = new Set([...next.values()].map(({ plugin }) => plugin));
    stopPlugins([...this.#loaded.values()].flatMap(({ plugin }) => (kept.has(plugin) ? [] : [plugin])));
    this.#loaded = next;
    return [...next.values()].map(({ plugin }) => plugin);
  }
}

function late({ path, sha256 }: GuardPlugin): Loaded {
  return {
    sha256,
    stamp: 'late',
    plugin: { kind: 'unusable', name: basename(path), reason: 'cannot be read in time' },
  };
}

async function open({ path, sha256 }: GuardPlugin, readText: typeof readPlugin): Promise<Plugin> {
  const name = basename(path);
  try {
    const text = await readText(path);
    if (hashOf(text) === sha256) return pluginFrom(path, text);
    return { kind: 'unusable', name, reason: 'changed since it was added, and was not run' };
  } catch {
    return { kind: 'unusable', name, reason: 'cannot be read' };
  }
}

async function stampOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? '' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}
