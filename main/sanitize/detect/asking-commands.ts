/** Commands whose whole output is something private: a name, a host, a secret. What they print is looked for in main/sanitize/answers.ts. */
import { AnchorFlag } from '../scan/layout.js';
import { isSharedHost, isSharedUser } from './people.js';
import type { Anchored, Detector } from './text-view.js';

export interface Asked {
  family: 'user' | 'host' | 'person' | 'password';
  /** The output, without what is blank at its ends. */
  answer: RegExp;
}

const USER: Asked = { family: 'user', answer: /^[A-Za-z_][\w.-]{1,31}$/ };
const HOST: Asked = { family: 'host', answer: /^[A-Za-z][A-Za-z0-9-]{2,62}(?:\.[A-Za-z0-9-]{1,62}){0,4}$/ };
const PERSON: Asked = { family: 'person', answer: /^\p{L}[\p{L}'.-]{0,30}(?: \p{L}[\p{L}'.-]{0,30}){1,3}$/u };
const SECRET: Asked = { family: 'password', answer: /^(?!REDACTED_|\$|<|\*\*)[^\s"\\]{6,300}$/ };

/** Of a whole command line, `cd` before it and redirections after it left out. */
const COMMANDS: [RegExp, Asked][] = [
  [/^(?:whoami|logname|id -u?nu?|echo "?\$\{?(?:USER|LOGNAME|USERNAME)\}?"?)$/, USER],
  [
    /^(?:hostname(?: -[fsa])?|uname -n|cat \/etc\/hostname|hostnamectl (?:--static )?hostname|hostnamectl --static|scutil --get (?:ComputerName|LocalHostName|HostName)|echo "?\$\{?(?:HOSTNAME|COMPUTERNAME)\}?"?)$/,
    HOST,
  ],
  [/^git config (?:--global )?(?:--get )?user\.name$/, PERSON],
  [
    /^(?:gh auth token(?: .{1,60})?|security find-(?:generic|internet)-password (?:.{1,120} )?-w(?: .{1,60})?|(?:pass|gopass) show [\w./@-]{1,100}|op read ["']?op:\/\/.{1,120}|secret-tool lookup .{1,100}|vault (?:kv get|read) .{0,60}-field[= ].{1,80}|(?:echo|printenv) "?(?:\$\{?)?[A-Z0-9_]{0,40}(?:TOKEN|SECRET|PASSWORD|PASSWD|PASS|API_?KEY)\}?"?|nmcli .{0,80}-security\.psk.{0,80}|bw get password .{1,80}|(?:aws|gcloud) .{1,60}secrets?.{1,160})$/,
    SECRET,
  ],
];
const AROUND = /^(?:cd [^;&|]{1,200}(?:&&|;)\s*)?(.+?)(?:\s*2>\s*(?:\/dev\/null|&1))?$/;

/** null: it is none, or not alone. */
export function askedBy(command: string): Asked | null {
  if (command.length > 300) return null;
  const alone = AROUND.exec(command.trim())?.[1] ?? '';
  return COMMANDS.find(([shape]) => shape.test(alone))?.[1] ?? null;
}

/** Whether this is what such a command prints. */
export const isAnswer = ({ family, answer }: Asked, text: string): boolean =>
  answer.test(text) &&
  !(family === 'user' && isSharedUser(text)) &&
  !(family === 'host' && isSharedHost(text)) &&
  !/^(?:true|false|null|none|unknown)$/i.test(text);

const asking: Detector = (view) => {
  if (askedBy(view.text)) view.asks();
};

export const ASKING: Anchored[] = [
  {
    anchors:
      'whoami logname id\u2423-un id\u2423-nu echo\u2423$ echo\u2423"$ printenv hostname uname\u2423-n scutil\u2423--get user.name auth\u2423token find-generic-password find-internet-password pass\u2423show op\u2423read secret-tool -field security.psk bw\u2423get secrets',
    flags: AnchorFlag.exactCase,
    detector: asking,
  },
];
