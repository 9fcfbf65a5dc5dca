/** Which keys do what. Sequences are written with a space ("g h"), chords with a plus ("Ctrl+1"). */
export type Action =
  | 'home'
  | 'sessions'
  | 'guard'
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
  | 'smooth'
  | 'follow'
  | 'reset';

export const SHORTCUTS: Record<Action, string[]> = {
  home: ['g h', 'Ctrl+1'],
  sessions: ['g s', 'Ctrl+2'],
  guard: ['g g', 'Ctrl+3'],
  runs: ['g r', 'Ctrl+4'],
  adapters: ['g a', 'Ctrl+5'],
  connect: ['g c', 'Ctrl+6'],
  recording: ['g e', 'Ctrl+7'],
  search: ['/'],
  next: ['j'],
  previous: ['k'],
  fold: ['o'],
  blocked: ['b'],
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
  readonly #byKeys = new Map<string, Action>(
    (Object.keys(SHORTCUTS) as Action[]).flatMap((action) => SHORTCUTS[action].map((keys) => [keys, action] as const)),
  );

  read(press: Press, now: number): Action | undefined {
    if (press.altKey) return undefined;
    if (press.ctrlKey || press.metaKey) return this.#byKeys.get(`Ctrl+${press.key}`);
    const pending = this.#pending && now - this.#pending.at < SEQUENCE_MS ? this.#pending.key : undefined;
    this.#pending = undefined;
    const sequence = pending && this.#byKeys.get(`${pending} ${press.key}`);
    if (sequence) return sequence;
    if (press.key === 'g') this.#pending = { key: 'g', at: now };
    return this.#byKeys.get(press.key);
  }
}
