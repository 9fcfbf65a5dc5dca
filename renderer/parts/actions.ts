/** Shortcuts at run time: screens say what an action does while they are shown, one listener reads the keys. */
import { useEffect, useRef } from 'react';
import { type Action, ShortcutReader } from '../logic/shortcuts.js';

type Handler = () => void;
const handlers = new Map<Action, Handler[]>();

/** The newest handler of an action wins. */
export function useAction(action: Action, handler: Handler): void {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => {
    const run = (): void => latest.current();
    handlers.set(action, [...(handlers.get(action) ?? []), run]);
    return () => {
      handlers.set(
        action,
        (handlers.get(action) ?? []).filter((other) => other !== run),
      );
    };
  }, [action]);
}

const takesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest('input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, dialog') !== null;

/** Returns the function that ends it. */
export function listenToKeys(): () => void {
  const reader = new ShortcutReader();
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || takesText(event.target)) return;
    const action = reader.read(event, event.timeStamp, (one) => (handlers.get(one)?.length ?? 0) > 0);
    const handler = action && handlers.get(action)?.at(-1);
    if (!handler) return;
    event.preventDefault();
    handler();
  };
  window.addEventListener('keydown', onKey);
  return () => window.removeEventListener('keydown', onKey);
}

/** Moves the focus to the next or previous element marked as a row, and into view. */
export function moveRow(direction: 1 | -1, selector = '[data-row]'): void {
  const rows = [...document.querySelectorAll<HTMLElement>(selector)];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? rows[direction > 0 ? 0 : rows.length - 1] : rows[at + direction];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}
