/** The window's calls about the guard, answered from the store: the gateway reads it at each check. */
import type { WindowServices } from '../../contract/api.js';
import type { GuardSettings } from '../../contract/guard.js';
import {
  type AllowanceView,
  type GUARD_CALLS,
  GUARD_PAGE,
  type GuardEntry,
  type GuardSettingsView,
  MAX_ALLOWANCES,
  MAX_CALL_TEXT,
} from '../../contract/guard-calls.js';
import { AllowanceStore, type StoredAllowance } from '../guard/allowance-store.js';
import { canBeAllowed } from '../guard/allowances.js';
import { answerWrong, isAllowed, revokeAllowance } from '../guard/answer-wrong.js';
import { addPlugin, pluginState, removePlugin } from '../guard/installed-plugins.js';
import { changeGuardSettings, guardSettings } from '../guard/settings.js';
import { foundRules, type LogEntry, verdictLog } from '../guard/verdict-log.js';
import { MessageStore } from '../record/message-store.js';
import type { Store } from '../store/store.js';

const MAX_RULES = 500;

export function guardServices(store: Store): Pick<WindowServices, keyof typeof GUARD_CALLS> {
  const messages = new MessageStore(store.db);
  const allowances = new AllowanceStore(store);
  return {
    'guard.log'({ offset, ...filter }) {
      const found = verdictLog(store, filter, GUARD_PAGE + 1, offset);
      const allowed = allowances.list();
      return {
        entries: found
          .slice(0, GUARD_PAGE)
          .map((entry) =>
            entryView(
              entry,
              ({ verdict, call }) => call !== undefined && isAllowed(store, messages, verdict, call, allowed),
            ),
          ),
        more: found.length > GUARD_PAGE,
      };
    },
    'guard.rules': ({ rollouts }) => ({ rules: foundRules(store, { rollouts }, MAX_RULES) }),
    'guard.wrong': ({ verdictId }) => ({ allowance: allowanceView(store, answerWrong(store, messages, verdictId)) }),
    'guard.allowances': () => ({
      allowances: allowances
        .list()
        .slice(0, MAX_ALLOWANCES)
        .map((allowance) => allowanceView(store, allowance)),
    }),
    'guard.revoke'({ id }) {
      revokeAllowance(store, id);
      return {};
    },
    'guard.settings': async () => ({ settings: await settingsView(guardSettings(store)) }),
    'guard.configure': async (change) => ({
      settings: await settingsView(changeGuardSettings(store, (settings) => ({ ...settings, ...defined(change) }))),
    }),
    'guard.addPlugin': async ({ path }) => ({ settings: await settingsView(await addPlugin(store, path)) }),
    'guard.removePlugin': async ({ path }) => ({ settings: await settingsView(removePlugin(store, path)) }),
  };
}

const defined = (change: Partial<GuardSettings>): Partial<GuardSettings> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));

function entryView(entry: LogEntry, allowed: (entry: LogEntry) => boolean): GuardEntry {
  const { verdict, call, session } = entry;
  const { title, harness, origin } = session;
  return {
    verdict,
    call: call
      ? {
          name: call.name,
          arguments: call.arguments.slice(0, MAX_CALL_TEXT),
          clipped: Math.max(0, call.arguments.length - MAX_CALL_TEXT),
        }
      : null,
    session: { title, harness, origin },
    wrong: allowed(entry) ? 'yes' : call && canBeAllowed(verdict.rule) ? 'no' : 'impossible',
  };
}

function allowanceView(store: Store, { call: _hash, ...allowance }: StoredAllowance): AllowanceView {
  const verdict = store.verdict.get(allowance.verdictId);
  const call = verdict && store.toolCall.get(verdict.toolCallId);
  return { ...allowance, arguments: call?.arguments.slice(0, MAX_CALL_TEXT) ?? null };
}

async function settingsView({ plugins, ...settings }: GuardSettings): Promise<GuardSettingsView> {
  const views = plugins.map(async (plugin) => ({
    path: plugin.path,
    addedAt: plugin.addedAt,
    state: await pluginState(plugin),
  }));
  return { ...settings, plugins: await Promise.all(views) };
}
