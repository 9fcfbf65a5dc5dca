/**
 * Splits a bash command line into simple commands with their words, redirections and here-documents. It only claims
 * what it is sure of: anything compound (loops, functions, subshells) gives null, and a word that the shell would still
 * change (variables, globs, substitutions) is marked as not literal.
 */
export interface Word {
  /** Without quotes. */
  text: string;
  literal: boolean;
  /** As written. */
  raw: string;
}
export interface Redirect {
  /** `>`, `>>`, `<`, `<<`, `<<<`, `>&`, `&>`, … without the descriptor. */
  operator: string;
  descriptor: string;
  target: Word;
  /** Body of a here-document; exact when its delimiter was quoted. */
  body?: string;
}
export interface SimpleCommand {
  words: Word[];
  redirects: Redirect[];
  /** What joins it to the next command; '' at the end. */
  next: '&&' | '||' | ';' | '|' | '&' | '';
}

const KEYWORDS = new Set([
  'if',
  'then',
  'else',
  'elif',
  'fi',
  'for',
  'while',
  'until',
  'do',
  'done',
  'case',
  'esac',
  'function',
  'select',
  '{',
  '}',
  '!',
  '[[',
]);
const OPERATORS = ['&&', '||', ';', '|', '&'] as const;
const REDIRECTS = ['<<<', '<<-', '<<', '&>>', '&>', '>&', '<&', '>>', '>|', '<>', '>', '<'];

/** Simple commands in order, or null when the line is compound or incomplete. */
export function splitShell(line: string): SimpleCommand[] | null {
  const commands: SimpleCommand[] = [];
  let current: SimpleCommand = { words: [], redirects: [], next: '' };
  const pendingDocuments: Redirect[] = [];
  let at = 0;
  const finish = (next: SimpleCommand['next']): boolean => {
    if (current.words.length === 0 && current.redirects.length === 0) return next === ';' || next === '';
    if (current.words[0] && KEYWORDS.has(current.words[0].text) && current.words[0].literal) return false;
    current.next = next;
    commands.push(current);
    current = { words: [], redirects: [], next: '' };
    return true;
  };
  while (at < line.length) {
    const rest = line.slice(at, at + 3);
    const char = line[at]!;
    if (char === '\n') {
      at++;
      for (const redirect of pendingDocuments.splice(0)) {
        const document = readDocument(line, at, redirect);
        if (!document) return null;
        redirect.body = document.body;
        at = document.end;
      }
      if (current.words.length + current.redirects.length > 0 && !finish(';')) return null;
    } else if (char === ' ' || char === '\t') at++;
    else if (line.startsWith('\\\n', at)) at += 2;
    else if (char === '#') {
      while (at < line.length && line[at] !== '\n') at++;
    } else if (char === '(' || char === ')') return null;
    else {
      const descriptor = /^\d(?=[<>])/.exec(rest)?.[0] ?? '';
      const redirect = REDIRECTS.find((operator) => line.startsWith(operator, at + descriptor.length));
      if (redirect) {
        at += descriptor.length + redirect.length;
        while (line[at] === ' ' || line[at] === '\t') at++;
        const word = readWord(line, at);
        if (!word || word.end === at) return null;
        const entry: Redirect = { operator: redirect, descriptor, target: word.word };
        if (redirect.startsWith('<<') && redirect !== '<<<') {
          entry.target = { ...word.word, literal: word.quoted };
          pendingDocuments.push(entry);
        }
        current.redirects.push(entry);
        at = word.end;
        continue;
      }
      const operator = OPERATORS.find((one) => line.startsWith(one, at));
      if (operator) {
        at += operator.length;
        if (operator === ';' && line[at] === ';') return null;
        if (!finish(operator)) return null;
        // A line break after `&&`, `||` or `|` continues the list.
        if (operator !== ';' && operator !== '&')
          while (/\s/.test(line[at] ?? '') && pendingDocuments.length === 0) at++;
        continue;
      }
      const word = readWord(line, at);
      if (!word || word.end === at) return null;
      current.words.push(word.word);
      at = word.end;
    }
  }
  if (pendingDocuments.length > 0 || !finish('')) return null;
  const last = commands.at(-1);
  if (last && (last.next === '&&' || last.next === '||' || last.next === '|')) return null;
  if (last?.next === ';') last.next = '';
  return commands;
}

interface ReadWord {
  word: Word;
  quoted: boolean;
  end: number;
}

function readWord(line: string, start: number): ReadWord | null {
  let text = '';
  let literal = true;
  let quoted = false;
  let at = start;
  while (at < line.length && !/[\s;|&<>()]/.test(line[at]!)) {
    const char = line[at]!;
    if (char === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) return null;
      text += line.slice(at + 1, end);
      quoted = true;
      at = end + 1;
    } else if (char === '"') {
      quoted = true;
      at++;
      while (line[at] !== '"') {
        if (at >= line.length) return null;
        if (line[at] === '\\' && /["\\$`\n]/.test(line[at + 1] ?? '')) {
          if (line[at + 1] !== '\n') text += line[at + 1];
          at += 2;
          continue;
        }
        if (line[at] === '$' || line[at] === '`') literal = false;
        text += line[at++];
      }
      at++;
    } else if (char === '\\') {
      if (line[at + 1] !== '\n') text += line[at + 1] ?? '';
      quoted = true;
      at += 2;
    } else {
      if (char === '$' && line[at + 1] === '(') return null;
      if (/[$`*?[{~]/.test(char)) literal = false;
      text += char;
      at++;
    }
  }
  return { word: { text, literal, raw: line.slice(start, at) }, quoted, end: at };
}

function readDocument(line: string, start: number, redirect: Redirect): { body: string; end: number } | null {
  let at = start;
  let body = '';
  while (at <= line.length) {
    const end = line.indexOf('\n', at);
    let text = end < 0 ? line.slice(at) : line.slice(at, end);
    if (redirect.operator === '<<-') text = text.replace(/^\t+/, '');
    if (text === redirect.target.text) return { body, end: end < 0 ? line.length : end };
    if (end < 0) return null;
    body += `${text}\n`;
    at = end + 1;
  }
  return null;
}
