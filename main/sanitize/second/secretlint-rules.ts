/**
 * The rules of secretlint (MIT), which others wrote and keep, run without its runner: that one is asynchronous, reads configuration,
 * and has the rule by which a text can switch rules off.
 */
import { rules as preset } from '@secretlint/secretlint-rule-preset-recommend';
import { holdsStandIn } from './stand-in-places.js';

interface Source {
  content: string;
  filePath?: string;
  ext: string;
  contentType: 'text';
}
interface Message {
  message: { messageId: string };
  range: readonly [number, number];
}
interface RuleCreator {
  meta: { id: string };
  create(
    context: {
      createTranslator(messages: unknown): (messageId: string) => { messageId: string };
      report(message: Message): void;
    },
    options: Record<string, unknown>,
  ): { file(source: Source): unknown };
}

interface Use {
  /** Without one of these in the text a rule finds nothing; letters in the case that the rule asks for, `~`: any case. */
  literals: string;
  options?: Record<string, unknown>;
  /** For what kind of file the rule shall take the text. */
  filePaths?: readonly string[];
  /** A finding may lie in several lines of plain text. */
  manyLines?: boolean;
}

const PREFIX = '@secretlint/secretlint-rule-';
export const URL_LITERAL = '://';
/** By the rule's name without the prefix. */
export const USED: Readonly<Record<string, Use>> = {
  aws: {
    literals:
      'AKIA AGPA AIDA AROA AIPA ANPA ANVA ASIA A3T ACCESSKEY ACCESS_KEY ACCESSkey ACCESS_key ACCESSKey ACCESS_Key accessKEY access_KEY accesskey access_key accessKey access_Key AccessKEY Access_KEY Accesskey Access_key AccessKey Access_Key',
    options: { enableIDScanRule: true },
  },
  privatekey: { literals: 'PRIVATE␣KEY', manyLines: true },
  npm: { literals: 'npm_ :x-oauth-basic@ _authToken=', filePaths: ['package.json', '.npmrc'] },
  basicauth: { literals: URL_LITERAL },
  slack: { literals: 'xoxb- xoxp- xapp- xoxa- xoxo- xoxr- ~hooks.slack.com/services/t' },
  sendgrid: { literals: 'SG.' },
  shopify: { literals: 'shppa_ shpca_ shpat_ shpss_' },
  github: { literals: 'ghp_ gho_ ghu_ ghs_ ghr_ github_pat_' },
  gitlab: { literals: 'glpat-' },
  grafana: { literals: 'glc_ glsa_' },
  openai: { literals: 'T3BlbkFJ' },
  anthropic: { literals: 'sk-ant-api0' },
  groq: { literals: 'gsk_' },
  huggingface: { literals: 'hf_' },
  linear: { literals: 'lin_api_' },
  notion: { literals: 'ntn_' },
  '1password': { literals: 'ops_ey' },
  'database-connection-string': { literals: URL_LITERAL },
  'hashicorp-vault': { literals: 'hvs. hvb. hvr.' },
  vercel: { literals: 'vcp_ vci_ vca_ vcr_ vck_' },
  databricks: { literals: 'dapi' },
  docker: { literals: 'dckr_pat_' },
  figma: { literals: 'figd_' },
};
/** Why the others are left out. */
export const NOT_USED: Readonly<Record<string, string>> = {
  gcp: 'asks whether a whole file is a key; of a cleaned one the fields and headers stay, and `privatekey` looks for the key itself',
  'filter-comments': 'lets the text that is looked at switch rules off',
};

interface Rule {
  name: string;
  literals: readonly string[];
  manyLines: boolean;
  run(content: string): Found[];
}
export interface Found {
  rule: string;
  messageId: string;
  start: number;
  end: number;
}

const nameOf = ({ meta }: RuleCreator): string => meta.id.slice(PREFIX.length);

function bind(creator: RuleCreator): Rule {
  const rule = nameOf(creator);
  const use = USED[rule]!;
  let found: Found[] = [];
  const { file } = creator.create(
    {
      createTranslator: () => (messageId) => ({ messageId }),
      report: ({ message: { messageId }, range: [start, end] }) => found.push({ rule, messageId, start, end }),
    },
    use.options ?? {},
  );
  const run = (content: string): Found[] => {
    found = [];
    for (const filePath of use.filePaths ?? [undefined])
      file({ content, ext: '.txt', contentType: 'text', ...(filePath && { filePath }) });
    return found.filter((one) => !isAllowed(one, content));
  };
  const literals = use.literals.split(' ').map((literal) => literal.replaceAll('\u2423', ' '));
  return { name: rule, literals, manyLines: use.manyLines ?? false, run };
}

export const presetNames = (): string[] => (preset as unknown as RuleCreator[]).map(nameOf);
export const RULES: readonly Rule[] = (preset as unknown as RuleCreator[])
  .filter((creator) => USED[nameOf(creator)])
  .map(bind);

const USER_AND_PASSWORD = /:\/\/([^:/\s]*):([^@/\s]*)@/;
/** Stands where the password would, behind a token. */
const NO_PASSWORD = 'x-oauth-basic';
/** Messages with a range that begins and ends too early, and what holds their token. */
const TOKEN_OF: Readonly<Record<string, RegExp>> = {
  Npmrc_authToken: /_authToken=["']?([^\s"'\\]*)/,
  PackageJSON_xOauthToken: /:\/\/([^\s"']{1,256}):x-oauth-basic@/,
};
/** What somebody wrote in the place of a value: a word for one, or eight times the same character. */
const PLACEHOLDER = /(?:^|[-_.])(?:your|example|placeholder|changeme)|([A-Za-z0-9*.#-])\1{7}/i;

/** What a rule reports and the sanitizer keeps, with reasons. */
function isAllowed({ messageId, start, end }: Found, content: string): boolean {
  // The number of an account is no secret; where it is personal data, the detectors take it away.
  if (messageId === 'AWSAccountID') return true;
  const text = TOKEN_OF[messageId]?.exec(content.slice(start))?.[1] ?? content.slice(start, end);
  // Only the password of a URL is replaced, and a stand-in looks like one.
  const [, user, password] = USER_AND_PASSWORD.exec(text) ?? [];
  const value = (password === NO_PASSWORD ? user : password) ?? text;
  return holdsStandIn(value) || PLACEHOLDER.test(value);
}
