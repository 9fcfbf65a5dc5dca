/** Brings the step of one request into view, reading on until it is there. */
import { useEffect, useRef } from 'react';
import { useSession } from '../stores/session.js';

/** Once for each `request`: what the user does afterwards stands. */
export function useStepInView(request: string | undefined): void {
  const { steps, totalSteps, more } = useSession();
  const shown = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (request === undefined || shown.current === request) return;
    if (!steps.some((step) => step.kind === 'agent' && step.requestId === request)) {
      if (steps.length > 0 && steps.length < totalSteps) void more();
      return;
    }
    shown.current = request;
    // After the screen, which starts at its top.
    requestAnimationFrame(() => {
      const step = document.querySelector<HTMLElement>(`[data-request="${CSS.escape(request)}"]`);
      step?.focus({ preventScroll: true });
      step?.scrollIntoView({ block: 'start' });
    });
  }, [request, steps, totalSteps, more]);
}
