/** Which keys do what. Sequences are written with a space ("g h"), chords with a plus ("Ctrl+1"). */
export type Action =
  | 'home'
  | 'sessions'
  | 'guard'
  | 'clean'
  | 'runs'
  | 'adapters'
  | 'connect'
  | 'recording'
  | 'help'
  | 'search'
  | 'next'
  | 'previous'
  | 'fold'
  | 'blocked'
  | 'nextPlace'
  | 'previousPlace'
  | 'keepValue'
  | 'redactAll'
  | 'always'
  | 'undo'
  | 'smooth'
  | 'follow'
  | 'reset';

export const SHORTCUTS: Record<Action, string[]> = {
  home: ['g h', 'Ctrl+1'],
  sessions: ['g s', 'Ctrl+2'],
  guard: ['g g', 'Ctrl+3'],
  clean: ['g l', 'Ctrl+4'],
  runs: ['g r', 'Ctrl+5'],
  adapters: ['g a', 'Ctrl+6'],
  connect: ['g c', 'Ctrl+7'],
  recording: ['g e', 'Ctrl+8'],
  search: ['/'],
  next: ['j'],
  previous: ['k'],
  fold: ['o'],
  blocked: ['b'],
  nextPlace: ['n'],
  previousPlace: ['p'],
  keepValue: ['k'],
  redactAll: ['r'],
  always: ['a'],
  undo: ['u'],
  follow: ['f'],
  smooth: ['s'],
  reset: ['0'],
  help: ['?'],
};

const SEQUENCE_MS = 1200;

interface Press {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** Feeds key presses one by one; gives the action a press completes. */
export class ShortcutReader {
  #pending: { key: string; at: number } | undefined;
  readonly #byKeys = new Map<string, Action[]>();

  constructor() {
    for (const action of Object.keys(SHORTCUTS) as Action[])
      for (const keys of SHORTCUTS[action]) this.#byKeys.set(keys, [...(this.#byKeys.get(keys) ?? []), action]);
  }

  /** `has`: whether an action can be done now. Of several with the same keys the last in the table is a screen's own. */
  read(press: Press, now: number, has: (action: Action) => boolean = () => true): Action | undefined {
    const of = (keys: string): Action | undefined => this.#byKeys.get(keys)?.findLast(has);
    if (press.altKey) return undefined;
    if (press.ctrlKey || press.metaKey) return of(`Ctrl+${press.key}`);
    const pending = this.#pending && now - this.#pending.at < SEQUENCE_MS ? this.#pending.key : undefined;
    this.#pending = undefined;
    const sequence = pending && of(`${pending} ${press.key}`);
    if (sequence) return sequence;
    if (press.key === 'g') this.#pending = { key: 'g', at: now };
    return of(press.key);
  }
}
