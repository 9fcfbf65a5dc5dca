/** Setting `guard`: read at each use, so that a change counts from the next check on, in whichever process it was made. */
import { TackroomError } from '../../contract/errors.js';
import { GuardSettings } from '../../contract/guard.js';
import { checkRoute, staysHere } from '../proxy/upstream-setting.js';
import type { Statement } from '../store/database.js';
import type { Store } from '../store/store.js';

export const GUARD_SETTING = 'guard';

const DEFAULTS = GuardSettings.parse({});

export class GuardSettingsReader {
  readonly #select: Statement;
  #text = '';
  #settings = DEFAULTS;

  constructor({ db }: Pick<Store, 'db'>) {
    this.#select = db.prepare('SELECT value FROM setting WHERE key = ?').pluck();
  }

  /** One indexed look; parsed only after a change. Throws IO where what is stored has not the form: nothing is guessed. */
  read(): GuardSettings {
    const text = (this.#select.get(GUARD_SETTING) as string | undefined) ?? '{}';
    if (text === this.#text) return this.#settings;
    this.#settings = parse(text);
    this.#text = text;
    return this.#settings;
  }
}

export const guardSettings = (store: Store): GuardSettings => new GuardSettingsReader(store).read();

/** Reads, changes and writes in one transaction. Errors: BAD_ARGUMENT (what `change` made), IO, those of `change`. */
export function changeGuardSettings(store: Store, change: (settings: GuardSettings) => GuardSettings): GuardSettings {
  return store.transaction(() => {
    const next = checked(change(guardSettings(store)));
    store.setSetting(GUARD_SETTING, next);
    return next;
  });
}

/** Puts the defaults back, also over what cannot be read. */
export function resetGuardSettings(store: Store): GuardSettings {
  store.setSetting(GUARD_SETTING, DEFAULTS);
  return DEFAULTS;
}

function parse(text: string): GuardSettings {
  try {
    return GuardSettings.parse(JSON.parse(text));
  } catch (cause) {
    throw new TackroomError(
      'IO',
      "The guard's settings in the store cannot be read, so no call is let through.",
      'Put the defaults back with `tackroom guard settings --reset`.',
      { cause },
    );
  }
}

function checked(settings: GuardSettings): GuardSettings {
  const parsed = GuardSettings.safeParse(settings);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TackroomError(
      'BAD_ARGUMENT',
      `The guard's ${issue?.path.join('.')} cannot be that: ${issue?.message}.`,
      'See docs/guard.md for what each setting takes.',
    );
  }
  const { judge } = parsed.data;
  if (judge === null || judge.baseUrl === null) return parsed.data;
  const { baseUrl } = checkRoute({ baseUrl: judge.baseUrl });
  if (!staysHere({ baseUrl }))
    throw new TackroomError(
      'BAD_ARGUMENT',
      `A judge reads what you ask and what the model wants to run; ${baseUrl} is not on this machine.`,
      'Name a server on loopback, as in http://127.0.0.1:8080/v1, or `engine`.',
    );
  return { ...parsed.data, judge: { ...judge, baseUrl } };
}
