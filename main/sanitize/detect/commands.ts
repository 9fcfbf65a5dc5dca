/** Secrets on command lines and in calls, where nothing but the program says what the value is. */
import { always, exact, password, place, secret, strong, token } from './place.js';
import type { Anchored } from './text-view.js';

export const COMMANDS: Anchored[] = [
  place(
    'curl wget␣',
    /\b(?:curl|wget)\b[^\n|;]{0,400}?\s(?:-u|-U|--user|--proxy-user)[ =]?["']?[^\s:"'$]{1,100}:\\{0,4}["']?([^\s"'\\]{3,300})/,
    secret('password', (v) => !/^\d{1,5}$/.test(v) && password(v)),
  ),
  place(
    'curl ',
    /\bcurl\b[^\n|;]{0,400}?\s(?:-b|--cookie)[ =]?["']?[\w.-]{2,60}=([^\s"';\\]{12,2000})/,
    secret('cookie', token),
  ),
  place(
    'http␣ https␣ httpie xh␣',
    /\b(?:https?|httpie|xh|xhs)\b[^\n|;]{0,200}?\s(?:-a|--auth)[ =]["']?[^\s:"'$]{1,100}:([^\s"'\\]{3,300})/,
    secret('password', password),
  ),
  place(
    'sqlcmd bcp␣ isql',
    /\b(?:sqlcmd|bcp|isql)\b[^\n|;]{0,300}?\s-P\s?["']?([^\s"'\\]{4,200})/,
    secret('password', password),
  ),
  place(
    '-storepass -keypass -srcstorepass -deststorepass',
    /\s-(?:src|dest)?(?:storepass|keypass)(?::\w{3,4})?\s{1,3}["']?([^\s"'\\]{4,200})/,
    secret('password', password),
  ),
  place(
    'sudo␣-s',
    /\b(?:echo|printf)\s{1,3}(?:-n )?["']?([^\s"'|\\]{4,200})["']?\s{0,3}\|\s{0,3}sudo\s{1,3}(?:-\w+ ){0,3}-?S/,
    secret('password', password),
    0,
  ),
  place(
    'rabbitmqctl',
    /\brabbitmqctl\b[^\n|;]{0,80}?\s(?:add_user|change_password)\s{1,3}\S{1,80}\s{1,3}["']?([^\s"'\\]{4,200})/,
    secret('password', password),
  ),
  place(
    'ssh-keygen ssh-add',
    /\bssh-keygen\b[^\n|;]{0,300}?\s-[NP]\s{1,3}["']?([^\s"'\\]{4,200})/,
    secret('password', password),
  ),
  place(
    'wpa_passphrase',
    /\bwpa_passphrase\s{1,3}(?:"[^"]{1,64}"|'[^']{1,64}'|\S{1,64})\s{1,3}["']?([^\s"'\\]{8,64})/,
    secret('password', password),
  ),
  place('nmcli', /\bnmcli\b[^\n|;]{0,200}?\bpassword\s{1,3}["']?([^\s"'\\]{8,64})/, secret('password', password)),
  place(
    'oathtool',
    /\boathtool\b[^\n|;]{0,120}?\s(?:-b|--base32)?\s{0,3}["']?([A-Z2-7]{16,128}|[0-9a-f]{32,128})\b/,
    secret('otp-seed', always),
  ),
  place(
    'totp( hotp( setup␣key',
    /\b(?:[TH]OTP\(\s{0,3}(?:[\w.]{1,30}\s{0,2}[:=]\s{0,2})?["']|setup key:?\s{1,4}["']?)((?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4}|[A-Z2-7a-z]{16,128})/,
    secret('otp-seed', always),
  ),
  place(
    'wandb huggingface-cli snyk␣auth ngrok cloudflared sentry-cli vercel␣login netlify␣login doppler␣configure␣set gh␣auth op␣signin codecov railway',
    /\b(?:wandb login|huggingface-cli login|hf auth login|snyk auth|ngrok (?:config add-)?authtoken|ngrok config add-authtoken|ngrok authtoken|cloudflared (?:service install|tunnel run)|codecov)(?:\s{1,3}-{1,2}[\w-]{1,20}(?:[ =](?=\S{20}))?){0,3}\s{1,3}["']?([A-Za-z0-9_=.-]{20,2000})/,
    secret('generic-secret', token),
  ),
  place(
    '-k␣ -iv',
    /\bopenssl\s{1,3}(?:enc|aes|dgst)\b[^\n|;]{0,200}?\s(?:-K|-k|-hmac|-macopt (?:hex)?key:)\s{0,2}["']?([^\s"'\\]{6,200})/,
    secret('encryption-key', (v) => token(v) || password(v)),
  ),
  place(
    'AUTH␣',
    /(?:^|\n|> ?|'|")AUTH (?:\w{1,40} )?([^\s"']{6,300})(?=\s{0,2}(?:\n|["']|$))/,
    secret('password', strong),
    exact,
  ),
  place(
    '.sign( .verify( createhmac hmac.new( .encode( .decode( jwt.',
    /\b(?:(?:jwt|jsonwebtoken|jose|JWT)\.(?:sign|verify|encode|decode)\([^\n]{1,200}?,\s{0,3}|createHmac\(\s{0,2}["'][\w-]{3,12}["'],\s{0,3}|hmac\.new\(\s{0,3}b?)["'`]([^"'`\n]{8,300})["'`]/,
    secret('generic-secret', (v) => token(v) || strong(v)),
  ),
  place('phrase(', /[pP]hrase\(\s{0,3}["'`]((?:[a-z]{3,8} ){11,23}[a-z]{3,8})["'`]/, secret('seed-phrase', always)),
  place(
    'new␣pdo( mysqli( mysql.connector psycopg',
    /\b(?:new PDO|mysqli(?:_connect)?)\(\s{0,3}["'][^"'\n]{1,200}["'],\s{0,3}["'][^"'\n]{0,80}["'],\s{0,3}["']([^"'\n]{4,200})["']/,
    secret('password', password),
  ),
  place(
    '@tcp( @unix(',
    /["'`=\s]([\w.-]{1,60}:)?([^\s"'`@:]{4,200})@(?:tcp|unix)\(/,
    (view, at, value) => {
      if (!value.endsWith(':')) secret('url-password', password)(view, at, value);
    },
    exact,
  ),
  place(
    'storepass= ansible_ become_pass ansible_password',
    /\bansible_(?:become_pass(?:word)?|ssh_pass(?:word)?|password|sudo_pass)\s{0,2}[=:]\s{0,2}["']?([^\s"'\\]{4,200})/,
    secret('password', password),
  ),
  place(
    '--creds --credentials',
    /\s--(?:src-|dest-)?(?:creds|credentials)[ =]["']?[^\s:"'$]{1,80}:([^\s"'\\]{4,300})/,
    secret('password', password),
  ),
  place(
    'authident _auth␣ _auth=',
    /\bnpmAuthIdent["']?:\s{0,3}["']?[^\s:"']{1,80}:([^\s"']{4,200})/,
    secret('password', password),
  ),
  place('sshpass', /\bsshpass\s{1,4}-p\s{0,4}["']?([^\s"'\\]{4,200})/, secret('password', password)),
  place(
    'mysql mariadb',
    /\b(?:mysql|mysqldump|mariadb|mysqladmin|mysqlimport|mariadb-dump|mysqlsh)\b[^\n|;]{0,300}?\s(?:-p|--password=)["']?([^\s"'\\]{4,200})/,
    secret('password', password),
  ),
  place(
    'login',
    /\b(?:docker|podman|helm|oras|az|buildah|skopeo|crane|nerdctl|oc|cf|faas-cli)\b[^\n|;]{0,120}\blogin\b[^\n|;]{0,200}?\s(?:-p[ =]?|--password[ =]|-P[ =]?|--secret[ =])["']?([^\s"'\\]{4,2000})/,
    secret('password', (v) => v !== '--password-stdin' && password(v)),
  ),
  place(
    'redis-cli',
    /\bredis-cli\b[^\n|;]{0,200}?\s(?:-a|--pass)[ =]["']?([^\s"'\\]{4,300})/,
    secret('password', password),
  ),
  place(
    'mongosh mongo␣ mongodump mongorestore',
    /\bmongo(?:sh|dump|restore|export|import)?\b[^\n|;]{0,300}?\s(?:-p|--password)[ =]?["']?([^\s"'\\]{4,300})/,
    secret('password', password),
  ),
  place(
    'smbclient ldapsearch ldapmodify ldapadd',
    /\b(?:smbclient\b[^\n|;]{0,200}?\s-U\s?["']?[^\s%"']{1,80}%|ldap(?:search|modify|add|whoami)\b[^\n|;]{0,300}?\s-w\s?["']?)([^\s"'\\]{4,300})/,
    secret('password', password),
  ),
  place(
    'zip␣ 7z␣ unzip␣ openssl',
    /\b(?:zip|unzip|7z\s{1,3}[ax])\b[^\n|;]{0,120}?\s(?:-P|-p(?=\S{4})|--password[ =])\s?["']?([^\s"'\\]{4,200})|-pass(?:in|out)?\s{1,3}["']?pass:([^\s"'\\]{4,200})/,
    secret('password', password),
  ),
  place(
    'identified␣by password␣\' password␣"',
    /\b(?:IDENTIFIED (?:WITH \S{1,40} )?BY|PASSWORD)\s{1,4}["']([^\s"']{4,200})["']/i,
    secret('password', password),
  ),
  place(
    'requirepass masterauth',
    /\b(?:requirepass|masterauth)\s{1,8}["']?([^\s"'\\]{4,300})/,
    secret('password', password),
  ),
  place(
    'chpasswd',
    /["'\s][a-z_][\w-]{0,31}:([^\s"':|]{4,200})["']?\s{0,4}\|\s{0,4}(?:sudo )?chpasswd/,
    secret('password', password),
  ),
  place(
    'net␣use',
    /\bnet use\b[^\n]{0,120}?\\\\\S{3,120}\s{1,3}(?:\/user:\S{1,80}\s{1,3})?([^\s/"']{6,100})/i,
    secret('password', password),
  ),
  place(
    '␣set␣',
    /\b(?:secret|variable|secrets|env|config|vars)(?::|\s{1,4})(?:set|add|put)\s{1,4}[^\n]{0,60}?\b[A-Z][A-Z0-9_]{2,60}\s[^\n]{0,60}?(?:--body|-b|--value|-v)[ =]\\{0,4}["']?([^\s"'\\]{12,4000})/,
    secret('generic-secret', token),
  ),
];
