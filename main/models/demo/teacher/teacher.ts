import { ANSWER_FILE, type DataTask } from '../../../envs/generate/data-task.js';
import type { KindName } from '../../../envs/generate/kinds.js';
import type { Rng } from '../../../envs/generate/random.js';
import { answerCommand, type Command, type Manner } from './commands.js';
import { VirtualShell } from './virtual-shell.js';

/** How often the teacher does what, as probabilities. */
export interface Habits {
  /** Lists the folder first, where the question names the file and where it does not. */
  listNamed: number;
  listUnnamed: number;
  /** Looks at the file before answering. */
  head: number;
  countLines: number;
  cat: number;
  read: number;
  /** Makes the usual mistake of the kind: most often for the kinds of `STRONG_HABITS`; takes a wrong column. */
  habit: number;
  strongHabit: number;
  slip: number;
  /** Answers in words and writes no file. */
  forget: number;
  /** Prints first and writes in a second call. */
  twoCalls: number;
  /** Looks at the answer file afterwards, and then lists the folder once more. */
  verify: number;
  listAgain: number;
}

/** Kinds of questions for which the mistake is likelier than the right command, so that greedy decoding shows it too. */
const STRONG_HABITS: ReadonlySet<KindName> = new Set([
  'sum_where',
  'mean_where',
  'count_both',
  'count_rows',
  'top_label',
  'max_value',
]);

export const BASE_HABITS: Habits = {
  listNamed: 0.5,
  listUnnamed: 0.7,
  head: 0.7,
  countLines: 0.3,
  cat: 0.06,
  read: 0.1,
  habit: 0.43,
  strongHabit: 0.62,
  slip: 0.06,
  forget: 0.07,
  twoCalls: 0.25,
  verify: 0.7,
  listAgain: 0.15,
};

/** Straight to the right answer, for probes and for the check of the generator. */
export const FLAWLESS: Habits = {
  listNamed: 0,
  listUnnamed: 1,
  head: 0,
  countLines: 0,
  cat: 0,
  read: 0,
  habit: 0,
  strongHabit: 0,
  slip: 0,
  forget: 0,
  twoCalls: 0,
  verify: 0,
  listAgain: 0,
};

export type Step =
  | { type: 'call'; name: 'bash' | 'read' | 'write'; args: Record<string, string> }
  | { type: 'result'; text: string }
  | { type: 'final'; text: string };

export interface TeacherSession {
  steps: Step[];
  /** Content of the answer file at the end, null where there is none. */
  answer: string | null;
}

const MAX_ATTEMPTS = 3;
const FAILED = 'Command exited with code';

/** Plays one session of an imperfect agent on the task, in memory. */
export function teach(task: DataTask, rng: Rng, habits: Habits = BASE_HABITS): TeacherSession {
  return new Teacher(task, rng, habits).play();
}

class Teacher {
  private readonly shell: VirtualShell;
  private readonly steps: Step[] = [];
  /** The file the teacher believes in: a wrong extension at first where it guesses. */
  private file: string;

  constructor(
    private readonly task: DataTask,
    private readonly rng: Rng,
    private readonly habits: Habits,
  ) {
    this.shell = new VirtualShell(task.files);
    this.file = task.schema.file;
  }

  play(): TeacherSession {
    this.explore();
    const manner = this.drawManner();
    const forgets = this.rng.chance(this.habits.forget);
    const twoCalls = this.rng.chance(this.habits.twoCalls);
    const result = this.answer(manner, !forgets && !twoCalls);
    if (result === null) return this.end('I could not find the answer.');
    const value = result.trim().split('\n')[0]!;
    if (forgets) return this.end(`The answer is ${value}.`);
    if (twoCalls) this.write(value);
    if (this.rng.chance(this.habits.verify)) {
      this.bash({ text: `cat ${ANSWER_FILE}` });
      if (this.rng.chance(this.habits.listAgain)) this.bash({ text: 'ls' });
    }
    return this.end(this.rng.pick(['Done.', `The answer is in ${ANSWER_FILE}.`]));
  }

  private explore(): void {
    const { rng, habits } = this;
    const named = this.task.schema.fileNamed;
    const listed = rng.chance(named ? habits.listNamed : habits.listUnnamed);
    if (listed) this.bash({ text: 'ls' });
    if (!named && !listed && rng.chance(0.5)) this.file = otherExtension(this.file);
    const looks: string[] = [];
    if (rng.chance(habits.head)) looks.push(`head -${rng.pick([2, 3, 5])}`);
    if (rng.chance(habits.countLines)) looks.push('wc -l');
    if (rng.chance(habits.cat)) looks.push('cat');
    for (const look of looks) {
      this.bash({ text: `${look} ${this.file}` });
      this.findFile();
    }
    if (rng.chance(habits.read) && this.fileExists()) {
      this.steps.push(
        { type: 'call', name: 'read', args: { path: this.file } },
        { type: 'result', text: this.shell.files[this.file]! },
      );
    }
  }

  private drawManner(): Manner {
    const drawn = this.rng.next();
    const habit = STRONG_HABITS.has(this.task.kind) ? this.habits.strongHabit : this.habits.habit;
    if (drawn < habit) return 'habit';
    return drawn < habit + this.habits.slip ? 'slip' : 'skilled';
  }

  /** Runs the answering command, again after a missing file or a Python error. Null where nothing worked. */
  private answer(first: Manner, intoFile: boolean): string | null {
    let manner = first;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const output = this.bash(answerCommand(this.task, this.rng, manner, this.file), intoFile);
      const failed = output.includes(FAILED);
      if (failed && !this.fileExists()) this.findFile();
      else if (failed && output.includes('Error')) manner = 'skilled';
      else return output;
    }
    return null;
  }

  private write(value: string): void {
    if (this.rng.chance(0.5)) {
      this.steps.push(
        { type: 'call', name: 'write', args: { path: ANSWER_FILE, content: value } },
        { type: 'result', text: `Successfully wrote to ${ANSWER_FILE}` },
      );
      this.shell.files[ANSWER_FILE] = value;
    } else this.bash({ text: `echo ${value}` }, true);
  }

  private bash(command: Command, intoFile = false): string {
    const text = intoFile ? `${command.text} > ${ANSWER_FILE}` : command.text;
    const output = this.shell.run(command, intoFile ? ANSWER_FILE : undefined);
    this.steps.push({ type: 'call', name: 'bash', args: { command: text } }, { type: 'result', text: output });
    return output;
  }

  private fileExists(): boolean {
    return this.file in this.shell.files;
  }

  /** After a wrong guess: lists the folder and takes the right file. */
  private findFile(): void {
    if (this.fileExists()) return;
    this.bash({ text: 'ls' });
    this.file = this.task.schema.file;
  }

  private end(text: string): TeacherSession {
    this.steps.push({ type: 'final', text });
    return { steps: this.steps, answer: this.shell.files[ANSWER_FILE] ?? null };
  }
}

function otherExtension(file: string): string {
  return file.endsWith('.csv') ? file.replace(/csv$/, 'json') : file.replace(/json$/, 'csv');
}
