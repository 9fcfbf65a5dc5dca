/** What the command line says of a session's cleaned copy, and that its exports follow what was decided. */
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandIo } from '../../../main/cli/io.js';
import { sessionsExportCommand, sessionsShowCommand } from '../../../main/cli/sessions.js';
import { Decisions, type What } from '../../../main/sanitize/review/decisions.js';
import { storedVerdict } from '../../../main/sanitize/review/verdict-store.js';
import { openStore } from '../../../main/store/store.js';
import { Vault } from '../../../main/vault/vault.js';
import { temporaryHome } from '../../record/support.js';
import { PERSON, PROJECT, recordPrivate } from './support.js';

const PASSPHRASE = 'an invented phrase of words';
let home: string;
let remove: () => void;
let id: string;

beforeEach(() => {
  ({ home, remove } = temporaryHome());
  const store = openStore(home);
  id = recordPrivate(store);
  store.close();
});
afterEach(() => {
  delete process.env.TACKROOM_VAULT_PASSPHRASE;
  remove();
});

async function run<O>(command: (options: O & { home: string }, io: CommandIo) => Promise<number>, options: O) {
  const out = new PassThrough();
  const { signal } = new AbortController();
  const io: CommandIo = {
    stdin: new PassThrough(),
    stdout: out,
    stderr: new PassThrough(),
    interactive: false,
    signal,
  };
  await command({ ...options, home }, io);
  return String(out.read() ?? '');
}
const show = async (): Promise<string> => (await run(sessionsShowCommand, { id })).split('\n')[0]!;
const exported = (): Promise<string> => run(sessionsExportCommand, { id, format: 'atif' });

async function decide(what: What): Promise<void> {
  const store = openStore(home);
  await new Decisions(store, new Vault(home)).add(id, what);
  store.close();
}

it('says in one line what is said in the window, and keeps it', async () => {
  expect(await show()).toMatch(/^Cleaned copy: review, \d+ places replaced \(1 value told by looks alone: person\)$/);
  const store = openStore(home);
  expect(storedVerdict(store, id)?.summary.verdict).toBe('review');
  store.close();
  await decide({ do: 'kind', family: 'person' });
  expect(await show()).toMatch(/^Cleaned copy: pass, \d+ places replaced$/);
  await decide({ do: 'deny', name: 'contract', value: PROJECT });
  expect(await show()).toContain('blocked');
  expect(await show()).toContain('your rule "contract" keeps it in');
  await expect(exported()).rejects.toMatchObject({ code: 'REFUSED' });
});

it('exports follow what was decided, and are refused where it cannot be read', async () => {
  await decide({ do: 'keep', value: PERSON, family: 'person' });
  await decide({ do: 'redact', name: 'marked', value: PROJECT, partial: false });
  expect(await exported()).toContain(PERSON);
  expect(await exported()).not.toContain(PROJECT);
  await new Vault(home).protect({ kind: 'passphrase', passphrase: PASSPHRASE });
  await expect(exported()).rejects.toMatchObject({ code: 'VAULT_LOCKED' });
  expect(await show()).toMatch(/^Cleaned copy: not known\. The vault is locked by a passphrase\.$/);
  process.env.TACKROOM_VAULT_PASSPHRASE = PASSPHRASE;
  expect(await exported()).not.toContain(PROJECT);
});
