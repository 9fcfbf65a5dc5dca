/**
 * Reads the shell and source text of one call into its surface: every command, what it reads, writes and contacts, and
 * what it runs in turn. The budget is shared by everything nested in the call.
 */
import { codeFacts } from './code-facts.js';
import { commandHosts } from './contacts.js';
import { fileAccess } from './file-access.js';
import { hookScripts } from './hook-scripts.js';
import { nestedScripts, programOf, unwrap } from './interpret.js';
import type { ModelFiles } from './model-files.js';
import { type Budget, type Command, parseShell } from './shell.js';
import { shellFunctions } from './shell-functions.js';
import { normalizePath, type Scope } from './shell-scope.js';
import { inputOf } from './static-output.js';
import type { Surface } from './surface.js';

const MAX_TEXT = 400_000;
const MAX_LOOP_WORDS = 8;
/** Into processes and named pipes, for one call. */
const MAX_DELIVERIES = 100;

function aliasOf(word: string): [string, string] {
  const at = word.indexOf('=');
  return at < 1 ? ['', ''] : [word.slice(0, at), `${word.slice(at + 1)} "$@"`];
}

function quoteAll(words: string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}
/** `command` with `text` for what it reads from a pipe. */
const given = (command: Command, text: string | null): Command => ({
  ...command,
  stdin: command.stdin ?? text,
  redirects: command.redirects.filter(({ op }) => op !== '<'),
});

export class ScriptReader {
  #deliveries = 0;

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
      const scope: Scope = {
        variables: new Map(),
        cwd,
        room: 50_000,
        pick,
        loopWords: 1,
        descriptors: new Map(),
        outputs: new Map(),
      };
      for (const command of parseShell(script, { scope, budget: this.budget, depth, files: this.files })) {
        for (const each of this.#throughXargs(command)) this.#command(each, depth);
        if (command.argv[0] === 'alias') for (const word of command.argv.slice(1)) functions.set(...aliasOf(word));
        const body = functions.get(command.argv[0] ?? '');
        if (body !== undefined) {
          const input = inputOf(command, this.files);
          const called = input === null ? body : `{\n${body}\n} <<< ${quoteAll([input])}`;
          this.shell(`set -- ${quoteAll(command.argv.slice(1))}\n${called}`, command.cwd, depth + 1);
        }
      }
      words = Math.min(MAX_LOOP_WORDS, scope.loopWords);
    }
  }

  #command(command: Command, depth: number): void {
    if (depth > 6) return;
    const { surface, files } = this;
    const argv = unwrap(command.argv);
    const assigned = command.assignments.map(([name, value]) => `${name}=${value}`);
    surface.commands.push([...assigned, ...argv].join(' ').slice(0, MAX_TEXT));
    if (argv.length !== command.argv.length) surface.commands.push(command.argv.join(' ').slice(0, MAX_TEXT));
    surface.hosts.push(...commandHosts(command, files));
    const access = fileAccess(command, files);
    surface.reads.push(...access.reads);
    surface.writes.push(...access.writes);
    for (const write of access.writes) {
      if (write.content !== null) surface.payloads.push(write.content);
      files.write(write);
      for (const reader of files.readers(write.path) ?? []) this.#deliver(reader, write.content, depth + 1);
    }
    // What comes through a pipe with a name may be written later.
    for (const path of access.reads) if (files.readers(path) !== null) files.readBy(path, [command]);
    const nested = nestedScripts(command, files);
    this.budget.characters -= nested.cost;
    nested.shell.push(...hookScripts(command));
    for (const script of nested.shell) this.shell(script, command.cwd, depth + 1);
    for (const code of nested.code) this.code(code, command.cwd, depth + 1);
  }

  /** Pipes whose readers write to pipes would go round for ever: what is left of such a call is not read, and the call counts as cut. */
  #deliver(reader: Command, text: string | null, depth: number): void {
    if (this.#deliveries++ >= MAX_DELIVERIES) this.budget.commands = 0;
    else this.#command(given(reader, text), depth);
  }

  /** `… | xargs rm`: what is printed, or the folder that `find` walks, becomes arguments; one command per item with `-I`. */
  #throughXargs(command: Command): Command[] {
    const { from, argv } = command;
    if (!/^(?:xargs|parallel)$/.test(programOf(argv)) || argv.length > 500) return [command];
    const printed = inputOf(command, this.files);
    if (printed === null && from === null) return [command];
    const flag = argv.find((word) => /^-I|^-i$/.test(word));
    const sign = flag === '-I' ? (argv[argv.indexOf(flag) + 1] ?? '{}') : flag?.slice(2) || '{}';
    const split = argv.some((word) => /^(?:-0|--null)$/.test(word)) ? /\0/ : flag === undefined ? /\s+/ : /\n/;
    const items =
      printed !== null
        ? printed.split(split).filter(Boolean)
        : from !== null && /^(?:find|ls|grep|rg|git)$/.test(programOf(from.argv))
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
