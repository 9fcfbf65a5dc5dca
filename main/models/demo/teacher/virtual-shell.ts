import type { Command } from './commands.js';
import { PythonError, readRows } from './python-values.js';

const ANSWER_REDIRECT = / > (\S+)$/;

/**
 * Runs the few commands the teacher uses on files in memory and gives the text pi's bash tool would return: output, then
 * "Command exited with code N" where N is not 0, "(no output)" where there is none.
 */
export class VirtualShell {
  readonly files: Record<string, string>;

  constructor(files: Record<string, string>) {
    this.files = { ...files };
  }

  /** Runs a command; with `into`, its standard output goes to that file. */
  run(command: Command, into?: string): string {
    // A shell opens the target before the program starts.
    if (into) this.files[into] = '';
    const { stdout, stderr = '', code = 0 } = command.python ? this.python(command.python) : this.shell(command.text);
    if (into) this.files[into] = stdout;
    const shown = (into ? '' : stdout) + stderr;
    return code === 0 ? shown || '(no output)' : `${shown || '(no output)'}\n\nCommand exited with code ${code}`;
  }

  private python(program: NonNullable<Command['python']>): Output {
    const text = this.files[program.file];
    try {
      if (text === undefined)
        throw new PythonError(`FileNotFoundError: [Errno 2] No such file or directory: '${program.file}'`);
      return { stdout: `${program.print(readRows(text, program.file.endsWith('.json') ? 'json' : 'csv'))}\n` };
    } catch (error) {
      if (error instanceof PythonError) return { stdout: '', stderr: error.traceback(), code: 1 };
      throw error;
    }
  }

  private shell(text: string): Output {
    if (ANSWER_REDIRECT.test(text)) throw new Error('Redirection is given by the parameter.');
    if (text === 'ls')
      return {
        stdout: Object.keys(this.files)
          .sort()
          .map((name) => `${name}\n`)
          .join(''),
      };
    const echo = /^echo (.*)$/.exec(text);
    if (echo) return { stdout: `${echo[1]}\n` };
    const counted = /^python3 -c "print\(sum\('(.*)' in l for l in open\('(.*)'\)\)\)"$/.exec(text);
    if (counted)
      return { stdout: `${linesOf(this.files[counted[2]!]!).filter((line) => line.includes(counted[1]!)).length}\n` };
    const match = /^(head -\d+|cat|wc -l <|wc -l|grep -(?:vc|ci|c) '[^']*') (\S+)$/.exec(text);
    if (!match) throw new Error(`The virtual shell does not know this command: ${text}`);
    const [, program, file] = match as unknown as [string, string, string];
    const content = this.files[file];
    return content === undefined ? missing(program, file) : filter(program, file, content);
  }
}

interface Output {
  stdout: string;
  stderr?: string;
  code?: number;
}

function missing(program: string, file: string): Output {
  const name = program.split(' ')[0]!;
  const reason = 'No such file or directory';
  if (program === 'wc -l <') return { stdout: '', stderr: `/bin/bash: line 1: ${file}: ${reason}\n`, code: 1 };
  if (name === 'head') return { stdout: '', stderr: `head: cannot open '${file}' for reading: ${reason}\n`, code: 1 };
  return { stdout: '', stderr: `${name}: ${file}: ${reason}\n`, code: name === 'grep' ? 2 : 1 };
}

function filter(program: string, file: string, content: string): Output {
  const lines = linesOf(content);
  if (program === 'cat') return { stdout: content };
  if (program === 'wc -l') return { stdout: `${lines.length} ${file}\n` };
  if (program === 'wc -l <') return { stdout: `${lines.length}\n` };
  const head = /^head -(\d+)$/.exec(program);
  if (head)
    return {
      stdout: lines
        .slice(0, Number(head[1]))
        .map((line) => `${line}\n`)
        .join(''),
    };
  const [, option, word] = /^grep -(vc|ci|c) '(.*)'$/.exec(program) as unknown as [string, string, string];
  const fold = (text: string) => (option === 'ci' ? text.toLowerCase() : text);
  const count = lines.filter((line) => fold(line).includes(fold(word)) !== (option === 'vc')).length;
  return { stdout: `${count}\n`, code: count === 0 ? 1 : 0 };
}

function linesOf(content: string): string[] {
  return content.split('\n').slice(0, -1);
}
