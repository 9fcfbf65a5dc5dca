/** What holds for a session: the user's rules in the home, and what was decided for all sessions and for this one. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Store } from '../../store/store.js';
import type { Vault } from '../../vault/vault.js';
import type { Registry } from '../detect/registry.js';
import { RULE_SET } from '../rule-set.js';
import { compileFile, homeRulesFile, parseRules, type Rule, type RulesFile } from '../rules.js';
import { type Decision, Decisions } from './decisions.js';

/** Raised when verdicts change: what was said before is said anew. */
const REVIEW_VERSION = 1;
const NAME = /^[A-Za-z][A-Za-z0-9 _-]{0,40}$/;

export interface Policy {
  rules: RulesFile;
  /** Kinds that the user wants replaced without looking again. */
  confirmed: string[];
  /** Values that stay in this session because the user said so. */
  kept: number;
  /** Names the state of session and rules; equal ones give equal reviews. */
  key: string;
  /** The user has looked at just this state. */
  lookedAt: boolean;
}

export const rulesFile = homeRulesFile;

/** Reads no value. null: there is no such session. */
export function policyKey(store: Store, vault: Vault, sessionId: string): string | null {
  const session = store.session.get(sessionId);
  if (!session) return null;
  const ids = new Decisions(store, vault).ids(sessionId);
  return keyOf(store, sessionId, ids);
}

/** Errors: those of the vault; BAD_ARGUMENT for a file of rules that cannot be read. */
export function policyOf(store: Store, vault: Vault, sessionId: string): Policy {
  const decisions = new Decisions(store, vault).list(sessionId);
  const own = existsSync(rulesFile(store.home)) ? readRules(store.home) : null;
  const { rules, confirmed, kept } = rulesOf(decisions);
  const looked = new Set(decisions.flatMap(({ id, what }) => (what.do === 'looked' ? id : [])));
  const about = decisions.map(({ id }) => id).filter((id) => !looked.has(id));
  const version = keyOf(store, sessionId, about);
  return {
    rules: own ? joined(own, rules) : rules,
    confirmed,
    kept,
    key: keyOf(
      store,
      sessionId,
      decisions.map(({ id }) => id),
    ),
    lookedAt: decisions.some(({ what }) => what.do === 'looked' && what.version === version),
  };
}

/** The state that `looked` names: without the user's having looked. */
export function lookedVersion(store: Store, vault: Vault, sessionId: string): string {
  const decisions = new Decisions(store, vault).list(sessionId);
  return keyOf(
    store,
    sessionId,
    decisions.filter(({ what }) => what.do !== 'looked').map(({ id }) => id),
  );
}

export const registryOf = ({ rules }: Pick<Policy, 'rules'>): Registry => compileFile(rules, 'Your rules');

function keyOf(store: Store, sessionId: string, decisions: readonly string[]): string {
  const session = store.session.get(sessionId);
  const file = rulesFile(store.home);
  const parts = [
    REVIEW_VERSION,
    RULE_SET,
    sessionId,
    session?.updatedAt,
    session?.requests,
    session?.toolCalls,
    ...decisions,
  ];
  const hash = createHash('sha256').update(JSON.stringify(parts));
  if (existsSync(file)) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 32);
}

const readRules = (home: string): RulesFile => parseRules(readFileSync(rulesFile(home), 'utf8'), rulesFile(home));

/** A later decision about the same value wins. */
function rulesOf(decisions: readonly Decision[]): Pick<Policy, 'rules' | 'confirmed' | 'kept'> {
  const kept = new Map<string, { family: string | null; own: boolean }>();
  const entities = new Map<string, Rule>();
  const deny: Rule[] = [];
  const confirmed = new Set<string>();
  for (const { what, sessionId } of decisions) {
    if (what.do === 'keep') {
      kept.set(what.value, { family: what.family, own: sessionId !== null });
      entities.delete(what.value.toLowerCase());
    } else if (what.do === 'redact') {
      kept.delete(what.value);
      const { value, partial } = what;
      entities.set(value.toLowerCase(), { name: ruleName(what.name), values: [value], partial });
    } else if (what.do === 'pattern')
      entities.set(`\0${what.pattern}`, { name: ruleName(what.name), pattern: what.pattern });
    else if (what.do === 'deny') deny.push({ name: ruleName(what.name), values: [what.value] });
    else if (what.do === 'kind') {
      confirmed.add(what.family);
      for (const [value, { family }] of kept) if (family === what.family) kept.delete(value);
    }
  }
  return {
    rules: { version: 1, entities: [...entities.values()], deny, keep: [...kept.keys()] },
    confirmed: [...confirmed],
    kept: [...kept.values()].filter(({ own }) => own).length,
  };
}

const ruleName = (name: string): string => (NAME.test(name) ? name : 'marked');

/** What was decided is newer than the file. */
function joined(file: RulesFile, decided: RulesFile): RulesFile {
  const goes = new Set(decided.entities.flatMap(({ values }) => values ?? []).map((value) => value.toLowerCase()));
  return {
    version: 1,
    entities: [...file.entities, ...decided.entities],
    deny: [...file.deny, ...decided.deny],
    keep: [...file.keep.filter((value) => !goes.has(value.toLowerCase())), ...decided.keep],
  };
}
