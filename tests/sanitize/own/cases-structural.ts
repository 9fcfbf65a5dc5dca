/** Secrets that the text around them gives away: keys, headers, cookies, addresses. */
import type { Random } from '../../engine/tokenizer/fuzz-random.js';
import { structuralFileCases } from './cases-structural-files.js';
import { actionsLog, added, arrowGutter, coloured, composeLog, criLog, numbered, quoted, removed } from './decorate.js';
import { Make } from './make.js';
import { area, CaseList, type OwnCase, s } from './mark.js';
import { put, TOKENS } from './tokens.js';

const edge = (side: string, name: string): string => `-----${side} ${name}-----`;

/** A key block: each line of its body must go, header, footer and line ends may. */
export function block(name: string, lines: readonly string[], newline = '\n', before = ''): string {
  return lines
    .map((line, i) => {
      const head = i === 0 ? edge('BEGIN', name) + newline + before : '';
      return area(head, line, newline + (i === lines.length - 1 ? edge('END', name) : ''));
    })
    .join('');
}

/** The same block with something in front of each of its lines; only the bodies are labelled. */
function decorated(name: string, lines: readonly string[], decorate: (text: string) => string): string {
  return decorate([edge('BEGIN', name), ...lines.map((line) => s(line)), edge('END', name)].join('\n'));
}

export function structuralCases(random: Random): OwnCase[] {
  const m = new Make(random);
  const list = new CaseList('structural');
  const [openssh, rsa, ec, pkcs8] = ['OPENSSH', 'RSA', 'EC', ''].map((kind) => `${kind} PRIVATE KEY`.trim()) as [
    string,
    string,
    string,
    string,
  ];
  const sshLines = (lines = 6): string[] => m.keyLines('b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ', lines, 70);
  const derLines = (lines = 8): string[] => m.keyLines('MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw', lines);

  list.add(
    'private-key-pem',
    `$ openssl genpkey -algorithm RSA\n....+++++\n${block(pkcs8, derLines())}\n$`,
    decorated(openssh, sshLines(), numbered),
    decorated(rsa, derLines(), (text) => added(text, 'certs/dev.key')),
    decorated(ec, m.keyLines('MHcCAQEEI', 3), arrowGutter),
    decorated(pkcs8, derLines(4), (text) => `tls:\n  key: |\n${text.replace(/^/gm, '    ')}\n  enabled: true`),
    decorated(rsa, derLines(), (text) => composeLog(text, 'proxy')),
    decorated(openssh, sshLines(), quoted),
    `${edge('BEGIN', rsa)}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n${derLines(4)
      .map((line) => s(line))
      .join('\n')}\n${edge('END', rsa)}`,
    // Cut off by the tool: the end never comes.
    `${edge('BEGIN', pkcs8)}\n${derLines(4)
      .map((line) => s(line))
      .join('\n')}\n... [output truncated]`,
  );
  list.add(
    'private-key-oneline',
    `"privateKey": "${block(pkcs8, derLines(4), '\\n')}\\n",`,
    `FIREBASE_PRIVATE_KEY='${block(pkcs8, derLines(4), '\\n')}\\n'`,
    `echo -e "${block(openssh, sshLines(4), '\\n')}" > ~/.ssh/id_ed25519`,
    `key = "${block(rsa, derLines(4), '\\\\n')}"`,
    `GITHUB_APP_PRIVATE_KEY="${block(rsa, derLines(4), ' ')}"`,
    `String key = "${edge('BEGIN', pkcs8)}\\n" +\n${derLines(4)
      .map((line) => `    "${s(line)}\\n" +`)
      .join('\n')}\n    "${edge('END', pkcs8)}";`,
  );
  const pemBase64 = (name: string, lines: string[]): string =>
    Buffer.from([edge('BEGIN', name), ...lines, edge('END', name), ''].join('\n')).toString('base64');
  list.add(
    'private-key-base64',
    `echo ${s(pemBase64(openssh, sshLines()))} | base64 --decode > id_deploy`,
    `  tls.key: ${s(pemBase64(pkcs8, derLines()))}`,
    `- name: APP_KEY\n  value: "${s(pemBase64(rsa, derLines()))}"`,
    `$ base64 -w0 key.pem\n${s(pemBase64(ec, m.keyLines('MHcCAQEEI', 3)))}`,
  );
  const pgp = 'PGP PRIVATE KEY BLOCK';
  const pgpLines = (): string[] => [...m.keyLines('lQdGBG', 5), `=${m.base64(4)}`];
  list.add(
    'pgp-private-key',
    `gpg --armor --export-secret-keys ci\n${block(pgp, pgpLines(), '\n', '\n')}`,
    decorated(pgp, pgpLines(), actionsLog),
    `gpgKey: "${block(pgp, pgpLines(), '\\n', '\\n')}"`,
    `${edge('BEGIN', pgp)}\nVersion: GnuPG v2\n\n${pgpLines()
      .map((line) => s(line))
      .join('\n')}\n${edge('END', pgp)}`,
  );
  const ppk = (lines: readonly string[], crlf = false): string =>
    [
      'PuTTY-User-Key-File-2: ssh-rsa',
      'Encryption: none',
      'Comment: imported',
      `Private-Lines: ${lines.length}`,
      ...lines.map((line) => s(line)),
      `Private-MAC: ${'0'.repeat(40)}`,
    ].join(crlf ? '\r\n' : '\n');
  list.add(
    'putty-ppk',
    ppk(m.keyLines('AAABA', 4)),
    ppk(m.keyLines('AAABA', 3), true),
    numbered(ppk(m.keyLines('AAAAI', 2))),
    removed(ppk(m.keyLines('AAABA', 3))),
  );
  const d = (): string => s(m.base64url(42) + m.alnum(1));
  list.add(
    'jwk-private',
    `{\n  "kty": "EC",\n  "crv": "P-256",\n  "x": "${m.base64url(43)}",\n  "y": "${m.base64url(43)}",\n  "d": "${d()}"\n}`,
    `const jwk = { kty: 'OKP', crv: 'X25519', d: '${d()}', x: '${m.base64url(43)}' };`,
    `VAPID_JWK={"kty":"EC","d":"${d()}","crv":"P-256","x":"${m.base64url(43)}","y":"${m.base64url(43)}"}`,
    `{"kty":"oct","alg":"HS256","k":"${s(m.base64url(42) + m.alnum(1))}"}`,
  );
  const wg = (): string => s(`${m.base64(42)}g=`);
  list.add(
    'wireguard-conf',
    `[Interface]\nPrivateKey=${wg()}\nListenPort = 51820\nDNS = 1.1.1.1`,
    `[WireGuardPeer]\nPublicKey=${m.base64(42)}g=\nPresharedKey=${wg()}`,
    `wg0:\n  private_key: ${wg()}\n  port: 51820`,
    `networking.wireguard.interfaces.wg0.privateKey = "${wg()}";`,
  );
  list.add(
    'jwt',
    `localStorage.setItem('access_token', '${s(m.jwt())}')`,
    `{"level":30,"msg":"verify failed","token":"${s(m.jwt())}"}`,
    `wss://live.example.com/socket?token=${s(m.jwt())}&v=2`,
    `Set-Cookie: __Host-auth=${s(m.jwt())}; Secure; HttpOnly`,
    `jwt decode ${s(m.jwt({ sub: 'app', scope: 'read' }, 'RS256'))}`,
    coloured(`Bearer ${s(m.jwt())}`, 90),
    `grpcurl -H 'authorization: bearer ${s(m.jwt())}' localhost:50051 list`,
  );
  const basic = (user = 'svc'): string => s(Buffer.from(`${user}:${m.strong()}`).toString('base64'));
  list.add(
    'basic-auth-header',
    `wget --header="Authorization: Basic ${basic()}" https://nexus.example.com/a.jar`,
    `headers = {"Authorization": "Basic ${basic()}"}`,
    `req.Header.Set("Authorization", "Basic ${basic()}")`,
    `proxy-authorization: basic ${basic('proxy')}`,
    `< 401 sent Authorization=[Basic ${basic()}]`,
    `proxy_set_header Authorization "Basic ${basic()}";`,
  );
  const strong = (): string => s(m.strong());
  list.add(
    'curl-user-flag',
    `curl --basic -u "svc:${strong()}" -X POST http://localhost:8081/service/rest/v1/script`,
    `curl -usvc:${strong()} https://jenkins.example.com/crumbIssuer/api/json`,
    `curl --proxy-user=svc:${strong()} -x proxy.example.com:3128 https://example.com`,
    `curl -U svc:${strong()} -x proxy.example.com:3128 https://example.com`,
    `http -a svc:${strong()} GET https://api.example.com/me`,
    `curl --user svc:"${s(m.human())}" sftp://files.example.com/in/`,
  );
  const opaque = (length = 44): string => s(m.opaque(length));
  list.add(
    'bearer-opaque',
    `axios.get(url, { headers: { Authorization: "Bearer ${opaque()}" } })`,
    `$headers = @{ Authorization = "Bearer ${opaque()}" }`,
    `curl --oauth2-bearer ${opaque()} https://api.example.com/`,
    `"authorization": "bearer ${opaque()}",`,
    `http GET api.example.com/v1 "Authorization:Bearer ${opaque()}"`,
    criLog(`upstream request headers authorization=${area('Bearer%20', m.opaque(44))} status=502`),
    `client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", "${opaque()}");`,
  );
  list.add(
    'cookie-session',
    `curl -b "PHPSESSID=${s(m.of('abcdefghijklmnopqrstuv0123456789', 26))}; lang=de" http://localhost/admin`,
    `#HttpOnly_.example.com\tTRUE\t/\tTRUE\t1767225600\tsession\t${opaque(40)}`,
    `{"name":"sessionid","value":"${s(m.of('abcdefghijklmnopqrstuvwxyz0123456789', 32))}","domain":".example.com","httpOnly":true}`,
    `document.cookie = "JSESSIONID=${s(m.hex(32).toUpperCase())}; path=/"`,
    `set-cookie: laravel_session=${opaque(60)}; expires=Tue, 03-Feb-2026 10:15:42 GMT; path=/`,
    `-H 'cookie: _ga=GA1.1.1.1; __Secure-next-auth.session-token=${opaque(64)}'`,
  );
  list.add(
    'oauth-code-and-refresh',
    `http://localhost:8976/oauth/callback?code=${opaque(42)}&state=1`,
    `refresh_token: ${opaque(48)}\naccess_token: ${opaque(48)}`,
    `"tokens": {\n    "id_token": "${s(m.jwt())}",\n    "refresh_token": "${s(`rt_${m.base64url(80)}x`, 3)}"\n  }`,
    `--data-urlencode "code_verifier=${opaque(64)}" --data-urlencode grant_type=authorization_code`,
    `oauth_token=${opaque(40)}&oauth_token_secret=${opaque(40)}&user_id=7`,
    `device_code=${opaque(40)}&grant_type=urn:ietf:params:oauth:grant-type:device_code`,
  );
  list.add(
    'presigned-url',
    `https://storage.googleapis.com/acme-exports/a.csv?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Expires=900&X-Goog-Signature=${s(m.hex(256))}`,
    `wget "https://acme.s3.amazonaws.com/x.tgz?AWSAccessKeyId=${put(TOKENS['aws-access-key-id'](m))}&Expires=1767225600&Signature=${s(`${m.alnum(26)}%3D`)}"`,
    `https://d111111abcdef8.cloudfront.net/v.mp4?Expires=1767225600&Signature=${s(`${m.alnum(60)}~${m.alnum(60)}__`)}&Key-Pair-Id=K2JCJMDEHXQW5F`,
    `azcopy copy "https://acmestore.blob.core.windows.net/in?sv=2024-11-04&sp=rl&sig=${s(encodeURIComponent(`${m.base64(43)}=`))}" .`,
    `href="https://acme.s3.eu-west-1.amazonaws.com/a?X-Amz-Expires=60&amp;X-Amz-Signature=${s(m.hex(64))}&amp;x-id=GetObject"`,
  );
  list.add(
    'git-remote-userinfo',
    `[remote "origin"]\n\turl = https://acmebot:${put(TOKENS['github-pat'](m))}@github.com/acme/app.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*`,
    `remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://ci:${strong()}@git.example.com/acme/app.git/'`,
    `"app": "git+https://${put(TOKENS['github-fine-grained'](m))}:x-oauth-basic@github.com/acme/lib.git#v1.2.0"`,
    `git submodule add https://gitlab-ci-token:${put(TOKENS['gitlab-ci-job-token'](m))}@gitlab.example.com/acme/lib.git`,
    `From https://ci:${s(encodeURIComponent(m.symbols()))}@git.example.com/acme/app\n * branch main -> FETCH_HEAD`,
  );

  const url = (scheme: string, user: string, rest: string): string => `${scheme}://${user}:${strong()}@${rest}`;
  list.add(
    'connstr-postgres',
    `psql "${url('postgresql', 'app', 'localhost/shop')}" -c '\\dt'`,
    `  url: ${url('postgres', 'app', 'db:5432/shop')}\n  pool: 5`,
    `sqlalchemy.url = ${url('postgresql+asyncpg', 'app', 'localhost/shop')}`,
    `connStr := "host=localhost user=app password=${strong()} dbname=shop sslmode=disable"`,
    `jdbc:postgresql://localhost:5432/shop?user=app&password=${strong()}&ssl=true`,
    `DATABASE_URL="postgresql://app:${s(encodeURIComponent(m.symbols()))}@localhost:5432/shop?schema=public"`,
    `PrismaClientInitializationError: invalid: ${url('postgresql', 'app', 'db:5432')}`,
  );
  list.add(
    'connstr-mysql',
    `engine = create_engine("${url('mysql+pymysql', 'app', 'localhost/shop')}")`,
    `jdbc:mysql://localhost/shop?user=app&password=${strong()}`,
    `dsn := "app:${strong()}@tcp(127.0.0.1:3306)/shop?parseTime=true"`,
    `new PDO("mysql:host=localhost;dbname=shop", "app", "${s(m.symbols())}");`,
    `DATABASE_URL: "${url('mysql', 'root', 'mysql:3306/shop')}"`,
  );
  list.add(
    'connstr-mongodb',
    `mongosh "${url('mongodb', 'root', 'localhost:27017/?authSource=admin')}"`,
    `mongoose.connect('${url('mongodb+srv', 'app', 'cluster0.example.com/test')}')`,
    `MongoServerError: bad auth for ${url('mongodb', 'app', 'mongo:27017/app')}`,
    `<add name="Mongo" connectionString="${url('mongodb', 'app', 'mongo/app')}" />`,
  );
  list.add(
    'connstr-redis',
    `redis-cli -u ${url('redis', '', 'localhost:6379')}`,
    `CELERY_BROKER_URL=${url('redis', 'default', 'redis:6379/1')}`,
    `ConnectionMultiplexer.Connect("cache:6380,password=${strong()},ssl=True")`,
    `"redis": { "url": "${url('rediss', 'app', 'cache.example.com:6380')}" }`,
  );
  list.add(
    'connstr-amqp',
    `pika.URLParameters("${url('amqp', 'worker', 'rabbit:5672/%2F')}")`,
    `spring.rabbitmq.addresses=${url('amqps', 'worker', 'mq.example.com:5671')}`,
    `[error] connection to ${url('amqp', 'worker', 'rabbit//')} refused`,
    `broker_url = '${url('amqp', 'worker', 'localhost:5672')}'`,
  );
  list.add(
    'connstr-ado',
    `<add name="Default" connectionString="Data Source=sql;Initial Catalog=shop;User ID=app;Password=${strong()};" />`,
    `dotnet ef dbcontext scaffold "Server=localhost;Database=shop;Uid=app;Pwd=${strong()}" Pomelo`,
    `ConnectionStrings__Default=Host=localhost;Username=app;Password=${strong()};Database=shop`,
    `Driver={ODBC Driver 18};Server=sql,1433;UID=app;PWD=${strong()};Encrypt=yes`,
  );
  const azureKey = (): string => s(`${m.base64(86)}==`);
  list.add(
    'connstr-azure',
    `AZURE_STORAGE_CONNECTION_STRING='DefaultEndpointsProtocol=https;AccountName=acmestore;AccountKey=${azureKey()};EndpointSuffix=core.windows.net'`,
    `"AzureWebJobsStorage": "DefaultEndpointsProtocol=https;AccountName=acmestore;AccountKey=${azureKey()}"`,
    `AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=${azureKey()};`,
    `HostName=hub.example.com;DeviceId=dev1;SharedAccessKey=${s(`${m.base64(43)}=`)}`,
    `Endpoint=https://acme.service.signalr.net;AccessKey=${s(`${m.base64(43)}=`)};Version=1.0;`,
  );
  list.add('multi-secret-env', ...multiSecrets(m));
  list.cases.push(...structuralFileCases(random));
  return list.cases;
}

/** Several secrets near each other: each must go, whatever stands between. */
function multiSecrets(m: Make): string[] {
  const token = (family: keyof typeof TOKENS): string => put(TOKENS[family](m));
  const env = [
    `ANTHROPIC_API_KEY=${token('anthropic-api-key')}`,
    `DB_PASSWORD=${s(m.human())}`,
    `HOME=/root`,
    `SLACK_BOT_TOKEN=${token('slack-bot-token')}`,
  ];
  return [
    env.join(' '),
    env.map((line) => `export ${line}`).join('\n'),
    env.join('\\n'),
    `{"Config":{"Env":[${env.map((line) => JSON.stringify(line)).join(',')}]}}`,
    env.join('\u0000'),
    `docker run ${env.map((line) => `-e ${line}`).join(' ')} app:1.4`,
    `env: { ${env.map((line) => line.replace('=', ': "').concat('"')).join(', ')} }`,
  ];
}
