/** Secrets and names known by the place they stand in: listings, dumps, key files of single tools. */

import { AnchorFlag } from '../scan/layout.js';
import { isTokenValue } from '../value-gates.js';
import { addHost, addPerson, addUser, NAME } from './people.js';
import { always, exact, password, personal, place, secret, start, strong } from './place.js';
import type { Anchored, Detector } from './text-view.js';

function base64Text(value: string): boolean {
  if (!/[\dA-Z]/.test(value)) return false;
  const text = Buffer.from(value, 'base64').toString('latin1');
  return (
    /^[ -~\n]+$/.test(text) &&
    Buffer.from(text, 'latin1').toString('base64').replace(/=+$/, '') === value.replace(/=+$/, '')
  );
}

/** Values of a Kubernetes Secret are base64, whatever they are called. */
const secretData: Detector = (view, at) => {
  const { text } = view;
  if (!/kind["']?:\s{0,4}["']?Secret/.test(text.slice(Math.max(0, at - 4000), at + 4000))) return;
  const body = /^\s{0,4}\n([ \t]{1,12})[\w./-]{1,100}: [^\n]*(?:\n\1[\w./-]{1,100}: [^\n]*){0,60}/.exec(
    text.slice(at + 5, at + 60_000),
  );
  if (!body) return;
  const from = at + 5;
  for (const row of body[0].matchAll(/: ["']?([A-Za-z0-9+/]{2,40000}={0,2})["']?[ \t]*(?=\n|$)/g)) {
    const begin = from + row.index + row[0].indexOf(row[1]!);
    if (row[1]!.length % 4 === 0 && (base64Text(row[1]!) || row[1]!.length >= 40))
      view.spans.push({
        start: begin,
        end: begin + row[1]!.length,
        family: 'k8s-secret-data',
        certainty: 'block',
        value: row[1]!,
      });
  }
};

const JWK_PART = /["'\s{,](?:d|p|q|dp|dq|qi|k)["']?\s{0,4}[:=]\s{0,4}["']([A-Za-z0-9_-]{32,1400})["']/dg;
/** Private parts of a JSON Web Key (RFC 7517) around its `kty`. */
const jwk: Detector = ({ text, spans }, at) => {
  const from = Math.max(0, at - 2000);
  for (const match of text.slice(from, at + 4000).matchAll(JWK_PART)) {
    const start = from + match.indices![1]![0];
    spans.push({ start, end: start + match[1]!.length, family: 'jwk-private', certainty: 'block', value: match[1]! });
  }
};

/** What a command prints that shows one secret. */
const SHOWN =
  'base64␣-d base64␣-D --decode master.key .key\n print-access-token print-identity-token get-login-password pass␣show op␣read -field find-generic-password auth␣token\n printenv api_key\n token\n secret\n'.replaceAll(
    '\\n',
    '\n',
  );

export const PLACES: Anchored[] = [
  place(
    SHOWN,
    /(?:^|\n)[^\n]{0,300}(?:base64 (?:-d|-D|--decode)|(?:cat|type|less|head|more|bat) \S{0,80}(?:\.key|secret\S{0,20}|token\S{0,20}|\.pem|credentials?)|print-(?:access|identity)-token|get-login-password|\bpass show \S+|\bop read \S+|\bvault (?:kv get|read) -field\S*[^\n]*|find-generic-password[^\n]*-w|auth token|printenv \S*(?:KEY|TOKEN|SECRET|PASSWORD)|redis-cli (?:h?get) [^\n]*(?:key|token|secret|password))\s{0,3}\n["']?([^\s"']{8,4000})["']?[ \t]*(?=\n|$)/,
    secret('generic-secret', (v) => isTokenValue(v) || strong(v)),
  ),
  place(
    '?code= &code= code=',
    /[?&"'\s]code=([A-Za-z0-9_.~%/-]{16,2000})/,
    secret('oauth-code', (v) => isTokenValue(v) && /\d/.test(v)),
  ),
  place(
    'privatekey presharedkey wg_',
    /\b(?:PrivateKey|PresharedKey|WG_(?:PRIVATE|PRESHARED|PSK)[A-Z_]{0,8}|private[ _-]key|preshared[ _-]key)["']?\s{0,4}(?:[=:]|<\(echo|\|)\s{0,4}["']?([A-Za-z0-9+/]{43}=)/i,
    secret('wireguard-private-key', always),
  ),
  { anchors: 'kty', flags: AnchorFlag.exactCase, detector: jwk },
  place(
    'keyname key1 key2',
    /\bkey[12]\b[^A-Za-z0-9\n]{1,20}(?:Full[^A-Za-z0-9\n]{1,12}|FULL[^A-Za-z0-9\n]{1,12})?([A-Za-z0-9+/]{86}==)/,
    secret('azure-storage-key', always),
  ),
  place(
    'client-key-data',
    /\bclient-key-data["']?:[ ]{0,4}["']?([A-Za-z0-9+/=]{40,20000})/,
    secret('kubeconfig-key', always),
  ),
  place(
    'private_key_id',
    /\bprivate_key_id["']?\s{0,4}[:=]\s{0,4}\\{0,4}["']([a-f0-9]{32,64})/,
    secret('private-key-id', always),
  ),
  { anchors: 'data:', flags: start, detector: secretData },
  place(
    '$1$ $2a$ $2b$ $2y$ $5$ $6$ $y$ $apr1$ $argon2 {ssha} {sha} $pbkdf2 pbkdf2_sha pbkdf2: scrypt: bcrypt_sha256$ bcrypt$ argon2$',
    /(?<![\w.])(\$(?:1|2[aby]|5|6|7|y|apr1)\$[A-Za-z0-9./$=,]{20,200}|\$?(?:argon2(?:id|i|d)?|pbkdf2[\w-]{0,12}|scrypt|bcrypt(?:_sha256)?)[$:][A-Za-z0-9+/=,.$:-]{20,300}|\{S?SHA\}[A-Za-z0-9+/=]{24,100})/i,
    secret('password-hash', (v) => !/x{8}|\.{3}/.test(v)),
  ),
  place(
    ':*: :5432: :5433: :6543:',
    /(?:^|\n|["'`])[\w.*-]{1,200}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*.@-]{1,60}:([^\s:"'`]{4,200})(?=[\n"'`\s]|$)/,
    secret('password', password),
  ),
  place(
    'mnemonic seed␣phrase seed_phrase recovery␣phrase secret␣phrase seedphrase backup␣phrase',
    /\b(?:mnemonic|(?:seed|recovery|secret|backup)[ _-]?phrase)\w{0,12}["']?[^\n"'a-z]{0,4}(?:\s{0,4}[=:]\s{0,4}|\s(?:is|was)\s{1,4})?\\{0,4}["']?((?:[a-z]{3,8}[ ,]{1,3}){11,23}[a-z]{3,8})\b/i,
    secret('seed-phrase', always),
  ),
  place('otpauth://', /otpauth:\/\/[^\s"']{0,200}?secret=([A-Z2-7a-z]{12,128}=*)/, secret('otp-seed', always)),
  place(
    'serial uuid machine-id machine␣id boot␣id',
    /\b(?:Serial Number(?: \(system\))?|serial[ _-]?number|serial|Hardware UUID|machine-id|Machine ID|Boot ID|IOPlatformSerialNumber|IOPlatformUUID|System UUID|Provisioning UDID)["']?\s{0,2}[:=]\s{1,8}["']?([A-Za-z0-9-]{8,40})/i,
    personal('serial', (v) => /\d/.test(v) && /[A-Za-z]/.test(v) && !/^0+$/.test(v)),
  ),
  place('machine-id', /\/etc\/machine-id\s{1,4}([0-9a-f]{32})\b/, personal('serial')),
  place(
    'hostname computername localhostname host␣name nodename',
    /\b(?:Static hostname|Host [Nn]ame|Transient hostname|Pretty hostname|hostname|HOST|COMPUTERNAME|ComputerName|LocalHostName|HostName|nodename|Computer Name|Machine name|MachineName)["']?[ \t]{0,24}[:=][ \t]{0,24}["']?([A-Za-z0-9][A-Za-z0-9.-]{2,80})(?![\w(])/i,
    addHost,
  ),
  place(
    'hostnamectl hostname␣',
    /\b(?:hostnamectl set-hostname|hostname|scutil --set (?:HostName|ComputerName|LocalHostName))\s{1,3}["']?([A-Za-z][A-Za-z0-9.-]{2,62})(?=["']?(?:\n|$))/,
    addHost,
  ),
  place(
    'linux␣ darwin␣ freebsd␣',
    /(?:^|\n|["'`\t>])(?:Linux|Darwin|FreeBSD) ([A-Za-z0-9][A-Za-z0-9.-]{2,62}) \d{1,2}\.\d{1,3}/,
    addHost,
  ),
  place(
    'connect␣to␣host could␣not␣resolve resolve␣hostname',
    /\b(?:connect to host|resolve host(?:name)?:?)\s([A-Za-z0-9][A-Za-z0-9.-]{2,200}?)(?=[:\s]|$)/i,
    addHost,
  ),
  place('last␣login host␣key', /\bLast login: [^\n]{8,40} from ([A-Za-z][A-Za-z0-9.-]{2,100})/, addHost),
  place(
    'sshd[ sudo: sudo[ cron[ systemd[ kernel: dockerd[ CRON[',
    /(?:^|\n)[A-Z][a-z]{2}\s{1,2}\d{1,2}\s\d\d:\d\d:\d\d ([A-Za-z0-9][\w.-]{2,62}) [\w.-]{2,32}(?:\[\d{1,8}\])?:/,
    addHost,
  ),
  place(
    '-r drw lrw -rw dr- crw srw prw brw',
    /(?:^|\n|["'\t> ])[bcdlps-](?:[r-][w-][xsStT-]){3}[@+.]?\s{1,8}(?:\d{1,6}\s{1,6})?([A-Za-z][\w.-]{1,31})\s{1,12}([A-Za-z][\w.-]{0,31})\s{1,12}[\d,.]{1,12}[KMGTkB]?\s/,
    addUser,
    exact,
  ),
  place(
    'uid= gid= euid= groups=',
    /\b(?:uid|gid|euid|groups)=\d{3,10}\(([A-Za-z][\w.+-]{1,31})\)(?: (?:gid|groups)=\d{1,10}\(([A-Za-z][\w.+-]{1,31})\))?(?: groups=\d{1,10}\(([A-Za-z][\w.+-]{1,31})\))?/,
    addUser,
    start,
  ),
  place(
    'user= user: logname= username= sudo_user= user␣name login: in␣user',
    /(?<![\w.-])(?:USER|LOGNAME|USERNAME|SUDO_USER|User [Nn]ame|Logged in user|Login)["']?[ \t]{0,12}[:=][ \t]{0,12}["']?([A-Za-z][\w.-]{1,31})(?=["'\s\\,;&]|$)/,
    addUser,
  ),
  place(
    'logged␣in␣to logged␣in␣as switched␣to␣user session␣opened␣for␣user for␣user password␣for accepted␣publickey accepted␣password failed␣password',
    /(?<!\w)(?:Logged in to \S{3,80} (?:account|as)|logged in as|[Ss]witched to user|for (?:invalid )?user|\[sudo\] password for|Accepted (?:publickey|password) for|Failed password for(?: invalid user)?)\s{1,3}["']?([A-Za-z][\w.-]{1,38})\b/i,
    addUser,
  ),
  place('github.com: gitlab.com:', /git(?:hub|lab)\.com:(?:\n|\\n)\s{1,8}user:[ ]{1,4}([A-Za-z][\w.-]{1,38})/, addUser),
  place(
    ':/home/ :/users/ :/bin/bash :/bin/zsh',
    /(?:^|\n)([a-z_][\w.-]{1,31}):[x*!]?:\d{3,10}:\d{1,10}:([^:\n]{0,80}):/,
    (view, at, value) => (/[ ,]/.test(value) ? addPerson(view, at, value.split(',')[0]!) : addUser(view, at, value)),
  ),
  place(
    'chown useradd usermod adduser su␣ passwd␣ id␣ groups␣ loginctl',
    /\b(?:chown(?: -[RhLv]{1,4})?|useradd|usermod|adduser|su -|passwd|loginctl enable-linger)\s(?:-[\w-]{1,12} (?:\S{1,40} )?){0,4}([A-Za-z][\w.-]{1,31})(?=[:\s"']|$)/,
    addUser,
  ),
  place(
    'account␣id accountid "account" aws_account account: tenantid tenant_id tenant␣id subscriptionid subscription_id',
    /\b(?:Account(?:Id| ID)?|account_id|aws_account(?:_id)?|accountId|AWS_ACCOUNT_ID)["']?\s{0,3}[:=]\s{0,3}["']?(\d{12})\b|\b(?:tenant_?id|subscription_?id|ARM_(?:TENANT|SUBSCRIPTION|CLIENT)_ID|AZURE_(?:TENANT|SUBSCRIPTION|CLIENT)_ID)["']?\s{0,3}[:=]\s{0,3}["']?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/i,
    personal('account-id', (v) => !/^(\d)\1+$|^123456789012$|^0{8}|^0{6}/.test(v)),
  ),
  place(
    'arn:aws',
    /\barn:aws[\w-]{0,8}:[\w-]{1,40}:[\w-]{0,20}:(\d{12}):/,
    personal('account-id', (v) => !/^(\d)\1+$|^123456789012$|^0{6}/.test(v)),
  ),
  place('AIDA AROA', /\b((?:AIDA|AROA)[A-Z0-9]{16,17})\b/, personal('account-id'), start),
  place(
    '.dkr.ecr.',
    /\b(\d{12})\.dkr\.ecr\./,
    personal('account-id', (v) => !/^(\d)\1+$|^123456789012$|^0{6}/.test(v)),
    exact,
  ),
  place('\t', new RegExp(`(?:^|\\n)\\s{1,6}\\d{1,6}\\t(${NAME})(?: <|\\n|$)`), addPerson, exact),
  place(
    '␣20',
    new RegExp(`(?:^|\\n)\\^?[0-9a-f]{7,40} (?:\\S{1,120} )?\\((${NAME})\\s{1,30}\\d{4}-\\d\\d-\\d\\d`),
    addPerson,
    exact,
  ),
  place(
    'uid:',
    /\bUid: \(\s{0,6}\d{3,10}\/\s{0,8}([A-Za-z][\w.-]{1,31})\)(?:\s{1,6}Gid: \(\s{0,6}\d{1,10}\/\s{0,8}([A-Za-z][\w.-]{1,31})\))?/,
    addUser,
  ),
  place(
    '.r .d',
    /(?:^|\n)[.dlbcps|](?:[r-][w-][xsStT-]){3}[@+.]?\s{1,8}[\d.,]{1,10}[kMGT]?i?\s{1,6}([A-Za-z][\w.-]{1,31})(?: ([A-Za-z][\w.-]{1,31}))?\s{1,6}\d{1,2} [A-Z][a-z]{2} /,
    addUser,
    exact,
  ),
  place(
    'pts/ tty ?␣␣',
    /(?:^|\n)([a-z_][\w.+-]{1,31})\s{1,12}(?:\d{1,8}\s{1,6}\d{1,3}\.\d\s{1,6}\d{1,3}\.\d\s[^\n]{0,200}|(?:pts\/\d{1,4}|tty\w{1,6}|console|:\d)\s{1,12}(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [ \d]\d|\S{3,60}\s{1,8}(?:\d{1,2}:\d\d|[A-Z][a-z]{2})))/,
    addUser,
  ),
  place(
    'whoami logname\n id␣-un',
    /(?:^|\n)[^\n]{0,40}(?:^|[$%#>;&\s])(?:whoami|logname|id -un)\s{0,3}\n([A-Za-z][\w.-]{1,31})[ \t]*(?=\n|$)/,
    addUser,
  ),
  place(
    'hostname\n',
    /(?:^|\n)[^\n]{0,40}(?:^|[$%#>;&\s])(?:hostname|hostname -s|uname -n|scutil --get (?:LocalHostName|ComputerName|HostName))\s{0,3}\n([A-Za-z][\w.-]{1,62})[ \t]*(?=\n|$)/,
    addHost,
  ),
  place('sudoers', /(?:^|\n)([A-Za-z][\w.-]{1,31}) is not in the sudoers/, addUser),
  place('sudo␣-', /\bsudo\s{1,3}(?:-[\w]{1,4} ){0,3}-u\s{0,2}["']?([A-Za-z][\w.-]{1,31})/, addUser),
  place('127.0.1.1 127.0.0.1', /(?:^|\n)127\.0\.[01]\.1\s{1,12}([A-Za-z][\w.-]{2,62})/, addHost),
  place(
    'ansible_user ansible_ssh_user',
    /\bansible_(?:ssh_)?user\s{0,2}[=:]\s{0,2}["']?([A-Za-z][\w.-]{1,31})/,
    addUser,
  ),
  place('\u00e3\u0089\u00bf', /\(([a-z_][\w.-]{1,31})\u00e3\u0089\u00bf[\w.-]{2,62}\)-\[/, addUser),
  place('\u00e3\u0089\u00bf', /\u00e3\u0089\u00bf([\w.-]{2,62})\)-\[/, addHost),
  place('authenticating␣to', /\bAuthenticating to ([\w.-]{3,100}):\d{1,5} as '([\w.-]{2,32})'/, (view, at, value) =>
    /\./.test(value) ? addHost(view, at, value) : addUser(view, at, value),
  ),
  place('hostname␣', /(?:^|\n)[ \t]{0,12}HostName[ \t=]{1,12}([A-Za-z0-9][\w.-]{2,100})/, addHost),
  place('user␣', /(?:^|\n)[ \t]{1,12}User[ \t]{1,12}([A-Za-z][\w.-]{1,31})[ \t]*(?=\n|$)/, addUser),
  place(
    'author␣ committer␣ tagger␣',
    new RegExp(`(?:^|\\n)(?:author|committer|tagger) (${NAME})(?= <|\\n|$)`),
    addPerson,
  ),
  place('name␣=␣', new RegExp(`\\[(?:user|author|committer)\\]\\s{1,12}name = (${NAME})`), addPerson),
  place('ago)␣<', new RegExp(`\\(\\d{1,3} \\w{3,7} ago\\) <(${NAME})>`), addPerson),
  place(
    'full␣name fullname real␣name displayname display␣name',
    new RegExp(
      `(?:[Ff]ull ?[Nn]ame|[Rr]eal ?[Nn]ame|[Dd]isplay ?[Nn]ame|RealName)["']?\\s{0,12}[:=]\\s{0,12}["']?(${NAME})`,
    ),
    addPerson,
  ),
  place('ssid: ssid= psk=', /\bpsk\s{0,2}=\s{0,2}["']?([^\s"'\\]{8,64})/, secret('password', strong)),
];
