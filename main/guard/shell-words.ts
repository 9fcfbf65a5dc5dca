/**
 * Splits POSIX shell text into tokens without running it: quotes, escapes, variables of known value, substitutions,
 * heredocs. Good enough to say what a command names; the text is never executed. One pass, bounded by `ShellLimits`.
 */
import { expandVariable } from './shell-parameters.js';
import type { Scope } from './shell-scope.js';

export type Token =
  /** `quoted`: some part stood in quotes, so it is no keyword. `expanded`: some part came from a variable or a command. */
  | { kind: 'word'; text: string; quoted: boolean; expanded: boolean }
  | { kind: 'operator'; text: string }
  /** `fd`: which of the command's files, '' where none is named. `heredoc`: its text, once the line has ended. */
  | { kind: 'redirect'; op: string; fd: string; heredoc?: string };

/** Called with the inner text of `$(…)`, backticks, `<(…)` and `>(…)`; answers what it prints ('' when unknown), or for
 * `file` and `sink` the path under which a program would read it or write to it. */
export type Substitute = (script: string, as: 'text' | 'file' | 'sink') => string;

const OPERATORS = ['&&', '||', ';;', '|&', ';', '|', '&', '(', ')', '\n'];
const REDIRECT = /(\d{0,3}|&|\{[A-Za-z_]\w{0,100}\})(?:<<<|<<-|<<|>>|>\||>&|<&|<>|&>>|&>|>|<)/y;

export class ShellLexer {
  #at = 0;
  #heredocs = 0;
  readonly #pending: {
    strip: boolean;
    token: Extract<Token, { kind: 'redirect' }>;
    delimiter: string;
    literal: boolean;
  }[] = [];

  constructor(
    private readonly text: string,
    private readonly scope: Scope,
    private readonly substitute: Substitute,
    /** Of the here-documents, in order. */
    private readonly bodies: readonly string[] = [],
  ) {}

  /** The next token, or null at the end. */
  next(): Token | null {
    const { text } = this;
    for (; this.#at < text.length; this.#at++) {
      const c = text[this.#at]!;
      if (c === '\\' && text[this.#at + 1] === '\n') this.#at++;
      else if (c === '#') this.#skipComment();
      else if (c !== ' ' && c !== '\t' && c !== '\r') break;
    }
    if (this.#at >= text.length) return null;
    REDIRECT.lastIndex = this.#at;
    const redirect = REDIRECT.exec(text)?.[0];
    if (redirect && !/^[<>]\($/.test(text.slice(this.#at, this.#at + 2))) return this.#redirect(redirect);
    const operator = OPERATORS.find((op) => text.startsWith(op, this.#at));
    if (operator) {
      this.#at += operator.length;
      if (operator === '\n') this.#readHeredocs();
      return { kind: 'operator', text: operator };
    }
    return this.#word();
  }

  #skipComment(): void {
    const end = this.text.indexOf('\n', this.#at);
    this.#at = (end < 0 ? this.text.length : end) - 1;
  }

  #redirect(raw: string): Token {
    this.#at += raw.length;
    const fd = /^[^<>&]*/.exec(raw)![0];
    const op = raw.slice(fd.length);
    const token: Extract<Token, { kind: 'redirect' }> = { kind: 'redirect', op, fd };
    if (op === '<<' || op === '<<-') {
      this.#at += /^[ \t]*/.exec(this.text.slice(this.#at, this.#at + 64))?.[0].length ?? 0;
      const from = this.#at;
      const word = this.#word();
      const literal = /['"\\]/.test(this.text.slice(from, this.#at));
      // Where commands on the same line already read it, an earlier reading knows it.
      token.heredoc = this.bodies[this.#heredocs++] ?? '';
      this.#pending.push({ strip: op === '<<-', token, delimiter: word.text, literal });
    }
    return token;
  }

  #readHeredocs(): void {
    for (const { strip, token, delimiter, literal } of this.#pending.splice(0)) {
      const lines: string[] = [];
      while (this.#at < this.text.length) {
        const end = this.text.indexOf('\n', this.#at);
        let line = this.text.slice(this.#at, end < 0 ? undefined : end);
        this.#at = end < 0 ? this.text.length : end + 1;
        if (strip) line = line.replace(/^\t+/, '');
        if (line === delimiter) break;
        lines.push(line);
      }
      const body = lines.join('\n');
      token.heredoc = literal ? body : new ShellLexer(body, this.scope, this.substitute).#expandAll();
    }
  }

  /** A heredoc body: only `$` and backticks are special. */
  #expandAll(): string {
    let out = '';
    while (this.#at < this.text.length) {
      const c = this.text[this.#at]!;
      if (c === '\\' && '$`\\'.includes(this.text[this.#at + 1] ?? ' ')) {
        out += this.text[this.#at + 1];
        this.#at += 2;
      } else if (c === '$' || c === '`') out += this.#dollar();
      else {
        out += c;
        this.#at++;
      }
    }
    return out;
  }

  #word(): Extract<Token, { kind: 'word' }> {
    const { text } = this;
    let out = '';
    let quoted = false;
    let expanded = false;
    while (this.#at < text.length) {
      const c = text[this.#at]!;
      if (c === "'") {
        quoted = true;
        const end = text.indexOf("'", this.#at + 1);
        out += text.slice(this.#at + 1, end < 0 ? undefined : end);
        this.#at = end < 0 ? text.length : end + 1;
      } else if (c === '"') {
        quoted = true;
        out += this.#doubleQuoted();
      } else if (c === '\\') {
        if (text[this.#at + 1] !== '\n') out += text[this.#at + 1] ?? '';
        this.#at += 2;
      } else if (c === '$' || c === '`') {
        if (text[this.#at + 1] !== "'") expanded = true;
        out += this.#dollar();
      } else if ((c === '<' || c === '>') && text[this.#at + 1] === '(') {
        this.#at++;
        out += this.substitute(this.#parenthesised(), c === '<' ? 'file' : 'sink');
      } else if (' \t\r\n;|&()<>'.includes(c)) break;
      else {
        out += c;
        this.#at++;
      }
    }
    return { kind: 'word', text: out, quoted, expanded };
  }

  #doubleQuoted(): string {
    let out = '';
    this.#at++;
    while (this.#at < this.text.length) {
      const c = this.text[this.#at]!;
      if (c === '"') {
        this.#at++;
        break;
      }
      if (c === '\\') {
        const next = this.text[this.#at + 1] ?? '';
        out += next === '\n' ? '' : '$`"\\'.includes(next) ? next : c + next;
        this.#at += 2;
      } else if (c === '$' || c === '`') out += this.#dollar();
      else {
        out += c;
        this.#at++;
      }
    }
    return out;
  }

  /** At `$` or a backtick: a substitution, a variable, an ANSI-C string, or the plain sign. */
  #dollar(): string {
    const { text } = this;
    if (text[this.#at] === '`') {
      const end = text.indexOf('`', this.#at + 1);
      const inner = text.slice(this.#at + 1, end < 0 ? undefined : end);
      this.#at = end < 0 ? text.length : end + 1;
      return this.substitute(inner.replaceAll('\\`', '`'), 'text');
    }
    const next = text[this.#at + 1];
    if (next === '(') {
      this.#at++;
      return this.substitute(this.#parenthesised(), 'text');
    }
    if (next === "'") {
      const match = /\$'((?:[^'\\]|\\[\s\S]){0,20000})'?/y;
      match.lastIndex = this.#at;
      const body = match.exec(text);
      this.#at += body?.[0].length ?? 2;
      return ansiC(body?.[1] ?? '');
    }
    const name = /\$(?:\{[^{}]{0,200}\}|[A-Za-z_]\w{0,100}|[0-9@*#?!$-])/y;
    name.lastIndex = this.#at;
    const variable = name.exec(text)?.[0];
    this.#at += variable?.length ?? 1;
    return variable ? expandVariable(variable, this.scope) : '$';
  }

  /** At `(`: the text up to the matching `)`, quotes respected; moves behind it. */
  #parenthesised(): string {
    const { text } = this;
    const start = ++this.#at;
    let depth = 1;
    let quote = '';
    for (; this.#at < text.length; this.#at++) {
      const c = text[this.#at]!;
      if (c === '\\' && quote !== "'") this.#at++;
      else if (quote) quote = c === quote ? '' : quote;
      else if (c === "'" || c === '"') quote = c;
      else if (c === '(') depth++;
      else if (c === ')' && --depth === 0) break;
    }
    return text.slice(start, this.#at++);
  }
}

/** Escapes of `$'…'` that can hide a name. */
function ansiC(body: string): string {
  return body.replace(/\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|[0-7]{1,3}|[\s\S])/g, (_, sequence: string) => {
    if (/^[xu][0-9a-fA-F]/.test(sequence)) return String.fromCharCode(Number.parseInt(sequence.slice(1), 16));
    if (/^[0-7]/.test(sequence)) return String.fromCharCode(Number.parseInt(sequence, 8));
    return { n: '\n', t: '\t', r: '\r', '0': '\0' }[sequence] ?? sequence;
  });
}
