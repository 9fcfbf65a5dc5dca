/** Commands hidden in settings: git aliases and hooks, pagers and editors in the environment, ssh's proxy command. */
import { programOf, unwrap } from './interpret.js';
import type { Command } from './shell.js';

const HOOK_VARIABLE =
  /^(?:GIT_SSH_COMMAND|GIT_SSH|GIT_PAGER|GIT_EDITOR|GIT_SEQUENCE_EDITOR|GIT_EXTERNAL_DIFF|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|PROMPT_COMMAND|LESSOPEN|SUDO_ASKPASS|SSH_ASKPASS)$/;
const GIT_COMMAND =
  /^(?:alias\.[\w-]{1,60}|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath)|diff\.external|(?:diff|merge|difftool|mergetool|filter)\.[\w-]{1,60}\.\w{1,20}|credential\.helper|sequence\.editor)$/i;

export function hookScripts(command: Command): string[] {
  const out = command.assignments.filter(([name]) => HOOK_VARIABLE.test(name)).map(([, value]) => value);
  const argv = unwrap(command.argv);
  const program = programOf(argv);
  for (const word of command.argv) {
    const pair = /^([A-Z_]{4,30})=([\s\S]+)$/.exec(word);
    if (pair && HOOK_VARIABLE.test(pair[1]!)) out.push(pair[2]!);
  }
  if (program === 'git')
    for (const [i, word] of argv.entries()) {
      const [, name = '', inline] = /^([\w.-]{3,140})(?:=([\s\S]*))?$/.exec(word) ?? [];
      const value = inline ?? argv[i + 1];
      if (!GIT_COMMAND.test(name) || value === undefined) continue;
      if (value.startsWith('!')) out.push(value.slice(1));
      else if (!name.startsWith('alias.')) out.push(value);
    }
  if (program === 'ssh' || program === 'scp' || program === 'sftp')
    for (const word of argv) {
      const proxy = /^(?:-o\s?)?(?:ProxyCommand|LocalCommand)[= ]([\s\S]+)$/i.exec(word)?.[1];
      if (proxy) out.push(proxy);
    }
  return out.filter((script) => /[\s/]/.test(script));
}
