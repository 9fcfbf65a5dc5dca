/** What is said of a session's cleaned copy, on the command line; and the rules and decisions that an export follows. */
import { join } from 'node:path';
import type { CleanReason, CleanSummary } from '../../contract/clean.js';
import { toErrorShape } from '../../contract/errors.js';
import type { Registry } from '../sanitize/detect/registry.js';
import { Decisions } from '../sanitize/review/decisions.js';
import { type Policy, policyOf, registryOf } from '../sanitize/review/policy.js';
import { reviewRecords } from '../sanitize/review/review.js';
import { keepVerdict, storedVerdict } from '../sanitize/review/verdict-store.js';
import type { Store } from '../store/store.js';
import { sessionRecords } from '../trajectory/session-records.js';
import { Vault } from '../vault/vault.js';
import type { CommandIo } from './io.js';
import { unlockVault } from './open-vault.js';

/** The vault is opened only where something was decided. Errors: those of the vault and the rules. */
async function policy(store: Store, id: string, io: CommandIo): Promise<Policy> {
  const vault = new Vault(store.home);
  if (new Decisions(store, vault).ids(id).length > 0) await unlockVault(vault, io);
  return policyOf(store, vault, id);
}

export const exportRegistry = async (store: Store, id: string, io: CommandIo): Promise<Registry> =>
  registryOf(await policy(store, id, io));

async function summaryOf(store: Store, id: string, io: CommandIo): Promise<CleanSummary> {
  const found = await policy(store, id, io);
  const known = storedVerdict(store, id);
  if (known?.key === found.key) return known.summary;
  const { lines, images } = sessionRecords(store, id);
  const { summary } = reviewRecords(lines, { policy: found, images, folder: join(store.home, 'run') });
  keepVerdict(store, { sessionId: id, key: found.key, summary });
  return summary;
}

/** One line. */
export async function verdictLine(store: Store, id: string, io: CommandIo): Promise<string> {
  try {
    const { verdict, reasons, places, lookedAt } = await summaryOf(store, id, io);
    const why = reasons.map(sentence);
    if (lookedAt && reasons.length > 0) why.push('you looked at it');
    return `Cleaned copy: ${verdict}, ${places} ${places === 1 ? 'place' : 'places'} replaced${why.length > 0 ? ` (${why.join('; ')})` : ''}`;
  } catch (error) {
    return `Cleaned copy: not known. ${toErrorShape(error).message}`;
  }
}

function sentence({ code, count, detail }: CleanReason): string {
  const of = (one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
  switch (code) {
    case 'denied':
      return `your rule "${detail}" keeps it in`;
    case 'withheld':
      return `${of('record', 'records')} still held something after the second look`;
    case 'low':
      return `${of('value', 'values')} told by looks alone: ${detail}`;
    case 'kept':
      return `${of('value', 'values')} kept by you`;
    case 'images':
      return `${of('image', 'images')} left out`;
    case 'joined':
      return `${of('piece', 'pieces')} of secrets that came in parts`;
    case 'canary':
      return `${of('planted fake', 'planted fakes')} of known kinds stayed`;
  }
}
