import type { ReactNode } from 'react';

export type Tone = 'quiet' | 'good' | 'warn' | 'bad' | 'live' | 'brass';

/** A short state in a word, with a dot so that it does not rest on colour alone. */
export function Pill({ tone = 'quiet', dot = false, children }: { tone?: Tone; dot?: boolean; children: ReactNode }) {
  return (
    <span className={`pill pill-${tone}`}>
      {dot && <span className="pill-dot" aria-hidden="true" />}
      {children}
    </span>
  );
}
