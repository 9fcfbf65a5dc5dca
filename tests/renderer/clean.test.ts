import { beforeEach, describe, expect, it } from 'vitest';
import type { CleanKind, CleanRecord, TextPart } from '../../contract/clean-calls.js';
import {
  familiesOf,
  findPlace,
  isMarked,
  isPartOfWord,
  placesOf,
  ruleName,
  stepFrom,
} from '../../renderer/logic/clean.js';
import { parseRoute, routeHref } from '../../renderer/logic/routes.js';
import { useClean } from '../../renderer/stores/clean.js';
import { useCleanPage } from '../../renderer/stores/clean-page.js';
import { bridgeWith } from './clean-support.js';

const part = (text: string, place: number | null = null): TextPart => ({ text, place, hidden: 0 });
const record = (number: number, ...places: number[]): CleanRecord => ({
  record: number,
  who: 'user',
  bytes: 100,
  withheld: false,
  places: places.map((place) => ({ place, kind: place % 2, path: 'message' })),
  hiddenPlaces: 0,
  fields: [
    {
      path: 'message',
      isKey: false,
      original: [part('at '), ...places.flatMap((place) => [part(`value${place}`, place), part(' and ')])],
      clean: [part('at '), ...places.flatMap((place) => [part(`person${place}`, place), part(' and ')])],
    },
  ],
  hiddenFields: 0,
});
const kind = (number: number, family: string, low = false): CleanKind => ({
  kind: number,
  family,
  certainty: 'shape',
  placeholder: `${family}${number}`,
  count: 1,
  low,
  own: false,
});

describe('what the Clean screen works out', () => {
  it('steps through the places of a page and says when there is none beyond', () => {
    const places = placesOf([record(1, 0, 1), record(4, 2)]);
    expect(places).toEqual([0, 1, 2]);
    expect([stepFrom(places, null, 1), stepFrom(places, 0, 1), stepFrom(places, 2, 1)]).toEqual([0, 1, null]);
    expect([stepFrom(places, null, -1), stepFrom(places, 0, -1)]).toEqual([2, null]);
  });

  it('tells what stands around a place in the copy, never the value', () => {
    const found = findPlace([record(1, 0, 1)], [kind(0, 'person'), kind(1, 'user')], 1)!;
    expect(found).toMatchObject({ path: 'message', before: 'at person0 and ', standIn: 'person1', after: ' and ' });
    expect(found.kind?.family).toBe('user');
    expect(JSON.stringify([found.before, found.standIn, found.after])).not.toContain('value');
    expect(findPlace([record(1, 0)], [], 7)).toBeNull();
  });

  it('puts kinds in doubt first', () => {
    const families = familiesOf([kind(0, 'user'), kind(1, 'person', true), kind(2, 'user')]);
    expect(families.map(({ family, kinds }) => [family, kinds.length])).toEqual([
      ['person', 1],
      ['user', 2],
    ]);
  });

  it('knows a part of a word, a copy without marks, and what a rule may be called', () => {
    expect([isPartOfWord('a ', '.'), isPartOfWord('', 'é'), isPartOfWord('7', ' ')]).toEqual([false, true, true]);
    const [field] = record(1, 0).fields;
    expect(isMarked(field!)).toBe(true);
    expect(isMarked({ ...field!, clean: [part('x')] })).toBe(false);
    expect([ruleName('github-pat'), ruleName('denied:x'), ruleName('')]).toEqual(['github-pat', 'marked', 'marked']);
  });

  it('has addresses of its own', () => {
    for (const route of [{ screen: 'clean' } as const, { screen: 'clean-session', id: 'a/b' } as const])
      expect(parseRoute(routeHref(route))).toEqual(route);
  });
});

describe('the session that is looked at', () => {
  beforeEach(() => {
    useClean.setState({ id: null, session: null, ready: null, working: null, decisions: [], error: null });
    useCleanPage.getState().clear();
  });

  it('waits until it is looked at, goes to other pages for the next place, and back', async () => {
    const bridge = bridgeWith(2, {
      0: [record(1, 0, 1)],
      20: [record(30, 5)],
    });
    await useClean.getState().open('ses_1');
    expect(bridge.asked.filter((name) => name === 'clean.state')).toHaveLength(2);
    expect(useClean.getState().ready?.summary.verdict).toBe('review');
    const { step } = useCleanPage.getState();
    expect(useCleanPage.getState().selected).toBe(0);
    await step(1);
    await step(1);
    expect(useCleanPage.getState()).toMatchObject({ selected: 5, offset: 20 });
    await step(1);
    expect(useCleanPage.getState().selected).toBe(5);
    await step(-1);
    expect(useCleanPage.getState()).toMatchObject({ selected: 1, offset: 0 });
  });

  it('tells why it could not be looked at', async () => {
    bridgeWith(0, {}, { code: 'VAULT_LOCKED', message: 'The vault is locked by a passphrase.' });
    await useClean.getState().open('ses_1');
    expect(useClean.getState()).toMatchObject({ error: { code: 'VAULT_LOCKED' }, ready: null, working: null });
  });
});
