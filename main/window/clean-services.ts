/** The window's calls about cleaned copies. Values that are decided about go into sealed decisions and to the window, nowhere else. */
import type { CallArgs, CallOutput, WindowServices } from '../../contract/api.js';
import {
  type CLEAN_CALLS,
  CLEAN_LIST,
  type DecisionView,
  type ListedVerdict,
  MAX_SELECTED,
} from '../../contract/clean-calls.js';
import { TackroomError } from '../../contract/errors.js';
import type { Session } from '../../contract/records.js';
import { type Decision, Decisions, type What } from '../sanitize/review/decisions.js';
import { lookedVersion, policyKey } from '../sanitize/review/policy.js';
import { DENY_SHOWN } from '../sanitize/review/review.js';
import { storedVerdicts } from '../sanitize/review/verdict-store.js';
import { compileFile } from '../sanitize/rules.js';
import type { Store } from '../store/store.js';
import type { Vault } from '../vault/vault.js';
import { CleanHost } from './clean-host.js';
import type { EventBus } from './event-bus.js';

type CleanServices = Pick<WindowServices, keyof typeof CLEAN_CALLS>;
type About = Extract<CallArgs<'clean.decide'>, { do: 'redact' }>['about'];

/** Family of what the user marked in a text. */
const MARKED = 'marked';

export function cleanServices({ store, bus, vault }: { store: Store; bus: EventBus; vault: Vault }): CleanServices {
  const changed = (id: string): void => bus.publish('record.changed', { kind: 'session', id });
  const host = new CleanHost({ store, vault, onVerdict: changed });
  const decisions = new Decisions(store, vault);

  const decidedValue = async (id: string, about: About): Promise<{ name: string; value: string; partial: boolean }> => {
    if ('text' in about) return { name: MARKED, value: about.text, partial: about.partial };
    const { output } = await host.ask(id, 'value', about);
    if (output.family.startsWith(DENY_SHOWN))
      throw new TackroomError(
        'REFUSED',
        'What a rule keeps on this machine cannot be decided about one by one.',
        'Undo the rule first.',
      );
    if (output.value === '')
      throw new TackroomError('REFUSED', 'This is left out of every copy; there is nothing to decide about it.');
    return { name: output.family, value: output.value, partial: false };
  };

  async function decide(input: CallArgs<'clean.decide'>): Promise<string> {
    const { id } = input;
    if (input.do === 'redactKind') return decisions.add(id, { do: 'kind', family: input.family });
    if (input.do === 'looked') {
      if (input.version !== policyKey(store, vault, id))
        throw new TackroomError('REFUSED', 'It has changed since it was looked at.', 'Look at it again.');
      return decisions.add(id, { do: 'looked', version: lookedVersion(store, vault, id) });
    }
    const about = input.do === 'keep' ? { kind: input.kind } : input.about;
    const { name, value, partial } = await decidedValue(id, about);
    if (input.do === 'keep') return decisions.add(id, { do: 'keep', value, family: name });
    if (input.do === 'redact') return decisions.add(id, { do: 'redact', name, value, partial });
    const made = await decisions.add(
      null,
      input.as === 'keep' ? { do: 'keep', value, family: name } : { do: 'redact', name: input.name, value, partial },
    );
    // What holds for all sessions replaces what was decided about the same value here.
    for (const other of decisions.list(id))
      if (other.sessionId === id && 'value' in other.what && other.what.value === value) decisions.remove(other.id);
    return made;
  }

  const verdicts = (ids: readonly string[]): ListedVerdict[] => {
    const known = storedVerdicts(store);
    return ids.map((sessionId) => {
      const stored = known.get(sessionId);
      const stale = stored !== undefined && stored.key !== policyKey(store, vault, sessionId);
      return { sessionId, verdict: stored?.summary.verdict ?? null, stale };
    });
  };

  return {
    'clean.verdicts'({ ids }) {
      const found = verdicts(ids);
      host.check(found.filter(({ verdict, stale }) => verdict === null || stale).map(({ sessionId }) => sessionId));
      return { verdicts: found };
    },
    'clean.list': (input) => ({ ...listed(store, input), checking: host.checking() }),
    'clean.checkAll'() {
      host.check(ownSessions(store).map(({ id }) => id));
      return { left: host.checking().left };
    },
    'clean.stopChecks'() {
      host.stopChecks();
      return {};
    },
    'clean.open': ({ id }) => host.open(id),
    'clean.state': ({ id }) => host.state(id),
    'clean.cancel'({ id }) {
      host.cancel(id);
      return {};
    },
    async 'clean.records'({ id, ...query }) {
      const { version, output } = await host.ask(id, 'records', query);
      return { version, ...output };
    },
    async 'clean.record'({ id, record }) {
      const { version, output } = await host.ask(id, 'record', { record });
      return { version, ...output };
    },
    'clean.decisions': ({ id }) => ({ decisions: decisions.list(id ?? null).map(decisionView) }),
    'clean.decide': async (input) => ({ decision: await decide(input) }),
    async 'clean.addRule'({ do: kind, name, value }) {
      const what: What =
        kind === 'redact'
          ? { do: 'redact', name, value, partial: false }
          : kind === 'pattern'
            ? { do: 'pattern', name, pattern: checkedPattern(name, value) }
            : kind === 'deny'
              ? { do: 'deny', name, value }
              : { do: 'keep', value, family: null };
      return { decision: await decisions.add(null, what) };
    },
    'clean.undo'({ id }) {
      if (!decisions.remove(id)) throw new TackroomError('NOT_FOUND', 'This decision was undone already.');
      return {};
    },
    'clean.forget': ({ id }) => ({ forgotten: decisions.forget(id ?? null) }),
  };
}

/** Errors: BAD_ARGUMENT for what cannot be run. */
function checkedPattern(name: string, pattern: string): string {
  compileFile({ version: 1, entities: [{ name, pattern }], deny: [], keep: [] }, 'The rule');
  return pattern;
}

const ownSessions = (store: Store): Session[] =>
  store.session.list({ orderBy: 'updatedAt' }).filter(({ origin }) => origin !== 'rollout');

/** Those that wait for somebody to look at them come first. */
const RANK = { blocked: 0, review: 1, unknown: 2, pass: 3 } as const;

function listed(store: Store, { verdict, offset }: CallArgs<'clean.list'>): Omit<CallOutput<'clean.list'>, 'checking'> {
  const known = storedVerdicts(store);
  const rows = ownSessions(store).map((session) => {
    const summary = known.get(session.id)?.summary ?? null;
    return { session, summary, verdict: summary?.verdict ?? ('unknown' as const) };
  });
  const counts = { pass: 0, review: 0, blocked: 0, unknown: 0 };
  for (const row of rows) counts[row.verdict]++;
  const wanted = rows
    .filter((row) => !verdict || row.verdict === verdict)
    .sort((a, b) => RANK[a.verdict] - RANK[b.verdict]);
  return {
    total: wanted.length,
    counts,
    sessions: wanted.slice(offset, offset + CLEAN_LIST).map(({ session, summary }) => ({ session, summary })),
  };
}

function decisionView({ id, sessionId, createdAt, what }: Decision): DecisionView {
  const always = sessionId === null;
  const base = { id, createdAt, always, do: what.do };
  if (what.do === 'looked') return { ...base, name: '', value: '' };
  if (what.do === 'kind') return { ...base, name: what.family, value: '' };
  if (what.do === 'pattern') return { ...base, name: what.name, value: what.pattern };
  const value = what.value.slice(0, MAX_SELECTED);
  return { ...base, name: what.do === 'keep' ? (what.family ?? '') : what.name, value };
}
