/**
 * A tool call seen by what it does: commands, source text it runs, files it reads and writes, hosts it contacts.
 * Routed by argument names and shapes, so that one reading serves every harness's tools.
 */
import { codeFacts } from './code-facts.js';
import { commandHosts } from './contacts.js';
import { fileAccess, type Write } from './file-access.js';
import { hookScripts } from './hook-scripts.js';
import { urlHosts } from './hosts.js';
import { nestedScripts, programOf, unwrap } from './interpret.js';
import { ModelFiles } from './model-files.js';
import { patchedPaths } from './patch-text.js';
import { type Budget, type Command, parseShell } from './shell.js';
import { shellFunctions } from './shell-functions.js';
import { normalizePath, type Scope } from './shell-scope.js';
import { staticOutput } from './static-output.js';

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
  /** True when a limit cut the reading short. */
  cut: boolean;
}

const MAX_TEXT = 400_000;
const MAX_LOOP_WORDS = 8;
const SHELL_KEYS = /^(?:command|cmd|script|keystrokes|chars|data|shell)$/i;
const CODE_KEYS = /^(?:code|python|javascript)$/i;
const PAYLOAD_KEYS =
  /^(?:content|contents|text|new_?string|new_?text|new_?str|file_?text|patch|diff|input|insert_?text|new_?content|body)$/i;
const IGNORED_KEYS =
  /^(?:old_?string|old_?text|old_?str|description|prompt|pattern|status|priority|id|title|include|mode)$/i;
const PATH_KEYS = /^(?:path|file_?path|file|filename|paths|target|destination|notebook_path)$/i;
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
    cut: false,
  };
  const budget: Budget = { commands: 4000, characters: MAX_TEXT };
  const cwd = [args.workdir, args.cwd, args.working_directory].find((value) => typeof value === 'string') as
    | string
    | undefined;
  const own = new ModelFiles(files);
  const reader = new Reader(surface, budget, own);
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
      if (writing) surface.writes.push({ path, content: textOf(leaves) });
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

function textOf(leaves: [string, string][]): string | null {
  const found = leaves.find(([key]) => PAYLOAD_KEYS.test(key));
  return found ? found[1].slice(0, MAX_TEXT) : null;
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

function aliasOf(word: string): [string, string] {
  const at = word.indexOf('=');
  return at < 1 ? ['', ''] : [word.slice(0, at), `${word.slice(at + 1)} "$@"`];
}

function quoteAll(words: string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

class Reader {
  constructor(
    private readonly surface: Surface,
    private readonly budget: Budget,
    private readonly files: ModelFiles,
  ) {}

  shell(script: string, cwd: string, depth: number): void {
    if (depth > 6 || script.length === 0 || this.budget.characters < 0) return;
    this.surface.scripts.push(script);
    const functions = shellFunctions(script);
    for (let pick = 0, words = 1; pick < words && this.budget.commands > 0; pick++) {
      const scope: Scope = { variables: new Map(), cwd, room: 50_000, pick, loopWords: 1 };
      for (const command of parseShell(script, { scope, budget: this.budget, depth, files: this.files })) {
        for (const each of this.#throughXargs(command)) this.#command(each, depth);
        if (command.argv[0] === 'alias') for (const word of command.argv.slice(1)) functions.set(...aliasOf(word));
        const body = functions.get(command.argv[0] ?? '');
        if (body !== undefined)
          this.shell(`set -- ${quoteAll(command.argv.slice(1))}\n${body}`, command.cwd, depth + 1);
      }
      words = Math.min(MAX_LOOP_WORDS, scope.loopWords);
    }
  }

  #command(command: Command, depth: number): void {
    const { surface, files } = this;
    const argv = unwrap(command.argv);
    const assigned = command.assignments.map(([name, value]) => `${name}=${value}`);
    surface.commands.push([...assigned, ...argv].join(' ').slice(0, MAX_TEXT));
    if (argv.length !== command.argv.length) surface.commands.push(command.argv.join(' ').slice(0, MAX_TEXT));
    surface.hosts.push(...commandHosts(command, files));
    const access = fileAccess(command, files);
    surface.reads.push(...access.reads);
    surface.writes.push(...access.writes);
    for (const { path, content } of access.writes) {
      if (content === null) continue;
      surface.payloads.push(content);
      files.set(path, content);
    }
    const nested = nestedScripts(command, files);
    this.budget.characters -= nested.cost;
    nested.shell.push(...hookScripts(command));
    for (const script of nested.shell) this.shell(script, command.cwd, depth + 1);
    for (const code of nested.code) this.code(code, command.cwd, depth + 1);
  }

  /** `… | xargs rm`: what is printed, or the folder that `find` walks, becomes arguments; one command per item with `-I`. */
  #throughXargs(command: Command): Command[] {
    const { from, argv } = command;
    if (!from || !/^(?:xargs|parallel)$/.test(programOf(argv)) || argv.length > 500) return [command];
    const printed = staticOutput(from, this.files);
    const flag = argv.find((word) => /^-I|^-i$/.test(word));
    const sign = flag === '-I' ? (argv[argv.indexOf(flag) + 1] ?? '{}') : flag?.slice(2) || '{}';
    const split = argv.some((word) => /^(?:-0|--null)$/.test(word)) ? /\0/ : flag === undefined ? /\s+/ : /\n/;
    const items =
      printed !== null
        ? printed.split(split).filter(Boolean)
        : /^(?:find|ls|grep|rg|git)$/.test(programOf(from.argv))
          ? from.argv.slice(1).filter((word) => word.includes('/'))
          : [];
    const template = argv.slice(flag === '-I' ? argv.indexOf(flag) + 2 : 1);
    if (items.length === 0 || !template.some((word) => word.includes(sign)))
      return [{ ...command, argv: [...argv, ...items.slice(0, 200)] }];
    return items
      .slice(0, MAX_LOOP_WORDS)
      .map((item) => ({ ...command, argv: ['xargs', ...template.map((word) => word.replaceAll(sign, item))] }));
  }

  code(source: string, cwd: string, depth: number): void {
    this.budget.characters -= source.length;
    if (depth > 6 || this.budget.characters < 0) return;
    const { surface } = this;
    const facts = codeFacts(source);
    surface.code.push(facts.text);
    surface.hosts.push(...facts.hosts);
    const at = (path: string): string => this.files.resolve(normalizePath(path, cwd));
    surface.reads.push(...facts.paths.map(at));
    surface.writes.push(...facts.writes.map((path) => ({ path: at(path), content: null })));
    if (facts.writes.length > 0) surface.payloads.push(facts.text);
    for (const [path, target] of facts.links) this.files.link(normalizePath(path, cwd), target);
    for (const path of facts.runs) {
      const own = this.files.get(normalizePath(path, cwd));
      if (own !== undefined && own !== source) this.code(own, cwd, depth + 1);
    }
    for (const script of facts.shell) this.shell(script, cwd, depth + 1);
  }
}
