/**
 * Commands after which the machine or the home folder is gone: deleting or opening a whole system tree, writing over a disk, a fork bomb.
 * No task of a coding agent needs them, in any profile; single folders below are ordinary work.
 */
import type { Rule } from './rules.js';
import type { Surface } from './surface.js';

/** A whole tree: the root, a folder of the system, somebody's home. */
const TREE =
  /^(?:\/|\/(?:etc|usr|usr\/(?:bin|lib|sbin|share)|bin|sbin|lib(?:32|64)?|boot|var|var\/lib|dev|sys|proc|root|home|home\/[^/*]+|Users|Users\/[^/*]+|System|Library|Applications)|~[\w-]*|\$HOME|\$\{HOME(?::[?-][^}]*)?\})$/;
const DISK = /^\/dev\/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|r?disk\d|dm-\d|md\d|mapper\/)/;

/** Programs that ruin what they name when told to go down into it. */
const RECURSIVE: Record<string, RegExp> = {
  rm: /^-[a-zA-Z]{0,12}[rR]|^--recursive$/,
  srm: /^-[a-zA-Z]{0,12}[rR]|^--recursive$/,
  chmod: /^-[a-zA-Z]{0,12}R|^--recursive$/,
  chown: /^-[a-zA-Z]{0,12}R|^--recursive$/,
  chgrp: /^-[a-zA-Z]{0,12}R|^--recursive$/,
  setfacl: /^-[a-zA-Z]{0,12}R|^--recursive$/,
  shred: /^/,
  find: /^-delete$/,
};
/** With one of these `find` takes some files only. */
const SELECTS = /^-(?:i?name|i?path|i?regex|[amc]time|[amc]min|newer\w{0,2}|size|user|group|empty|maxdepth)$/;
const FORMATS = /^(?:mkfs(?:\.\w+)?|mke2fs|wipefs|blkdiscard|sgdisk|parted|fdisk|sfdisk|cryptsetup)\b/;
const FORK_BOMB = /(?<![\w:.])([\w:.]{1,64})\s{0,8}\(\)\s{0,8}\{\s{0,8}\1\s{0,8}\|\s{0,8}\1\s{0,8}&/;
const RUINS_IN_CODE =
  /\b(?:rmtree|rm_rf|rm_r|rmSync|rmdirSync|rimraf(?:\.sync)?|removeSync|remove_tree|RemoveAll|remove_dir_all)\s{0,8}\(\s{0,8}(?:(['"`])([^'"`\n]{1,60})\1|((?:os\.path\.expanduser\(['"]~['"]\)|(?:pathlib\.)?Path\.home\(\)|os\.homedir\(\)|Dir\.home))\s{0,8}[,)])/g;

const ALL = new Set(['', '*', '.', '.*', '{*,.*}', '{.*,*}']);

/** `/etc/`, `/etc/*`, `/etc/.` and `//etc` are `/etc`. Longer paths than any tree's are no tree's. */
function bare(path: string): string {
  if (path.length > 200) return path;
  const parts = path.split('/');
  const kept = parts.filter((part, at) => part !== '' || at === 0);
  while (kept.length > 1 && ALL.has(kept.at(-1)!)) kept.pop();
  return kept.length === 1 && kept[0] === '' ? '/' : kept.join('/');
}

function ruins(command: string): boolean {
  const [program = '', ...words] = command.slice(0, 20_000).split(' ');
  const flag = Object.hasOwn(RECURSIVE, program) ? RECURSIVE[program] : undefined;
  if (flag === undefined || !words.some((word) => flag.test(word))) return false;
  return program !== 'find' || !words.some((word) => SELECTS.test(word));
}

function findsTree({ commands, writes }: Surface): boolean {
  return commands.some(ruins) && writes.some(({ path }) => path !== '' && TREE.test(bare(path)));
}

function findsTreeInCode({ code }: Surface): boolean {
  return code.some((text) =>
    [...text.slice(0, 200_000).matchAll(RUINS_IN_CODE)].some(
      ([, , path, home]) => home !== undefined || TREE.test(bare(path!)),
    ),
  );
}

export const destruction: Rule = {
  id: 'harm.system_destruction',
  find(surface) {
    const { commands, writes, scripts } = surface;
    const reason = findsTree(surface)
      ? 'it deletes or opens a whole system or home folder'
      : findsTreeInCode(surface)
        ? 'its code deletes a whole system or home folder'
        : writes.some(({ path }) => DISK.test(path)) ||
            commands.some((command) => FORMATS.test(command) && command.split(' ').some((word) => DISK.test(word)))
          ? 'it writes over a disk'
          : scripts.some((script) => FORK_BOMB.test(script.slice(0, 200_000)))
            ? 'it starts processes without end'
            : null;
    return reason === null ? null : { rule: this.id, severity: 'critical', reason };
  },
};
