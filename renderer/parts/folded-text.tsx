import { useEffect, useState } from 'react';
import { fold } from '../logic/fold.js';
import { S } from '../strings.js';

interface FoldedTextProps {
  text: string;
  expanded: boolean;
  /** Lines shown while folded. */
  lines?: number;
  clipped?: number;
  className?: string;
}

/** Text of a session: always plain text, never markup; folded beyond some lines, with the number of hidden ones. */
export function FoldedText({ text, expanded, lines, clipped = 0, className = '' }: FoldedTextProps) {
  const [open, setOpen] = useState(expanded);
  useEffect(() => setOpen(expanded), [expanded]);
  const { shown, hiddenLines } = fold(text, lines);
  return (
    <div className={`folded ${className}`}>
      <pre>{open ? text : shown}</pre>
      {hiddenLines > 0 && (
        <button type="button" className="unfold" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? S.session.fewerLines : S.session.moreLines(hiddenLines)}
        </button>
      )}
      {clipped > 0 && <p className="faint">{S.session.clipped(clipped)}</p>}
    </div>
  );
}
