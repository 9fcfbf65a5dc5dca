import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { Recorder } from '../../../main/record/recorder.js';
import { recordView } from '../../../main/sanitize/review/record-view.js';
import { type ReviewPolicy, reviewRecords } from '../../../main/sanitize/review/review.js';
import { type Looked, summaryOf } from '../../../main/sanitize/review/verdict.js';
import { openStore } from '../../../main/store/store.js';
import { sessionRecords } from '../../../main/trajectory/session-records.js';
import { ask, request, say, temporaryHome } from '../../record/support.js';
import { ACCOUNT, TOKEN } from './support.js';

const policy: ReviewPolicy = {
  rules: { version: 1, entities: [], deny: [], keep: [] },
  confirmed: [],
  kept: 0,
  lookedAt: false,
};
const share = (gone: number) => ({ planted: 24, gone });
const fine: Looked = {
  kinds: [{ family: 'github-pat', certainty: 'checksum', count: 3 }],
  denied: [],
  withheld: 0,
  records: 2,
  touched: 1,
  places: 3,
  joined: 0,
  images: 0,
  canary: { known: share(24), unknown: share(0), kinds: [] },
  policy,
};
const look = (lines: Buffer[]) => reviewRecords(lines, { policy, images: 0, folder: tmpdir() });

it.each<[string, Partial<Looked>, string, string[]]>([
  ['nothing in doubt', {}, 'pass', []],
  ['a name', { kinds: [{ family: 'person', certainty: 'personal', count: 1 }] }, 'review', ['low']],
  ['a name that a rule of the user found', { kinds: [{ family: 'person', certainty: 'block', count: 1 }] }, 'pass', []],
  ['looks alone', { kinds: [{ family: 'vendor-token', certainty: 'entropy', count: 1 }] }, 'review', ['low']],
  ['a value kept', { policy: { ...policy, kept: 1 } }, 'review', ['kept']],
  ['images', { images: 2 }, 'review', ['images']],
  ['pieces', { joined: 1 }, 'review', ['joined']],
  ['fakes that stayed', { canary: { known: share(21), unknown: share(0), kinds: [] } }, 'review', ['canary']],
  ['a fake that stayed', { canary: { known: share(23), unknown: share(0), kinds: [] } }, 'pass', []],
  ['nothing to plant in', { canary: null }, 'pass', []],
  ['a record withheld', { withheld: 1 }, 'blocked', ['withheld']],
  ['a rule', { denied: ['contract'], images: 1 }, 'blocked', ['denied', 'images']],
  ['doubts that were looked at', { images: 1, policy: { ...policy, lookedAt: true } }, 'pass', ['images']],
  ['looking does not unblock', { withheld: 1, policy: { ...policy, lookedAt: true } }, 'blocked', ['withheld']],
])('%s', (_what, part, verdict, codes) => {
  const summary = summaryOf({ ...fine, ...part });
  expect([summary.verdict, summary.reasons.map(({ code }) => code)]).toEqual([verdict, codes]);
});

it('counts images that no copy holds', () => {
  const { home, remove } = temporaryHome();
  const store = openStore(home);
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const asked = { role: 'user' as const, content: [{ type: 'text', text: 'What is this?' }, picture] };
  const recorder = new Recorder(store);
  recorder.record(request([asked], say('A square.')));
  const { sessionId } = recorder.record(request([asked, say('A square.'), ask('And how large?')], say('Small.')));
  expect(sessionRecords(store, sessionId).images).toBe(1);
  store.close();
  remove();
});

it('a secret in the pieces of a stream is marked in each, and told as such', () => {
  const piece = (text: string): Buffer => Buffer.from(JSON.stringify({ type: 'text', delta: text }));
  const lines = [
    piece(`the token is ${TOKEN.slice(0, 15)}`),
    piece(TOKEN.slice(15, 30)),
    piece(`${TOKEN.slice(30)}, keep it`),
  ];
  const review = look(lines);
  expect(review.summary.reasons).toEqual([{ code: 'joined', count: 2, detail: '' }]);
  expect(review.clean.map(String).join('')).not.toContain(TOKEN.slice(15, 30));
  for (const [i, line] of lines.entries()) {
    const { places, fields } = recordView(lines, review, i, false);
    expect([line.length > 0, places.length, fields[0]!.clean !== null]).toEqual([true, 1, true]);
  }
});

it('lists that are emptied are named by their place, and the rest stays beside its copy', () => {
  const line = Buffer.from(
    JSON.stringify({
      logprobs: { content: [{ token: `cd /home/${ACCOUNT}`, logprob: -0.1 }] },
      message: `cd /home/${ACCOUNT}/app`,
    }),
  );
  const review = look([line]);
  const { places, fields } = recordView([line], review, 0, true);
  const message = fields.find(({ path }) => path === 'message')!;
  expect(message.clean!.map(({ text }) => text).join('')).toBe('cd /home/user1/app');
  expect(places.length).toBe(review.places.length);
  expect(JSON.stringify(fields.map(({ clean }) => clean))).not.toContain(ACCOUNT);
});

it('names of fields that were replaced are shown on both sides', () => {
  const line = Buffer.from(JSON.stringify({ [`/home/${ACCOUNT}/app`]: 'ok', other: 'plain' }));
  const review = look([line]);
  const { fields } = recordView([line], review, 0, true);
  const key = fields.find(({ isKey }) => isKey)!;
  expect(key.original.map(({ text }) => text).join('')).toBe(`/home/${ACCOUNT}/app`);
  expect(key.clean!.map(({ text }) => text).join('')).toBe('/home/user1/app');
});
