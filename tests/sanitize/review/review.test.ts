import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CleanField } from '../../../contract/clean-calls.js';
import { Recorder } from '../../../main/record/recorder.js';
import { Decisions, type What } from '../../../main/sanitize/review/decisions.js';
import { lookedVersion, policyOf, registryOf, rulesFile } from '../../../main/sanitize/review/policy.js';
import { recordView } from '../../../main/sanitize/review/record-view.js';
import { type Review, reviewRecords } from '../../../main/sanitize/review/review.js';
import { openStore, type Store } from '../../../main/store/store.js';
import { exportSession } from '../../../main/trajectory/export-session.js';
import { sessionRecords } from '../../../main/trajectory/session-records.js';
import { Vault } from '../../../main/vault/vault.js';
import { temporaryHome } from '../../record/support.js';
import { ACCOUNT, PERSON, PROJECT, recordPrivate, TOKEN } from './support.js';

let home: string;
let remove: () => void;
let store: Store;
let vault: Vault;
let decisions: Decisions;
let id: string;

beforeEach(() => {
  ({ home, remove } = temporaryHome());
  store = openStore(home);
  vault = new Vault(home);
  decisions = new Decisions(store, vault);
  id = recordPrivate(store);
});
afterEach(() => {
  store.close();
  remove();
});

const look = (session = id): { review: Review; lines: Buffer[] } => {
  const { lines, images } = sessionRecords(store, session);
  const policy = policyOf(store, vault, session);
  return { review: reviewRecords(lines, { policy, images, folder: join(home, 'run') }), lines };
};
const exported = (session = id): string =>
  JSON.stringify(
    exportSession(store, session, {
      format: 'atif',
      registry: registryOf(policyOf(store, vault, session)),
    }).value(),
  );
const codes = ({ review }: { review: Review }): string[] => review.summary.reasons.map(({ code }) => code);
const familyOf = (review: Review, family: string) => review.kinds.find((kind) => kind.family === family)!;
const text = (parts: CleanField['original'] | null): string => (parts ?? []).map((part) => part.text).join('');

describe('a session looked at', () => {
  it('gives the copy that is exported, and says what a person should look at', () => {
    const { review, lines } = look();
    expect(review.summary).toMatchObject({ verdict: 'review', lookedAt: false, records: lines.length });
    expect(codes({ review })).toEqual(['low']);
    expect(review.summary.reasons[0]).toMatchObject({ count: 1, detail: 'person' });
    const copy = review.clean.map((line) => line.toString()).join('\n');
    for (const value of [TOKEN, ACCOUNT, PERSON]) expect(copy).not.toContain(value);
    const steps = (JSON.parse(exported()) as { steps: unknown[] }).steps;
    expect(steps.map((step) => JSON.stringify(step))).toEqual(review.clean.slice(1).map(String));
    expect(review.summary.canary!.known).toEqual({ planted: 24, gone: 24 });
    expect(review.summary.canary!.unknown.gone).toBeLessThan(review.summary.canary!.unknown.planted);
  });

  it('passes where nothing is told by its looks alone', () => {
    const plain = look(recordPrivate(store, { plain: true }));
    expect(plain.review.summary).toMatchObject({ verdict: 'pass', reasons: [] });
    expect(plain.review.summary.places).toBeGreaterThan(2);
  });

  it('shows both sides of a record with the path of each place', () => {
    const { review, lines } = look();
    const views = lines.map((_, record) => recordView(lines, review, record, true));
    for (const [i, view] of views.entries()) {
      for (const { original, clean } of view.fields) {
        expect(clean).not.toBeNull();
        expect(original.map(({ place }) => place)).toEqual(clean!.map(({ place }) => place));
      }
      expect(view.places.length).toBe(review.places.filter(({ record }) => record === i).length);
    }
    const held = views.flatMap(({ fields }) => fields).filter((field) => text(field.original).includes(TOKEN));
    expect(held.map(({ path }) => path)).toEqual(['observation.results[0].content']);
    expect(text(held[0]!.original)).toContain(`DEPLOY_TOKEN=${TOKEN}\n`);
    expect(text(held[0]!.clean)).toContain('DEPLOY_TOKEN=REDACTED_GITHUB_PAT_1\n');
    const marked = held[0]!.original.filter(({ place }) => place !== null).map((part) => part.text);
    expect(marked).toContain(TOKEN);
  });

  it('folds long texts and tells how much is hidden', () => {
    const session = recordPrivate(store, { more: 'x'.repeat(5_000_000), title: 'long' });
    const { review, lines } = look(session);
    const record = lines.findIndex((line) => line.length > 5_000_000);
    const field = recordView(lines, review, record, false).fields.find(({ path }) => path === 'message')!;
    const hidden = field.original.reduce((sum, part) => sum + part.hidden, 0);
    expect(text(field.original).length).toBeLessThan(2000);
    expect(text(field.original).length + hidden).toBeGreaterThan(5_000_000);
    expect(JSON.stringify(recordView(lines, review, record, true)).length).toBeLessThan(1_000_000);
  });
});

describe('what the user decides', () => {
  const decide = (what: What, session: string | null = id): Promise<string> => decisions.add(session, what);

  it('keeps a value in this session, in the export too, and asks to look at it', async () => {
    const { review } = look();
    const { value, family } = familyOf(review, 'person');
    const decision = await decide({ do: 'keep', value, family });
    expect(look().review.summary).toMatchObject({ verdict: 'review', reasons: [{ code: 'kept', count: 1 }] });
    expect(exported()).toContain(PERSON);
    expect(exported()).not.toContain(TOKEN);
    const other = recordPrivate(store, { title: 'Another one' });
    expect(exported(other)).not.toContain(PERSON);
    expect(decisions.remove(decision)).toBe(true);
    expect(exported()).not.toContain(PERSON);
    expect(codes(look())).toEqual(['low']);
  });

  it('replaces a selected text everywhere in the session, in every encoding', async () => {
    expect(exported()).toContain(PROJECT);
    await decide({ do: 'redact', name: 'marked', value: PROJECT, partial: false });
    const copy = exported();
    expect(copy).not.toContain(PROJECT);
    expect(copy).not.toContain(Buffer.from(`the ${PROJECT} box of`).toString('base64').slice(0, 16));
    expect(copy).toContain('REDACTED_MARKED_1');
    expect(exported(recordPrivate(store, { title: 'Another one' }))).toContain(PROJECT);
  });

  it('replaces inside words where the selection was part of one', async () => {
    await decide({ do: 'redact', name: 'marked', value: 'alkenst', partial: true });
    expect(exported()).toContain('FREDACTED_MARKED_1ein');
  });

  it('replaces a long text of several lines', async () => {
    const long = `${'line one '.repeat(30)}\nsecond "quoted" line`;
    const session = recordPrivate(store, { title: 'Long', more: long });
    await decide({ do: 'redact', name: 'marked', value: long, partial: false }, session);
    expect(exported(session)).not.toContain('second');
    expect(exported(session)).not.toContain('line one');
  });

  it('always: holds for all sessions, later ones too', async () => {
    await decide({ do: 'redact', name: 'project', value: PROJECT, partial: false }, null);
    await decide({ do: 'keep', value: ACCOUNT, family: 'user' }, null);
    const other = recordPrivate(store, { title: 'Later' });
    for (const session of [id, other]) {
      expect(exported(session)).toContain('REDACTED_PROJECT_1');
      expect(exported(session)).not.toContain(PROJECT);
      expect(exported(session)).toContain(`/home/${ACCOUNT}/`);
    }
    // It is not this session that something was kept in.
    expect(codes(look())).toEqual(['low']);
  });

  it('a kind: what was kept of it goes again, and nobody need look', async () => {
    const { value } = familyOf(look().review, 'person');
    await decide({ do: 'keep', value, family: 'person' });
    await decide({ do: 'kind', family: 'person' });
    expect(exported()).not.toContain(PERSON);
    expect(look().review.summary).toMatchObject({ verdict: 'pass', reasons: [] });
  });

  it('having looked makes it pass, until the session or a decision changes', async () => {
    await decide({ do: 'looked', version: lookedVersion(store, vault, id) });
    expect(look().review.summary).toMatchObject({ verdict: 'pass', lookedAt: true });
    const more = await decide({ do: 'redact', name: 'marked', value: PROJECT, partial: false });
    expect(look().review.summary).toMatchObject({ verdict: 'review', lookedAt: false });
    decisions.remove(more);
    expect(look().review.summary.verdict).toBe('pass');
    store.session.update(id, (session) => ({ ...session, updatedAt: session.updatedAt + 1 }));
    expect(look().review.summary.verdict).toBe('review');
  });

  it('a rule keeps sessions in: blocked, shown all the same, and not exported', async () => {
    await decide({ do: 'deny', name: 'contract', value: PROJECT }, null);
    const { review } = look();
    expect(review.summary.verdict).toBe('blocked');
    expect(review.summary.reasons[0]).toEqual({ code: 'denied', count: 1, detail: 'contract' });
    expect(review.clean.map(String).join('')).not.toContain(PROJECT);
    expect(() => exported()).toThrow(expect.objectContaining({ code: 'REFUSED' }));
  });

  it('the file of rules in the home holds too, and a later decision wins over what it keeps', async () => {
    writeFileSync(
      rulesFile(home),
      `version: 1\nentities: [{ name: client, values: [${PROJECT}] }]\nkeep: [${ACCOUNT}]\n`,
    );
    expect(exported()).toContain('REDACTED_CLIENT_1');
    expect(exported()).toContain(ACCOUNT);
    await decide({ do: 'redact', name: 'user', value: ACCOUNT, partial: false });
    expect(exported()).not.toContain(ACCOUNT);
    writeFileSync(rulesFile(home), 'version: 2');
    expect(() => look()).toThrow(expect.objectContaining({ code: 'BAD_ARGUMENT' }));
  });

  it('is sealed on the disk, survives another opening, and goes with its session', async () => {
    const secret = `${PROJECT} of the north`;
    await decide({ do: 'redact', name: 'marked', value: secret, partial: false });
    const bodies = store.db.prepare('SELECT body FROM clean_decision').pluck().all() as Buffer[];
    expect(bodies).toHaveLength(1);
    for (const plain of [secret, Buffer.from(secret).toString('base64'), 'redact'])
      expect(bodies[0]!.includes(plain)).toBe(false);
    store.close();
    store = openStore(home);
    decisions = new Decisions(store, new Vault(home));
    expect(decisions.list(id).map(({ what }) => what)).toEqual([
      { do: 'redact', name: 'marked', value: secret, partial: false },
    ]);
    await decisions.add(null, { do: 'kind', family: 'person' });
    new Recorder(store).deleteSession(id);
    expect(store.db.prepare('SELECT sessionId FROM clean_decision').pluck().all()).toEqual(['']);
  });

  it('is not simply disregarded when the vault cannot be opened', async () => {
    await decide({ do: 'redact', name: 'marked', value: PROJECT, partial: false });
    await vault.wipe();
    vault = new Vault(home);
    expect(() => exported()).toThrow(expect.objectContaining({ code: 'VAULT_DAMAGED' }));
    expect(new Decisions(store, vault).forget(id)).toBe(1);
    expect(exported()).toContain(PROJECT);
  });
});
