/**
 * A tool call seen by what it does: commands, source text it runs, files it reads and writes, hosts it contacts.
 * Routed by argument names and shapes, so that one reading serves every harness's tools.
 */
import type { Write } from './file-access.js';
import { urlHosts } from './hosts.js';
import { ModelFiles } from './model-files.js';
import { patchedPaths } from './patch-text.js';
import { ScriptReader } from './script-reader.js';
import type { Budget } from './shell.js';
import { normalizePath } from './shell-scope.js';

export interface Surface {
  /** Shell text as given, nested scripts too. */
  scripts: string[];
  /** Every simple command, nested ones too, wrappers removed, words joined by one space. */
  commands: string[];
  /** Source text handed to an interpreter. */
  code: string[];
  reads: string[];
  writes: Write[];
  /** Text that ends up in a file. */
  payloads: string[];
  urls: string[];
  queries: string[];
  /** Strings that no name or shape puts anywhere else. */
  others: string[];
  /** Hosts it contacts. */
  hosts: string[];
  /** Links it makes: name and where it leads. */
  links: [string, string][];
  /** What the reading rests on beside the call: see `ModelFiles.followed`. */
  followed: ReadonlyMap<string, string>;
  /** True when a limit cut the reading short. */
  cut: boolean;
}

const MAX_TEXT = 400_000;
const SHELL_KEYS = /^(?:command|cmd|script|keystrokes|chars|data|shell)$/i;
const CODE_KEYS = /^(?:code|python|javascript)$/i;
const PAYLOAD_KEYS =
  /^(?:content|contents|text|new_?string|new_?text|new_?str|file_?text|patch|diff|input|insert_?text|new_?content|body)$/i;
const IGNORED_KEYS =
  /^(?:old_?string|old_?text|old_?str|description|prompt|pattern|status|priority|id|title|include|mode)$/i;
const PATH_KEYS = /^(?:path|file_?path|file|filename|paths|target|destination|notebook_path)$/i;
const WHOLE_KEYS = /^(?:content|contents|file_?text|path|file_?path|file|filename)$/i;
const IDLE_KEYS = /^(?:description|explanation|title|id)$/i;
const WRITE_TOOL = /write|edit|patch|create|replace|insert|save/i;

export function readCall(name: string, args: Record<string, unknown>, files: ModelFiles = new ModelFiles()): Surface {
  const surface: Surface = {
    scripts: [],
    commands: [],
    code: [],
    reads: [],
    writes: [],
    payloads: [],
    urls: [],
    queries: [],
    others: [],
    hosts: [],
    links: [],
    followed: new Map(),
    cut: false,
  };
  const budget: Budget = { commands: 4000, characters: MAX_TEXT };
  const cwd = [args.workdir, args.cwd, args.working_directory].find((value) => typeof value === 'string') as
    | string
    | undefined;
  const own = new ModelFiles(files);
  const reader = new ScriptReader(surface, budget, own);
  const leaves = flatten(args);
  const writing = WRITE_TOOL.test(name);
  for (const [key, value] of leaves) {
    if (SHELL_KEYS.test(key)) reader.shell(value, cwd ?? '', 0);
    else if (CODE_KEYS.test(key)) reader.code(value, cwd ?? '', 0);
    else if (PAYLOAD_KEYS.test(key)) {
      surface.payloads.push(value.slice(0, MAX_TEXT));
      for (const path of patchedPaths(value.slice(0, MAX_TEXT)))
        surface.writes.push({ path: own.resolve(normalizePath(path, cwd)), content: null });
    } else if (PATH_KEYS.test(key)) {
      const path = own.resolve(normalizePath(value.slice(0, 4096), cwd));
      if (writing) surface.writes.push(editOf(path, leaves, own) ?? writeOf(path, leaves));
      else surface.reads.push(path);
      if (/^[a-z]{2,8}:\/\//i.test(value)) surface.urls.push(value);
    } else if (IGNORED_KEYS.test(key) || (key === 'content' && !writing)) continue;
    else if (/^[a-z]{2,8}:\/\//i.test(value) || /^(?:url|urls|uri|endpoint)$/i.test(key))
      surface.urls.push(value.slice(0, 4096));
    else if (/^(?:query|q)$/i.test(key)) surface.queries.push(value.slice(0, 4096));
    else if (/^[~.]?\//.test(value)) surface.reads.push(own.resolve(normalizePath(value.slice(0, 4096), cwd)));
    else surface.others.push(value.slice(0, MAX_TEXT));
  }
  for (const url of surface.urls)
    for (const host of urlHosts(url.includes('://') ? url : `https://${url}`)) surface.hosts.push(host);
  surface.hosts = [...new Set(surface.hosts)];
  surface.reads = surface.reads.map(expandRootGlob);
  surface.writes = surface.writes.map((write) => ({ ...write, path: expandRootGlob(write.path) }));
  surface.links = [...own.links];
  surface.followed = own.followed;
  surface.cut = budget.characters < 0 || budget.commands <= 0;
  return surface;
}

const GUARDED_FOLDERS = ['tests', 'solution', 'oracle', 'logs'];

/** `/te?ts/x` as the shell would find it, where the first folder is a pattern for one of the guarded folders. */
function expandRootGlob(path: string): string {
  const first = /^\/([^/]{0,60}[?*[][^/]{0,60})(\/.*)?$/s.exec(path);
  if (!first) return path;
  const pattern = first[1]!
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  try {
    const folder = GUARDED_FOLDERS.find((name) => new RegExp(`^${pattern}$`).test(name));
    return folder && pattern !== '.*' ? `/${folder}${first[2] ?? ''}` : path;
  } catch {
    return path;
  }
}

/** A tool that is given the text alone puts it in place of what was there; one that is given more changes a part. */
function writeOf(path: string, leaves: [string, string][]): Write {
  const texts = leaves.filter(([key]) => PAYLOAD_KEYS.test(key));
  const content = texts[0]?.[1] ?? null;
  const whole =
    texts.length === 1 &&
    content!.length <= MAX_TEXT &&
    leaves.every(([key]) => WHOLE_KEYS.test(key) || IDLE_KEYS.test(key));
  return { path, content: content?.slice(0, MAX_TEXT) ?? null, ...(whole && { effect: 'whole' }) };
}

const OLD_KEYS = /^old_?(?:string|text|str)$/i;
const NEW_KEYS = /^new_?(?:string|text|str)$/i;

/** The file after the edits, where its text is known and holds everything that they replace. */
function editOf(path: string, leaves: [string, string][], files: ModelFiles): Write | null {
  if (!leaves.some(([key]) => OLD_KEYS.test(key))) return null;
  let text = files.get(path);
  let old: string | null = null;
  for (const [key, value] of leaves) {
    if (OLD_KEYS.test(key)) old = value;
    else if (NEW_KEYS.test(key)) {
      if (text === undefined || !old || !text.includes(old)) return null;
      const parts = text.split(old);
      if (text.length + (parts.length - 1) * (value.length - old.length) > MAX_TEXT) return null;
      text = parts.join(value);
      old = null;
    }
  }
  return text === undefined ? null : { path, content: text, effect: 'replaced' };
}

/** Strings inside `value` with the nearest key; bounded in depth and number. */
function flatten(value: unknown, key = '', out: [string, string][] = [], depth = 0): [string, string][] {
  if (out.length > 2000 || depth > 12) return out;
  if (typeof value === 'string') out.push([key, value]);
  else if (Array.isArray(value)) {
    if (/^(?:command|cmd|argv|args)$/i.test(key) && value.every((word) => typeof word === 'string'))
      out.push(['command', value.map((word: string) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')]);
    else for (const item of value) flatten(item, key, out, depth + 1);
  } else if (value && typeof value === 'object')
    for (const [name, item] of Object.entries(value)) flatten(item, name, out, depth + 1);
  return out;
}
