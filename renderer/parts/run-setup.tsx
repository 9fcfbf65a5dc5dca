import { S } from '../strings.js';

/** The configuration the run was started with. */
export function RunSetup({ config }: { config: Record<string, unknown> }) {
  const entries = Object.entries(config);
  if (entries.length === 0) return null;
  return (
    <details className="run-setup">
      <summary>{S.run.setup}</summary>
      <dl className="facts">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
