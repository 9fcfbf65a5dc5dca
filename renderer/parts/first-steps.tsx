import { S } from '../strings.js';
import { Command } from './command.js';
import { Empty } from './empty.js';

const HARNESSES = ['pi', 'opencode', 'hermes'] as const;

/** What to do in a store without any session. */
export function FirstSteps() {
  return (
    <Empty title={S.home.firstTitle}>
      <p>{S.home.firstLead}</p>
      <ul className="first-steps">
        {HARNESSES.map((harness) => (
          <li key={harness}>
            <strong>{S.harness[harness]}</strong>
            <Command text={S.home.connectCommand(harness)} />
          </li>
        ))}
      </ul>
      <p className="muted">{S.home.firstDemo}</p>
      <Command text={S.home.demoCommand} />
    </Empty>
  );
}
