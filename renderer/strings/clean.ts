/** Sentences of the Clean screens. */
import type { CleanReason, CleanVerdict } from '../../contract/clean.js';
import type { CleanPhase, DecisionView, VerdictFilter } from '../../contract/clean-calls.js';

const plural = (n: number, one: string, many: string): string => `${n.toLocaleString()} ${n === 1 ? one : many}`;

export const cleanStrings = {
  title: 'Clean',
  lead: 'What leaves this machine is a copy without secrets and personal data. Here you see the copy before it goes.',
  verdicts: { pass: 'clean', review: 'look at it', blocked: 'stays here' } satisfies Record<CleanVerdict, string>,
  unknown: 'not looked at',
  old: (verdict: string) => `${verdict} (old)`,
  stale: 'It has changed since it was looked at.',
  filter: 'Verdict',
  tabs: {
    review: (n: number) => `To look at ${n.toLocaleString()}`,
    blocked: (n: number) => `Stays here ${n.toLocaleString()}`,
    unknown: (n: number) => `Not looked at yet ${n.toLocaleString()}`,
    pass: (n: number) => `Clean ${n.toLocaleString()}`,
  } satisfies Record<VerdictFilter, (n: number) => string>,
  all: (n: number) => `All ${n.toLocaleString()}`,
  filterNames: {
    pass: 'clean',
    review: 'to look at',
    blocked: 'stays here',
    unknown: 'not looked at',
  } satisfies Record<VerdictFilter, string>,
  checkAll: 'Look at all of them',
  checking: (left: number) => `Looking at sessions: ${left.toLocaleString()} left`,
  stopChecks: 'Stop',
  sessions: 'Sessions',
  emptyTitle: 'Nothing waiting',
  emptyFiltered: 'No session has this verdict.',
  emptyStore: 'Once a session is recorded, its cleaned copy can be looked at here.',
  more: 'Show more',
  fine: (places: number) =>
    places === 0 ? 'Nothing had to be replaced.' : `${plural(places, 'place', 'places')} replaced, nothing in doubt.`,
  lookedAt: 'You looked at it as it is.',
  reason: ({ code, count, detail }: CleanReason): string => {
    switch (code) {
      case 'denied':
        return `Your rule “${detail}” keeps sessions like this on this machine.`;
      case 'withheld':
        return `${plural(count, 'record', 'records')} still held something after the second look, so ${count === 1 ? 'it is' : 'they are'} left out.`;
      case 'low':
        return `${plural(count, 'value was', 'values were')} taken for something private by ${count === 1 ? 'its' : 'their'} looks alone (${detail}). ${count === 1 ? 'Is it' : 'Are they'}, and was none missed?`;
      case 'kept':
        return `${plural(count, 'value stays', 'values stay')} because you said so.`;
      case 'images':
        return `${plural(count, 'image was', 'images were')} left out; nobody looked at what ${count === 1 ? 'it shows' : 'they show'}.`;
      case 'joined':
        return `Secrets came in pieces: ${plural(count, 'further piece was', 'further pieces were')} taken out.`;
      case 'canary':
        return `${plural(count, 'planted fake', 'planted fakes')} of kinds that should go stayed.`;
    }
  },
  why: 'Why',
  crumbs: 'Clean',
  openSession: 'Open the session',
  openReview: 'Look at the cleaned copy',
  looked: 'I have looked at it',
  lookedHelp: 'It counts as clean until the session or a decision changes.',
  grown: 'The session has grown since.',
  again: 'Look again',
  phases: {
    start: 'Starting…',
    read: 'Reading the session…',
    find: 'Looking for secrets and personal data…',
    replace: 'Replacing them and looking again…',
    canary: 'Planting fakes to see whether they go…',
  } satisfies Record<CleanPhase, string>,
  waited: (age: string) => `for ${age}`,
  cancel: 'Cancel',
  facts: (records: number, touched: number, places: number, values: number) =>
    `${plural(records, 'record', 'records')}, ${touched.toLocaleString()} with replacements; ${plural(places, 'place', 'places')}, ${plural(values, 'value', 'values')}`,
  show: 'Show',
  only: { found: 'Records with replacements', all: 'All records' },
  onlyKind: (placeholder: string) => `Records with ${placeholder}`,
  page: (from: number, to: number, of: number) =>
    of === 0 ? 'No record' : `${from.toLocaleString()} to ${to.toLocaleString()} of ${of.toLocaleString()}`,
  previousPage: 'Previous page',
  nextPage: 'Next page',
  original: 'As recorded (only on this machine)',
  copy: 'Cleaned copy',
  record: (n: number) => `Record ${n}`,
  who: { session: 'the session', user: 'user', agent: 'agent', system: 'system' } as Record<string, string>,
  withheld: 'Left out: the second look still found something in it.',
  notAligned: 'More was replaced in the second look; it is not marked here.',
  hidden: (n: number) => `… ${plural(n, 'character', 'characters')} …`,
  hiddenFields: (n: number) => `${plural(n, 'other field', 'other fields')} without replacements`,
  whole: 'Show the whole record',
  fold: 'Fold it',
  keyField: 'name of a field',
  morePlaces: (n: number) => `and ${n.toLocaleString()} more`,
  noneTitle: 'Nothing was replaced',
  noneText: 'No secret and no personal data was found. Select a text in “All records” to replace it all the same.',
  finding: 'Selected',
  noFinding: 'Step through what was replaced with n and p, or select a text on the left to have it replaced.',
  kind: 'Kind',
  certainty: 'Told by',
  certainties: {
    checksum: 'its checksum',
    shape: 'its shape',
    block: 'a whole block, or a rule of yours',
    keyValue: 'the name before it',
    entropy: 'its looks alone',
    personal: 'the place it stands in',
  } as Record<string, string>,
  standIn: 'Stand-in',
  times: 'Times',
  where: 'Where',
  around: 'Around it',
  selection: 'Text that you selected',
  keep: 'Keep',
  keepHelp: 'It is not private: it stays in this session.',
  redact: 'Replace all like this',
  always: 'Always…',
  keptDone: (standIn: string) => `What ${standIn} stood for stays in this session.`,
  nothingFound: 'This text was not found as it is, so nothing more is replaced.',
  redactDone: 'Replaced everywhere in this session.',
  alwaysTitle: 'In all sessions',
  alwaysText: 'It becomes one of your own rules, for sessions to come as well, and is kept encrypted.',
  alwaysAs: { redact: 'Always replace it', keep: 'Never replace it: it is not private' },
  alwaysName: 'Name of the rule',
  alwaysNameHelp: 'The stand-in is made from it: “customer” gives REDACTED_CUSTOMER_1.',
  alwaysNow: 'From now on',
  kinds: 'What was found',
  kindsOf: (family: string, n: number) => `${family} (${n.toLocaleString()})`,
  redactKind: 'Replace all of this kind',
  redactKindLabel: (family: string) => `Replace all of this kind: ${family}`,
  redactKindDone: (family: string) => `Everything of the kind ${family} goes, and need not be looked at again.`,
  lowMark: 'in doubt',
  ownMark: 'your rule',
  hiddenKinds: (n: number) => `${plural(n, 'value', 'values')} more`,
  decisions: 'What you decided',
  noDecisions: 'Nothing yet.',
  decision: (
    { do: what, name, value, always }: DecisionView,
    shown: (text: string) => string,
  ): { what: string; value: string } => {
    const scope = always ? ' in all sessions' : '';
    switch (what) {
      case 'keep':
        return { what: `Keep${scope}`, value: shown(value) };
      case 'redact':
        return { what: `Replace${scope} (${name})`, value: shown(value) };
      case 'pattern':
        return { what: `Replace what matches${scope} (${name})`, value: shown(value) };
      case 'deny':
        return { what: `Keep sessions here that hold (${name})`, value: shown(value) };
      case 'kind':
        return { what: `Replace all of the kind ${name}${scope}`, value: '' };
      case 'looked':
        return { what: 'You looked at it', value: '' };
    }
  },
  undo: 'Undo',
  undoLabel: (what: string, value: string) => `Undo: ${what} ${value}`,
  forget: 'Forget these decisions',
  forgotten: (n: number) => `${plural(n, 'decision was', 'decisions were')} forgotten.`,
  canary: 'Test with fakes',
  canaryScore: (known: string, unknown: string) => `${known} of known kinds, ${unknown} of unknown ones`,
  share: (gone: number, planted: number) => `${gone.toLocaleString()} of ${planted.toLocaleString()}`,
  canaryText:
    'Invented secrets were planted in a copy of this session to see how many go. What stayed of the unknown kinds is what to expect of private things that only you can recognise: write a rule for yours.',
  canaryKinds: 'Kind by kind',
  canaryNone: 'Nothing could be planted: the session has no text.',
  addRule: 'Add a rule…',
  rules: 'Your rules',
  rulesText:
    'They hold for all sessions and are kept encrypted. A file sanitize-rules.yaml in the home of Tackroom holds too.',
  ruleTitle: 'A rule for all sessions',
  ruleDoes: 'What it does',
  ruleKinds: {
    redact: 'Replace a value (any case, whole words, every encoding)',
    pattern: 'Replace what a pattern matches',
    deny: 'Keep sessions here that hold a value',
    keep: 'Never replace a value',
  },
  ruleName: 'Name',
  ruleValue: 'Value',
  rulePattern: 'Pattern',
  rulePatternHelp: 'A regular expression without look-around, with three plain characters in a row.',
  ruleAdd: 'Add',
} as const;
