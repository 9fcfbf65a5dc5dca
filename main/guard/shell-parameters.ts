/** `${NAME…}` of POSIX and bash: defaults, lengths, cuts, slices, replacements, case. Unknown names stay as written. */
import type { Scope } from './shell-scope.js';

const FORM = /^\$\{([!#]?)([A-Za-z_]\w{0,100}|[0-9@*#?!$-])(\[[^\]]{0,40}\])?([\s\S]*)\}$/;

/** The value of `written` (`$X` or `${X…}`), capped by the room that is left. */
export function expandVariable(written: string, scope: Scope): string {
  if (scope.room <= 0) return '';
  const value = lookUp(written, scope);
  scope.room -= value.length;
  return value;
}

function lookUp(written: string, scope: Scope): string {
  const form = FORM.exec(written);
  if (!form) return scope.variables.get(written.slice(1)) ?? written;
  const [, sign, name = '', index = '', operation = ''] = form;
  const key = index && index !== '[@]' && index !== '[*]' && index !== '[0]' ? `${name}${index}` : name;
  let value = scope.variables.get(key);
  if (sign === '#') return value === undefined ? written : String(value.length);
  if (sign === '!' && value !== undefined) value = scope.variables.get(value);
  const fallback = /^:?[-=]([\s\S]*)$/.exec(operation);
  if (fallback)
    return value || fallback[1]!.replace(/\$\{?(\w+)\}?/g, (all, inner: string) => scope.variables.get(inner) ?? all);
  const instead = /^:?\+([\s\S]*)$/.exec(operation);
  if (instead) return value === undefined ? '' : instead[1]!;
  return value === undefined ? written : change(value, operation);
}

function change(value: string, operation: string): string {
  const slice = /^:\s*(-?\d{1,5})(?::\s*(-?\d{1,5}))?$/.exec(operation);
  if (slice) {
    const start = Number(slice[1]) < 0 ? Math.max(0, value.length + Number(slice[1])) : Number(slice[1]);
    if (slice[2] === undefined) return value.slice(start);
    const length = Number(slice[2]);
    return value.slice(start, length < 0 ? length : start + length);
  }
  const replace = /^(\/\/?[#%]?)((?:[^/\\]|\\[\s\S]){1,100})(?:\/([\s\S]*))?$/.exec(operation);
  if (replace) {
    const what = replace[2]!.replace(/\\(.)/g, '$1');
    const by = replace[3] ?? '';
    return replace[1]!.startsWith('//') ? value.replaceAll(what, by) : value.replace(what, () => by);
  }
  const cut = /^(##?|%%?)([\s\S]{0,100})$/.exec(operation);
  if (cut) return cutAway(value, cut[1]!, cut[2]!);
  if (operation === '^^') return value.toUpperCase();
  if (operation === ',,') return value.toLowerCase();
  if (operation === '^') return value.slice(0, 1).toUpperCase() + value.slice(1);
  if (operation === ',') return value.slice(0, 1).toLowerCase() + value.slice(1);
  return value;
}

/** Takes the shortest or longest piece that fits `pattern` off the front or the end; `*` is the one wildcard. */
function cutAway(value: string, side: string, pattern: string): string {
  const longest = side.length === 2;
  const star = pattern.indexOf('*');
  if (side.startsWith('#')) {
    if (star < 0) return value.startsWith(pattern) ? value.slice(pattern.length) : value;
    const tail = pattern.slice(star + 1);
    const at = longest ? value.lastIndexOf(tail) : value.indexOf(tail);
    return at < 0 || !value.startsWith(pattern.slice(0, star)) ? value : value.slice(at + tail.length);
  }
  if (star < 0) return value.endsWith(pattern) ? value.slice(0, value.length - pattern.length) : value;
  const head = pattern.slice(0, star);
  const at = longest ? value.indexOf(head) : value.lastIndexOf(head);
  return at < 0 || !value.endsWith(pattern.slice(star + 1)) ? value : value.slice(0, at);
}
