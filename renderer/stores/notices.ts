import { create } from 'zustand';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';

export interface Notice {
  id: number;
  tone: 'good' | 'bad';
  text: string;
  hint: string | null;
  code: ErrorShape['code'] | null;
}

interface Notices {
  notices: Notice[];
  dismiss(id: number): void;
}

const SHOWN_MS = 8_000;
let nextId = 1;

/** Short messages in the corner. Errors stay until dismissed. */
export const useNotices = create<Notices>()((set) => ({
  notices: [],
  dismiss: (id) => set(({ notices }) => ({ notices: notices.filter((notice) => notice.id !== id) })),
}));

function add(notice: Omit<Notice, 'id'>): number {
  const id = nextId++;
  useNotices.setState(({ notices }) => ({ notices: [...notices.slice(-3), { id, ...notice }] }));
  return id;
}

export function tell(text: string): void {
  const id = add({ tone: 'good', text, hint: null, code: null });
  setTimeout(() => useNotices.getState().dismiss(id), SHOWN_MS);
}

export function tellError(error: unknown): void {
  const { message, hint, code } = toErrorShape(error);
  add({ tone: 'bad', text: message, hint: hint ?? null, code });
}
