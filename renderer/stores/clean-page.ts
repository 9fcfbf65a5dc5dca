import { create } from 'zustand';
import type { CallInput, CallOutput } from '../../contract/api.js';
import { CLEAN_PAGE, type CleanKind, type CleanRecord } from '../../contract/clean-calls.js';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import { ask } from '../bridge/client.js';
import { placesOf, stepFrom } from '../logic/clean.js';
import { tellError } from './notices.js';

type Filter = Pick<CallInput<'clean.records'>, 'only' | 'kind'>;

interface CleanPage {
  id: string | null;
  filter: Filter;
  offset: number;
  /** null until read. */
  total: number | null;
  records: CleanRecord[];
  /** What the places of the records are. */
  kinds: CleanKind[];
  /** Numbers of records that are shown whole. */
  whole: ReadonlySet<number>;
  /** Number of the place that is looked at. */
  selected: number | null;
  error: ErrorShape | null;
  clear(): void;
  load(id: string): Promise<void>;
  setFilter(filter: Filter): Promise<void>;
  turn(offset: number): Promise<void>;
  /** Shows all of a record, or folds it. */
  toggleWhole(record: number): Promise<void>;
  select(place: number | null): void;
  /** To the next or previous place, on another page when there is none on this. */
  step(direction: 1 | -1): Promise<void>;
}

const START = {
  id: null,
  filter: { only: 'found' as const },
  offset: 0,
  total: null,
  records: [],
  kinds: [],
  whole: new Set<number>(),
  selected: null,
  error: null,
};
let generation = 0;

/** The records on screen, a page at a time, and which place is looked at. */
export const useCleanPage = create<CleanPage>()((set, get) => ({
  ...START,
  clear() {
    generation += 1;
    set(START);
  },
  async load(id) {
    set({ id });
    await read(get().offset);
  },
  async setFilter(filter) {
    set({ filter, selected: null });
    await read(0);
  },
  turn: (offset) => read(offset),
  async toggleWhole(record) {
    const { id, whole } = get();
    if (id === null) return;
    const started = generation;
    const next = new Set(whole);
    if (!next.delete(record)) {
      const shown = await ask('clean.record', { id, record }).catch(tellError);
      if (!shown || started !== generation) return;
      next.add(record);
      const { records, kinds } = get();
      set({
        records: records.map((one) => (one.record === record ? shown.record : one)),
        kinds: joined(kinds, shown.kinds),
        whole: next,
      });
      return;
    }
    set({ whole: next });
    await read(get().offset);
  },
  select: (selected) => set({ selected }),
  async step(direction) {
    const { records, selected, offset, total } = get();
    const next = stepFrom(placesOf(records), selected, direction);
    if (next !== null) return set({ selected: next });
    const other = offset + direction * CLEAN_PAGE;
    if (other < 0 || other >= (total ?? 0)) return;
    await read(other);
    const places = placesOf(get().records);
    set({ selected: (direction > 0 ? places[0] : places.at(-1)) ?? null });
  },
}));

async function read(offset: number): Promise<void> {
  generation += 1;
  const started = generation;
  const { id, filter, selected, whole: open } = useCleanPage.getState();
  if (id === null) return;
  try {
    let page = await ask('clean.records', { id, ...filter, offset });
    let from = offset;
    if (page.records.length === 0 && page.total > 0) {
      from = Math.floor((page.total - 1) / CLEAN_PAGE) * CLEAN_PAGE;
      page = await ask('clean.records', { id, ...filter, offset: from });
    }
    const { records, kinds } = await opened(id, page, open);
    if (started !== generation) return;
    const places = placesOf(records);
    useCleanPage.setState({
      offset: from,
      total: page.total,
      records,
      kinds,
      selected: selected !== null && places.includes(selected) ? selected : (places[0] ?? null),
      error: null,
    });
  } catch (error) {
    if (started === generation) useCleanPage.setState({ error: toErrorShape(error) });
  }
}

const joined = (kinds: readonly CleanKind[], more: readonly CleanKind[]): CleanKind[] => [
  ...new Map([...kinds, ...more].map((kind) => [kind.kind, kind])).values(),
];

/** Records that were shown whole still are. */
async function opened(
  id: string,
  page: CallOutput<'clean.records'>,
  whole: ReadonlySet<number>,
): Promise<Pick<CleanPage, 'records' | 'kinds'>> {
  let { kinds } = page;
  const records = await Promise.all(
    page.records.map(async (one) => {
      if (!whole.has(one.record)) return one;
      const shown = await ask('clean.record', { id, record: one.record });
      kinds = joined(kinds, shown.kinds);
      return shown.record;
    }),
  );
  return { records, kinds };
}
