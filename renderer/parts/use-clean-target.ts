/** What a decision on the Clean screen would be about: a text that is selected on the left, else the place that is looked at. */
import { useEffect, useState } from 'react';
import { MAX_SELECTED } from '../../contract/clean-calls.js';
import { findPlace, isPartOfWord } from '../logic/clean.js';
import { useCleanPage } from '../stores/clean-page.js';

export type CleanTarget = { text: string; partial: boolean } | { kind: number; placeholder: string; family: string };
type Selected = Extract<CleanTarget, { text: string }>;

/** Shortest text that can be looked for. */
const LEAST = 3;

export function useCleanTarget(): CleanTarget | null {
  const { records, kinds, selected } = useCleanPage();
  const [text, setText] = useState<Selected | 'unfit' | null>(null);
  useEffect(() => {
    const read = (): void => setText(selectedOriginal());
    document.addEventListener('selectionchange', read);
    return () => document.removeEventListener('selectionchange', read);
  }, []);
  // Not the place then: a text that cannot be looked for must not have another one decided about.
  if (text === 'unfit') return null;
  if (text) return text;
  const kind = findPlace(records, kinds, selected)?.kind;
  return kind ? { kind: kind.kind, placeholder: kind.placeholder, family: kind.family } : null;
}

/** null: nothing is selected there. `unfit`: too little or too much is, or something is left out in between. */
function selectedOriginal(): Selected | 'unfit' | null {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  const element = (node: Node): Element | null => (node instanceof Element ? node : node.parentElement);
  const cell = element(range.startContainer)?.closest('[data-original]');
  if (!cell) return null;
  const across = cell !== element(range.endContainer)?.closest('[data-original]');
  if (across || range.cloneContents().querySelector('[data-hidden]')) return 'unfit';
  const raw = range.toString();
  const text = raw.trim();
  if (text.length < LEAST || text.length > MAX_SELECTED) return 'unfit';
  if (raw !== text) return { text, partial: false };
  const side = (from: 'start' | 'end'): string => {
    const around = document.createRange();
    around.selectNodeContents(cell);
    if (from === 'start') around.setEnd(range.startContainer, range.startOffset);
    else around.setStart(range.endContainer, range.endOffset);
    return around.toString();
  };
  return { text, partial: isPartOfWord(side('start').slice(-2), side('end').slice(0, 2)) };
}
