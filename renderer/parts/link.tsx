import type { ReactNode } from 'react';
import { type Route, routeHref } from '../logic/routes.js';

interface LinkProps {
  to: Route;
  className?: string;
  label?: string;
  current?: boolean;
  children: ReactNode;
}

/** A link to a screen. */
export function Link({ to, className, label, current, children }: LinkProps) {
  return (
    <a href={routeHref(to)} className={className} aria-label={label} aria-current={current ? 'page' : undefined}>
      {children}
    </a>
  );
}
