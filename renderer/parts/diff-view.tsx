function kindOf(line: string): string {
  if (/^(?:\+\+\+|---) /.test(line)) return 'diff-file';
  if (line.startsWith('@@')) return 'diff-place';
  if (line.startsWith('+')) return 'diff-new';
  return line.startsWith('-') ? 'diff-old' : '';
}

/** A unified diff, a line a line; the signs carry the meaning, the colours repeat it. */
export function DiffView({ diff, label }: { diff: string; label: string }) {
  const lines = diff.replace(/\n$/, '').split('\n');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <section className="diff" tabIndex={0} aria-label={label}>
      <pre>
        {lines.map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a diff do not move
          <span key={i} className={kindOf(line)}>
            {`${line}\n`}
          </span>
        ))}
      </pre>
    </section>
  );
}
