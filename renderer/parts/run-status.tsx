import type { Run } from '../../contract/records.js';
import { S } from '../strings.js';
import { Pill, type Tone } from './pill.js';

const TONES: Record<Run['status'], Tone> = {
  planned: 'quiet',
  running: 'live',
  stopped: 'warn',
  failed: 'bad',
  done: 'good',
};

export function RunStatus({ status }: { status: Run['status'] }) {
  return (
    <Pill tone={TONES[status]} dot>
      {S.runStatus[status]}
    </Pill>
  );
}
