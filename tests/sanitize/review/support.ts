/** A recorded session with invented private things in it, of kinds that are certain and of kinds that are not. */
import { createHash } from 'node:crypto';
import { Recorder } from '../../../main/record/recorder.js';
import { crc32Base62 } from '../../../main/sanitize/checksums.js';
import type { Store } from '../../../main/store/store.js';
import { ask, callBash, request, result, say, system, user } from '../../record/support.js';

export const hex = (seed: string, length: number): string =>
  createHash('sha256').update(seed).digest('hex').slice(0, length);
const body = hex('review', 30);
export const TOKEN = `${'ghp'}_${body}${crc32Base62(body)}`;
export const ACCOUNT = 'vmarkelova';
export const PERSON = 'Tomasin Okonwe';
export const PROJECT = 'Falkenstein';

export interface SeedOptions {
  /** Nothing of a low certainty in it. */
  plain?: boolean;
  title?: string;
  at?: number;
  more?: string;
}

/** Its id. */
export function recordPrivate(
  store: Store,
  { plain, title = 'Where is the deploy key?', at, more = '' }: SeedOptions = {},
): string {
  const call = callBash('c1', `cat /home/${ACCOUNT}/app/.env`);
  const output = `DEPLOY_TOKEN=${TOKEN}\nREGION=eu\n${plain ? '' : `Author: ${PERSON} <t.okonwe@blue-works.io>\n`}`;
  const asked = ask(`${title} It belongs to ${PROJECT}, path /home/${ACCOUNT}/app. ${more}`);
  const messages = [system, asked];
  const hint = { ...user, title, harnessSessionId: hex(`${title}${at}${more}${plain}`, 12) };
  const recorder = new Recorder(store);
  const times = at === undefined ? {} : { createdAt: at };
  recorder.record(request(messages, call, { session: hint, ...times }));
  const encoded = Buffer.from(`the ${PROJECT} box of ${TOKEN}`).toString('base64');
  const { sessionId } = recorder.record(
    request([...messages, call, result('c1', output)], say(`It is set. As base64: ${encoded}`), {
      session: hint,
      ...times,
    }),
  );
  return sessionId;
}
