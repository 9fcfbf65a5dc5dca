/** Names of persons, accounts and machines, by the places they stand in. */
import { AnchorFlag } from '../scan/layout.js';
import {
  type Anchored,
  CHAR,
  type Detector,
  isChar,
  lineStart,
  matchAt,
  runBefore,
  type TextView,
} from './text-view.js';

/** Accounts that belong to nobody. */
const SHARED_USERS = new Set(
  'user users you username your-name yourname your_name your-username runner ubuntu debian fedora centos alpine arch node app apps root admin administrator linuxbrew shared public default guest vagrant circleci jenkins git gitlab ec2-user azureuser opc cloud-user pi dev developer test tester docker vscode codespace codespaces coder gitpod me name home work workspace project projects src user1 user2 user3 someone somebody example build builder agent opencode hermes nobody daemon bin sys sync mail www www-data nginx apache mysql postgres redis mongodb rabbitmq elasticsearch kibana grafana prometheus systemd sshd ftp backup staff wheel users sudo operator service svc worker deploy deployer ci bot runneradmin containeruser foo bar baz jovyan appuser nonroot pwuser dockeruser rstudio airflow spark hadoop deno bun rails ec2user chrome puppeteer playwright seluser kasm abc steam minecraft homeassistant plex oracle sonar tomcat jetty wildfly nexus artifactory drone woodpecker travis buildkite-agent buildkite alice bob john jane janedoe johndoe john.doe jane.doe local lib share tmp var etc opt x y z a b id all current this myuser my-user null none true false undefined string'.split(
    ' ',
  ),
);

export function isSharedUser(name: string): boolean {
  return SHARED_USERS.has(name.toLowerCase()) || /^(?:user|person|host)\d{1,6}(?:slug)?$/.test(name);
}

/** Hosts that say nothing about whose they are. */
const SHARED_HOSTS =
  /^(?:localhost|hostname|host|string|name|true|false|null|none|undefined|db|redis|postgres|mysql|mongo|web|app|api|cache|server|node|master|worker|local|docker|default|example|myhost|your-host|[0-9a-f]{12}|host\d{1,4}|ip6-\w+|broadcasthost|gateway|raspberrypi|ubuntu|debian|kali|fedora|archlinux|github|gitlab)$/i;
const PUBLIC_HOST =
  /(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid|localhost|github\.com|gitlab\.com|bitbucket\.org|ssh\.dev\.azure\.com|heroku\.com|sr\.ht|codeberg\.org|googlesource\.com|kernel\.org|debian\.org|npmjs\.(?:com|org)|pypi\.org|docker\.io|amazonaws\.com|localdomain)$/i;
export const isSharedHost = (host: string): boolean =>
  SHARED_HOSTS.test(host) || PUBLIC_HOST.test(host) || /^[\d.]+$/.test(host) || host.startsWith('REDACTED');

export function add({ spans }: TextView, start: number, value: string, family: string): void {
  spans.push({ start, end: start + value.length, family, certainty: 'personal', value });
}

export function addUser(view: TextView, start: number, value: string): void {
  const name = value.replace(/[.-]+$/, '');
  if (name.length > 1 && !isSharedUser(name) && !/^\d+$/.test(name) && !/^(?:REDACTED|\$|%)/.test(name))
    add(view, start, name, 'user');
}

export function addHost(view: TextView, start: number, value: string): void {
  const host = value.replace(/[.-]+$/, '');
  if (host.length > 2 && !isSharedHost(host)) add(view, start, host, 'host');
}

/** A person's name: capitalised words, letters of any script. Bytes above 0x7f are parts of letters here. */
const WORD = "[A-Z\\u0080-\\u00ff][A-Za-z\\u0080-\\u00ff'.-]{0,30}";
export const NAME = `${WORD}(?: (?:(?:van|von|de|der|den|da|dos|di|del|la|le|bin|al|ter|zu) ){0,2}${WORD}){1,3}`;
const NOBODY =
  /\bbot\b|\[bot\]|github|noreply|^person\d{1,4}$|^(?:your|first|full|the|some) |\bname\b|actions|dependabot|renovate|jenkins|^(?:test|example|unknown) /i;

export function addPerson(view: TextView, start: number, value: string): void {
  const name = value.trim();
  if (name.length > 2 && !NOBODY.test(name) && /[A-Za-z\u0080-\u00ff]/.test(name))
    add(view, start + value.indexOf(name), name, 'person');
}

const EMAIL_AFTER = /@((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}[A-Za-z]{2,24})(?![A-Za-z0-9_-])/y;
const SAFE_DOMAIN =
  /^(?:(?:[\w-]+\.)*example\.(?:com|org|net)|(?:[\w-]+\.)*(?:example|test|invalid|localhost|local)|users\.noreply\.github\.com|sentry\.io|(?:[\w-]+\.)?ingest\.[\w.]*sentry\.io|git\.kernel\.org|github\.com|gitlab\.com|bitbucket\.org)$/i;
const SAFE_LOCAL =
  /^(?:noreply|no-reply|donotreply|do-not-reply|git|hg|svn|support|info|hello|contact|security|abuse|privacy|legal|press|jobs|careers|sales|billing|team|admin|root|postmaster|webmaster|hostmaster|user|you|yourname|your\.name|name|email|me|test|foo|bar|npm|bot|actions|dependabot|dev|example|username|someone|alice|bob|john\.doe|jane\.doe|john|jane)$|\[bot\]/i;
const FILE_SUFFIX =
  /\.(?:png|jpe?g|gif|svg|webp|avif|ico|m?jsx?|c?js|m?tsx?|css|scss|json|py|rb|rs|go|md|ya?ml|toml|service|target|socket|so|lock|txt|html?|sh|plist|mount|timer|zip|gz|tgz|tar|whl|jar|dll|exe|map|vue|xml)$/i;
const NOREPLY = /^(\d{4,12}\+)?([A-Za-z\d](?:[A-Za-z\d-]{0,38}))$/;

/** The `@` belongs to an address with a password in it. */
const USER_INFO_BEFORE = /:\/\/[^\s/@"']{0,180}$/;

const email: Detector = (view, at) => {
  const { text } = view;
  const domain = matchAt(EMAIL_AFTER, text, at);
  if (domain) {
    let from = at;
    while (from > 0 && at - from < 64 && /[A-Za-z0-9._%+\u0080-\u00ff-]/.test(text[from - 1]!)) from--;
    while (from < at && !isChar(text, from, CHAR.alnum)) from++;
    const local = text.slice(from, at);
    if (local.length > 0) {
      const end = at + domain[0].length;
      const before = text.slice(Math.max(0, from - 3), from);
      const next = text.slice(end, end + 2);
      if (/^users\.noreply\.github\.com$/i.test(domain[1]!)) {
        const login = NOREPLY.exec(local);
        if (login && !/\[bot\]|^(?:noreply|github|actions|dependabot)/i.test(login[2]!))
          addUser(view, from + (login[1]?.length ?? 0), login[2]!);
        return;
      }
      if (
        !SAFE_DOMAIN.test(domain[1]!) &&
        !SAFE_LOCAL.test(local) &&
        !FILE_SUFFIX.test(domain[1]!) &&
        !before.endsWith('://') &&
        !before.endsWith('/') &&
        !before.endsWith('$') &&
        !USER_INFO_BEFORE.test(text.slice(Math.max(0, from - 200), from)) &&
        !/^:[\w/~]/.test(next)
      ) {
        add(view, from, text.slice(from, end), 'email');
        personBefore(view, from);
        return;
      }
    }
  }
  account(view, at);
};

const NAME_BEFORE = new RegExp(`(?:^|[^A-Za-z\\u0080-\\u00ff])(${NAME})["']?[ ]?(?:<|&lt;|\\(|,[ ]?)(?:mailto:)?$`);
/** `Name <mail>`. */
function personBefore(view: TextView, mail: number): void {
  const from = Math.max(0, mail - 120);
  const before = view.text.slice(Math.max(from, view.text.lastIndexOf('\n', mail - 1) + 1), mail);
  if (!/[<(,;:]$/.test(before)) return;
  const match = NAME_BEFORE.exec(before);
  if (match) addPerson(view, mail - match[0].length + match[0].indexOf(match[1]!), match[1]!);
}

const PROMPT_AFTER =
  /@([A-Za-z0-9][A-Za-z0-9.-]{1,62})(?:(?::| )[ ]?(?:[~/][^\n$#%>]{0,120}|[\w.-]{1,60} ?|\[[^\]\n]{0,60}\]|\([^)\n]{0,60}\) ?|MINGW\d\d [^\n]{0,120}|MSYS [^\n]{0,120})?|[\])]|:)?(?:-\[[^\]\n]{0,80}\])?\]?[ ]?(?:[$#%>\u276f]|\n\S{0,8}[$#] )(?= |\n|$)|@([A-Za-z0-9][A-Za-z0-9.-]{1,62}) MINGW\d\d |@([A-Za-z0-9][A-Za-z0-9.-]{1,62}) [\w.~/-]{1,80}\][$#]/y;
const TARGET_AFTER = /@([A-Za-z0-9][A-Za-z0-9.-]{1,200}?)(?=[:\s"'`,;)/]|'s password|$)/y;
const REMOTE_COMMAND =
  /\b(?:ssh|scp|rsync|sftp|mosh|ssh-copy-id|sshfs|autossh|known_hosts|Connection to|login|logged in as|ansible|DOCKER_HOST|ssh:\/\/)\b[^\n|;]{0,300}$/;

const REMOTE_URL = /(?:ssh|sftp|scp|rsync|smb|ftp):\/\/$/;

/** `user@host` of prompts, of remote commands, and behind public keys. */
function account(view: TextView, at: number): void {
  const { text } = view;
  const from = runBefore(text, at, CHAR.name, 33);
  const user = text.slice(from, at);
  if (
    !/^[a-z_][\w.-]{1,31}$/i.test(user) ||
    (/[@/$]/.test(text[from - 1] ?? '') && !REMOTE_URL.test(text.slice(Math.max(0, from - 12), from)))
  )
    return;
  const start = lineStart(text, from, 400);
  const prompt = matchAt(PROMPT_AFTER, text, at);
  const machine = prompt && (prompt[1] ?? prompt[2] ?? prompt[3]!);
  if (machine && /^[\s([-]*$|[\s([]$/.test(text.slice(start, from)) && text.slice(start, from).trim().length < 24) {
    addUser(view, from, user);
    if (!isSharedUser(user) || /-/.test(machine)) addHost(view, at + 1, machine);
    return;
  }
  const target = matchAt(TARGET_AFTER, text, at);
  if (!target) return;
  const before = text.slice(start, from);
  if (FILE_SUFFIX.test(target[1]!)) return;
  const denied = /^: (?:Permission denied|Connection)|^'s password:/.test(
    text.slice(at + target[0].length, at + target[0].length + 24),
  );
  if (user !== 'git' && (denied || REMOTE_COMMAND.test(before) || REMOTE_URL.test(before))) {
    addUser(view, from, user);
    addHost(view, at + 1, target[1]!);
    return;
  }
  if (
    /\b(?:ssh-(?:ed25519|rsa|dss)|ecdsa-sha2-\S+|sk-\S+@openssh\.com) AAAA[A-Za-z0-9+/=]{20,800} $/.test(
      text.slice(Math.max(0, from - 900), from),
    )
  ) {
    addUser(view, from, user);
    addHost(view, at + 1, target[1]!);
  }
}

const HOME_AFTER =
  /(?:\/home\/|\/Users\/|[\\/]{1,8}Users[\\/]{1,8}|[\\/]{1,8}Documents and Settings[\\/]{1,8}|\\{1,4}home\\{1,4})([A-Za-z\u0080-\u00ff][A-Za-z0-9._\u0080-\u00ff-]{0,40})/iy;
/** What may stand before a home folder; a word before `/home/` makes it a route or a relative path. */
const ROOT_BEFORE =
  /(?:^|[^A-Za-z0-9_.)\]}/\\-]|file:\/\/(?:localhost)?|(?:vscode-remote|vscode|ssh|sftp|scp):\/\/[^\s/]{1,80}|\/(?:@fs|var|export|mnt|rootfs|host|hostfs|merged|chroot|private|proc\/\d+\/root|System\/Volumes\/Data|nfs|srv|usr|mnt\/[a-z]|[a-z])|(?:^|[^A-Za-z])[A-Za-z]:|[\\/]{2,8}(?:\?|\.|wsl(?:\$|\.localhost))(?:[\\/]{1,4}[\w.-]{1,40})?(?:[\\/]{1,4}[A-Za-z]:)?|\b[A-Za-z][\w.-]{0,62}:)$/i;
const home: Detector = (view, at) => {
  let from = at;
  while (from > 0 && at - from < 8 && (view.text[from - 1] === '\\' || view.text[from - 1] === '/')) from--;
  const match = matchAt(HOME_AFTER, view.text, from) ?? matchAt(HOME_AFTER, view.text, at);
  if (!match) return;
  const begin = match.index;
  const name = match[1]!;
  if (/^(?:Shared|Public|Default|All|Guest)$/i.test(name)) return;
  const before = view.text.slice(Math.max(0, begin - 120), begin);
  if (!ROOT_BEFORE.test(before)) return;
  // `/users/…` in lower case is a route unless a drive or a mount stands before it.
  if (/^[\\/]+users/.test(match[0]) && !/[A-Za-z]:$|\/mnt\/[a-z]$|\/[a-z]$/.test(before)) return;
  addUser(view, begin + match[0].length - name.length, name);
};

const SLUG =
  /-{1,2}(?:Users|home)-([A-Za-z][A-Za-z0-9._]{0,31}(?:-[a-z]+(?=-(?:code|work|src|dev|projects?|repos?|git|Documents|Desktop|Downloads|workspace)(?:-|$)))?)(?=-|$|[\s"'/\\])/iy;
const slug: Detector = (view, at) => {
  const from = view.text[at - 1] === '-' ? at - 1 : at;
  if (
    isChar(view.text, from - 1, CHAR.alnum) &&
    !/(?:^|[^A-Za-z0-9])[A-Za-z]$/.test(view.text.slice(Math.max(0, from - 2), from))
  )
    return;
  const match = matchAt(SLUG, view.text, from);
  if (!match || isSharedUser(match[1]!)) return;
  add(view, from + match[0].length - match[1]!.length, match[1]!, 'user-slug');
};

function behind(pattern: string, flags: string, put: (view: TextView, start: number, value: string) => void): Detector {
  const sticky = new RegExp(pattern, `${flags}yd`);
  return (view, at) => {
    const match = matchAt(sticky, view.text, at);
    const range = match?.indices?.[1];
    if (match && range && match[1]) put(view, range[0], match[1]);
  };
}

const PERSON_LINE = behind(
  `(?:[A-Za-z-]{2,30}:)[ \\t]{1,8}([^<>\\n"(]{2,80}?)[ \\t]{1,4}(?:<(?!no-?reply@)|&lt;|$)`,
  'm',
  addPerson,
);

export const PEOPLE: Anchored[] = [
  { anchors: '@', flags: 0, detector: email },
  {
    anchors: '/home/ \\home\\ /users/ \\users\\ \\documents␣and␣settings\\ /documents␣and␣settings/',
    flags: 0,
    detector: home,
  },
  { anchors: '-users- -home-', flags: 0, detector: slug },
  {
    anchors: 'pytest-of-',
    flags: AnchorFlag.exactCase,
    detector: behind('pytest-of-([A-Za-z][\\w.-]{0,31}?)(?=/|\\\\|\\s|$|["\'])', '', addUser),
  },
  {
    anchors:
      'author: commit: committer: signed-off-by: co-authored-by: reviewed-by: tested-by: acked-by: reported-by: suggested-by: tagger: from: to: cc: merged-by: maintainer: uploaders: changed-by:',
    flags: AnchorFlag.start,
    detector: PERSON_LINE,
  },
  {
    anchors: 'user.name git_author_name git_committer_name',
    flags: 0,
    detector: behind(
      `(?:user\\.name|GIT_(?:AUTHOR|COMMITTER)_NAME)["']?[ \\t=:]{1,6}\\\\{0,4}["']?(${NAME})`,
      '',
      addPerson,
    ),
  },
  {
    anchors: '"author" author␣= authors␣= authors:',
    flags: 0,
    detector: behind(
      `"?[Aa]uthors?"?\\s{0,4}[:=]\\s{0,4}\\[?\\s{0,8}\\{?(?:\\s{0,4}"?name"?\\s{0,2}[:=])?\\s{0,4}["']?(${NAME})(?=\\s{0,2}[<"',\\n])`,
      '',
      addPerson,
    ),
  },
];
export { behind };
