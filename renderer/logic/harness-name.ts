/** What a session was run with; imported ones know it more exactly than the harness that the proxy serves. */
import type { Session } from '../../contract/records.js';
import { S } from '../strings.js';

export const harnessName = (session: Pick<Session, 'harness' | 'source'>): string =>
  session.source ? S.sourceHarness[session.source.harness] : S.harness[session.harness];
