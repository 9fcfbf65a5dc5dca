import type { ReactNode } from 'react';

/** Shown where there is nothing yet: says what is missing and what to do. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
