/** What `make`, `npm run` and the like start: recipes and scripts of files that the model wrote itself. */
import { parseObject } from './json-object.js';
import type { ModelFiles } from './model-files.js';

/** File names that a runner reads without being told. */
export const IMPLICIT_FILES: Record<string, readonly string[]> = {
  make: ['GNUmakefile', 'makefile', 'Makefile'],
  gmake: ['GNUmakefile', 'Makefile'],
  just: ['justfile', 'Justfile'],
  npm: ['package.json'],
  pnpm: ['package.json'],
  yarn: ['package.json'],
  bun: ['package.json'],
};
const MAX_TARGETS = 50;

interface Target {
  /** As written, parted by blanks. */
  needs: string;
  lines: string[];
}
interface Makefile {
  rules: Map<string, Target>;
  /** As assignments of the shell. */
  variables: string[];
}
/** Of the calls that are being read: recipes run `make` again, and a file is read once for all of them. */
const READ = new WeakMap<ModelFiles, Map<string, Makefile>>();

/** Shell text of the targets in `wanted` (the first one when empty) and of what they depend on. `files`: those of the call. */
export function recipes(makefile: string, wanted: string[], files: ModelFiles): string {
  const read = READ.get(files) ?? new Map<string, Makefile>();
  READ.set(files, read);
  const { rules, variables } = read.get(makefile) ?? readMakefile(makefile);
  read.set(makefile, { rules, variables });
  const first = [...rules.keys()].find((name) => !name.startsWith('.'));
  const queue = wanted.length > 0 ? [...wanted] : first === undefined ? [] : [first];
  const seen = new Set<string>();
  const out: string[] = [];
  for (let name = queue.shift(); name !== undefined && seen.size < MAX_TARGETS; name = queue.shift()) {
    const rule = rules.get(name);
    if (!rule || seen.has(name)) continue;
    seen.add(name);
    queue.push(...rule.needs.trim().split(/\s+/));
    out.unshift(...rule.lines);
  }
  return [...variables, ...out]
    .join('\n')
    .replace(/\$[({](\w{1,60})[)}]/g, '$' + '{$1}')
    .replaceAll('$$', '$');
}

function readMakefile(text: string): Makefile {
  const rules = new Map<string, Target>();
  const variables: string[] = [];
  let current: Target[] = [];
  for (const line of text.replaceAll('\\\n', ' ').split('\n').slice(0, 5000)) {
    const recipe = /^(?:\t| {2,8})\s*[@+-]*(.*)$/.exec(line)?.[1];
    const variable = /^(?:export\s+)?([A-Za-z_]\w{0,60})\s*[:?+]{0,2}=\s*(.*)$/.exec(line);
    const rule = /^([^\s:#=][^:#=]{0,300}):{1,2}(?!=)\s*([^;=]{0,1000})(?:;(.*))?$/.exec(line);
    if (recipe !== undefined) for (const each of current) each.lines.push(recipe);
    else if (variable) variables.push(`${variable[1]}='${variable[2]!.replaceAll("'", "'\\''")}'`);
    else if (rule) {
      current = rule[1]!
        .trim()
        .split(/\s+/)
        .slice(0, MAX_TARGETS)
        .map((name) => {
          const each = { needs: rule[2]!, lines: rule[3] ? [rule[3]] : [] };
          rules.set(name, each);
          return each;
        });
    }
  }
  return { rules, variables };
}

/** The script `name` of a package.json with what runs before and after it. */
export function packageScript(text: string, name: string): string {
  const scripts = parseObject(text)?.scripts;
  if (scripts === null || typeof scripts !== 'object') return '';
  const table = scripts as Record<string, unknown>;
  return [`pre${name}`, name, `post${name}`]
    .map((key) => (Object.hasOwn(table, key) ? table[key] : undefined))
    .filter((script) => typeof script === 'string')
    .join('\n');
}
