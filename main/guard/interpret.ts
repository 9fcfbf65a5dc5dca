/** What a command runs in turn: the program behind its wrappers, the scripts and the source text handed to interpreters. */
import { IMPLICIT_FILES, packageScript, recipes } from './build-scripts.js';
import type { ModelFiles } from './model-files.js';
import type { Command } from './shell.js';
import { normalizePath } from './shell-scope.js';
import { fileText, inputOf } from './static-output.js';

export interface Nested {
  shell: string[];
  /** Python, JavaScript, Perl, Ruby. */
  code: string[];
  /** Characters of build files that were read for it. */
  cost: number;
}

/** Wrappers with the options that take a word of their own. */
const WRAPPERS = new Map<string, RegExp>(
  Object.entries({
    sudo: /^-[ugpCDRTh]$/,
    doas: /^-[uC]$/,
    env: /^(?:-u|-C|--unset|--chdir|-S)$/,
    nohup: /^$/,
    setsid: /^$/,
    nice: /^-n$/,
    ionice: /^-[cn]$/,
    stdbuf: /^-[ioe]$/,
    timeout: /^-[ks]$/,
    time: /^-[fo]$/,
    command: /^$/,
    builtin: /^$/,
    exec: /^-a$/,
    xargs: /^-[InLPsdEa]$/,
    watch: /^-n$/,
    chroot: /^$/,
    unshare: /^$/,
    busybox: /^$/,
    flock: /^-[wE]$/,
    strace: /^-[eopsSPuE]$/,
    ltrace: /^-[eopsu]$/,
    taskset: /^$/,
    chrt: /^$/,
    fakeroot: /^$/,
    'systemd-run': /^-[puEtM]$/,
    parallel: /^-[jN]$/,
    sem: /^-j$/,
    setpriv: /^$/,
    catchsegv: /^$/,
    'dbus-run-session': /^$/,
    'xvfb-run': /^-[nsewf]$/,
    daemonize: /^-[cpleou]$/,
    'start-stop-daemon': /^-[pxnuc]$/,
    npx: /^(?:-p|--package)$/,
    pipx: /^$/,
    poetry: /^$/,
    pipenv: /^$/,
    uv: /^(?:--with|-p|--python)$/,
  }),
);
/** Wrappers only as `NAME run PROGRAM`. */
const RUNNERS = new Set(['poetry', 'pipenv', 'uv', 'pipx']);
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'ash', 'fish']);
const INTERPRETER = /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua)$/;

export function programOf(argv: string[]): string {
  return (argv[0] ?? '').split('/').at(-1) ?? '';
}

/** `argv` without `sudo`, `env X=1`, `timeout 5`, `xargs` and the like. */
export function unwrap(argv: string[]): string[] {
  let rest = argv;
  for (let guard = 0; guard < 12; guard++) {
    const options = WRAPPERS.get(programOf(rest));
    if (!options || rest.length < 2) return rest;
    const wrapper = programOf(rest);
    if (RUNNERS.has(wrapper) && rest[1] !== 'run') return rest;
    let at = RUNNERS.has(wrapper) ? 2 : 1;
    while (at < rest.length && (rest[at]!.startsWith('-') || (wrapper === 'env' && /^\w+=/.test(rest[at]!))))
      at += options.test(rest[at]!) ? 2 : 1;
    if (/^(?:timeout|chroot|flock|taskset|chrt)$/.test(wrapper)) at++;
    rest = rest.slice(at);
  }
  return rest;
}

/** Scripts inside `command`; `files` are texts the model wrote and may now run. */
export function nestedScripts(command: Command, files: ModelFiles): Nested {
  const nested: Nested = { shell: [], code: [], cost: 0 };
  const argv = unwrap(command.argv);
  const program = programOf(argv);
  const args = argv.slice(1);
  const file = (path: string | undefined): string | undefined => fileText(path, command, files) ?? undefined;
  const implicit = (runner: string, cwd: string): string | undefined => {
    for (const name of IMPLICIT_FILES[runner] ?? []) {
      const text = files.get(normalizePath(name, cwd === '.' ? '' : cwd));
      if (text !== undefined) {
        nested.cost += text.length;
        return text;
      }
    }
    return undefined;
  };
  const input = (): string | undefined => inputOf(command, files) ?? undefined;

  if (program === 'eval') nested.shell.push(args.join(' '));
  else if (program === 'trap' && args.length > 1) nested.shell.push(args[0]!);
  else if (program === '.' || program === 'source') push(nested.shell, file(args[0]));
  else if (program === 'find') nested.shell.push(...findExec(args));
  else if (program === 'su' || program === 'runuser' || program === 'script' || program === 'sg')
    push(nested.shell, after(args, /^(?:-[a-z]*c|--command)$/));
  else if (program === 'at' || program === 'batch') push(nested.shell, input());
  else if (program === 'crontab')
    push(nested.shell, (input() ?? file(args.at(-1)))?.replace(/^\s*(?:@\w+|(?:[\d*/,-]+\s+){5})/gm, ''));
  else if (program === 'tmux' || program === 'screen') nested.shell.push(...args.filter((arg) => /[\s/]/.test(arg)));
  else if (program === 'docker' || program === 'podman' || program === 'kubectl') {
    const at = args.findIndex((arg) => SHELLS.has(arg.split('/').at(-1)!));
    if (at >= 0) nested.shell.push(quoted(args.slice(at)));
  } else if (program === 'make' || program === 'gmake') {
    const folder = after(args, /^-C$/);
    const cwd = normalizePath(folder ?? '.', command.cwd);
    const named = after(args, /^-f$/);
    const text = named === undefined ? implicit(program, cwd) : named === '-' ? input() : file(named);
    if (named !== undefined) nested.cost += text?.length ?? 0;
    const targets = args.filter((arg) => !/^-|=/.test(arg) && arg !== folder && arg !== named);
    push(
      nested.shell,
      text &&
        [
          ...args.filter((arg) => /^\w+=/.test(arg)).map((arg) => quoted([arg]).slice(1, -1)),
          recipes(text, targets, files),
        ].join('\n'),
    );
  } else if (program === 'just') push(nested.shell, implicit(program, command.cwd)?.replace(/^\s*@/gm, ''));
  else if (/^(?:npm|pnpm|yarn|bun)$/.test(program)) {
    const text = implicit(program, command.cwd);
    const name = args.filter((arg) => !arg.startsWith('-') && arg !== 'run' && arg !== 'run-script')[0];
    if (text && name) push(nested.shell, packageScript(text, name === 't' ? 'test' : name));
  } else if (SHELLS.has(program)) {
    const at = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
    const path = args.find((arg) => !/^[-+]/.test(arg));
    if (at >= 0) push(nested.shell, args[at + 1]);
    else push(nested.shell, path === undefined ? input() : file(path));
  } else if (INTERPRETER.test(program)) {
    const at = args.findIndex(
      (arg) => /^(?:-[A-Za-z]*[ceEr]|--eval|--print|-p|-pe|eval)$/.test(arg) && !/^-(?:ie|pie)$/.test(arg),
    );
    const module = after(args, /^-m$/);
    const path = module !== undefined ? `${module.replaceAll('.', '/')}.py` : args.find((arg) => !arg.startsWith('-'));
    if (at >= 0) push(nested.code, args[at + 1]);
    else push(nested.code, path === undefined ? input() : file(path));
  } else if (/^g?awk$|^mawk$/.test(program))
    push(
      nested.code,
      args.find((arg) => !arg.startsWith('-')),
    );
  else if (argv.length > 0) {
    const own = file(argv[0]);
    if (own !== undefined) (/^#!.{0,60}(?:python|node|perl|ruby)/.test(own) ? nested.code : nested.shell).push(own);
  }
  return nested;
}

function push(list: string[], text: string | null | undefined): void {
  if (text) list.push(text);
}

/** The word behind the first one that `flag` matches. */
function after(args: string[], flag: RegExp): string | undefined {
  const at = args.findIndex((arg) => flag.test(arg));
  return at < 0 ? undefined : args[at + 1];
}

function quoted(words: string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

/** The commands after `-exec`, `-execdir`, `-ok`, quoted again. */
function findExec(args: string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < args.length; i++) {
    if (!/^-(?:exec|execdir|ok)$/.test(args[i]!)) continue;
    const end = args.findIndex((arg, j) => j > i && (arg === ';' || arg === '+'));
    const words = args.slice(i + 1, end < 0 ? undefined : end);
    out.push(quoted(words.map((word) => (word === '{}' ? (args[0] ?? word) : word))));
    i += words.length;
  }
  return out;
}
