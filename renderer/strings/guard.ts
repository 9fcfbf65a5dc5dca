/** Sentences of the Guard screen. */
import type { GuardSettings } from '../../contract/guard.js';
import type { PluginView } from '../../contract/guard-calls.js';
import type { Verdict } from '../../contract/records.js';

export const guardStrings = {
  title: 'Guard',
  lead: 'Tool calls that were blocked or look suspicious, newest first. Everything else went through.',
  filters: 'Filter the log',
  verdict: 'Verdict',
  rule: 'Rule',
  ruleWithCount: (rule: string, found: number) => `${rule} (${found.toLocaleString()})`,
  harness: 'Harness',
  rollouts: 'Rollouts too',
  kinds: { block: 'blocked', suspicious: 'suspicious', allow: 'allowed' } satisfies Record<Verdict['verdict'], string>,
  severity: (severity: Verdict['severity']) => `${severity} severity`,
  stages: { 1: 'stage 1, request', 2: 'stage 2, rules', 3: 'stage 3, judge' } as Record<number, string>,
  openStep: 'Open the session at this step',
  gotNotice: 'The agent got the reason as text.',
  gotHarmless: 'The agent got a harmless call that reports it.',
  ran: 'It went through.',
  noCall: 'The call is not on record.',
  older: 'Show older ones',
  log: 'Log',
  emptyTitle: 'Nothing found',
  emptyText:
    'Each tool call of your agents is judged before it runs. What is blocked, or looks suspicious, is listed here.',
  emptyFiltered: 'No finding matches. Change the filters.',
  wrong: 'This was wrong…',
  wrongLabel: (rule: string, tool: string) => `This was wrong: ${rule} on ${tool}`,
  wrongTitle: 'Let this call pass?',
  wrongText: (rule: string, tool: string) =>
    `From now on the rule ${rule} lets exactly this call of ${tool} pass, whichever of your agents makes it:`,
  wrongLimits:
    'Other blanks or another description make no difference; any other text is another call, and so is this one once a script or a build file that the agent wrote and that it runs has changed. About a host, only the named one passes. All other rules still look at it. Rollouts are judged without it.',
  wrongTest:
    'The conversation up to this call is kept as a test of the rule, in a file that only you can read. It goes with its session.',
  wrongNow: 'Let it pass',
  passes: 'let pass',
  passing: (rule: string) => `${rule} lets this call pass from now on.`,
  impossible: 'Nobody could run this call: there is nothing to let pass.',
  allowances: 'Let pass',
  noAllowances: 'Nothing yet. “This was wrong” at a finding adds one.',
  goneCall: 'Its session was deleted; the call is known by its hash only.',
  revoke: 'Revoke',
  revokeLabel: (rule: string, tool: string) => `Revoke: ${rule} on ${tool}`,
  revokeTitle: 'Look at this call again?',
  revokeText: (rule: string, tool: string) =>
    `The rule ${rule} judges this call of ${tool} again from its next check on. The test goes too.`,
  revoked: 'The rule looks at this call again.',
  settings: 'How it judges',
  profile: 'Profile',
  profiles: {
    desktop: 'Desktop: what ordinary work looks like is only suspicious',
    training: 'Training: strict, as in rollouts',
  } satisfies Record<GuardSettings['profile'], string>,
  blocked: 'A blocked call becomes',
  blockedForms: {
    notice: 'a notice: the agent reads the reason and its turn ends',
    harmless: 'a harmless call: it only reports, and the agent goes on',
  } satisfies Record<GuardSettings['blocked'], string>,
  judge: 'Judge',
  judgeHelp:
    'A model on this machine that reads what you asked, a suspicious call and the finding. It can only add a block.',
  judges: { off: 'off', engine: 'the built-in engine', server: 'a server on this machine' },
  judgeUrl: 'Address',
  judgeUrlExample: 'http://127.0.0.1:8080/v1',
  judgeModel: 'Model',
  judgeModelExample: 'the server’s only one',
  judgeSeconds: 'Seconds it may take',
  save: 'Save',
  saved: 'The guard judges so from its next check on.',
  plugins: 'Plugins',
  pluginsHelp:
    'Rules of your own: a .json, .mjs, .js or .ts file. Modules run apart, without files or network. What runs is the content that you added.',
  pluginPath: 'File',
  pluginExample: '/home/you/rules/own.mjs',
  addPlugin: 'Add',
  addAgain: 'Add again',
  addAgainLabel: (path: string) => `Add again: ${path}`,
  removePlugin: 'Remove',
  removeLabel: (path: string) => `Remove: ${path}`,
  pluginStates: {
    ready: 'runs',
    changed: 'changed, not run',
    missing: 'missing, not run',
  } satisfies Record<PluginView['state'], string>,
  pluginsInRollouts: 'They look at rollouts too',
} as const;
