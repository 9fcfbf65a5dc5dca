import type { CleanVerdict } from '../../contract/clean.js';
import { S } from '../strings.js';
import { Pill } from './pill.js';

const TONE = { pass: 'good', review: 'warn', blocked: 'bad' } as const;

export function CleanVerdictPill({ verdict, stale }: { verdict: CleanVerdict | null; stale?: boolean }) {
  if (verdict === null) return <Pill>{S.clean.unknown}</Pill>;
  if (stale)
    return (
      <span title={S.clean.stale}>
        <Pill>{S.clean.old(S.clean.verdicts[verdict])}</Pill>
      </span>
    );
  return (
    <Pill tone={TONE[verdict]} dot>
      {S.clean.verdicts[verdict]}
    </Pill>
  );
}
