/** Values that only their name or place tells to be secret. */
import type { Random } from '../../engine/tokenizer/fuzz-random.js';
import {
  actionsLog,
  added,
  arrowGutter,
  coloured,
  composeLog,
  fenced,
  grepped,
  numbered,
  table,
  traced,
} from './decorate.js';
import { DIGITS, LOWER, Make } from './make.js';
import { CaseList, type OwnCase, s } from './mark.js';

export function contextCases(random: Random): OwnCase[] {
  const m = new Make(random);
  const list = new CaseList('context');

  // Keys of providers without a prefix: names in other scripts than the environment's.
  list.add(
    'aws-secret-access-key',
    `aws configure set aws_secret_access_key ${s(m.base64(40))} --profile staging`,
    `"SecretAccessKey": "${s(m.base64(40))}",`,
    `s3cmd --secret_key=${s(m.base64(40))} ls`,
    `AWS Secret Access Key [None]: ${s(m.base64(40))}`,
    `new AWS.Credentials({ accessKeyId: id, secretAccessKey: '${s(m.base64(40))}' })`,
    `spring.cloud.aws.credentials.secret-key=${s(m.base64(40))}`,
  );
  list.add(
    'azure-storage-key',
    `az storage blob list --account-name acmestore --account-key "${s(`${m.base64(86)}==`)}" -c logs`,
    table([
      ['KeyName', 'Value'],
      ['key1', s(`${m.base64(86)}==`)],
    ]),
  );
  list.add(
    'azure-openai-key',
    `AzureKeyCredential("${s(m.hex(32))}")`,
    `api-key: ${s(m.hex(32))}\nContent-Type: application/json`,
  );
  list.add(
    'azure-devops-pat',
    `export AZURE_DEVOPS_EXT_PAT=${s(m.of(`${LOWER}234567`, 52))}; az devops login --organization https://dev.azure.com/acme`,
  );
  list.add('alibaba-secret', `aliyun configure set --access-key-secret ${s(m.opaque(30))}`);
  list.add(
    'cloudflare-api-token',
    `cloudflare_api_token: "${s(m.opaque(40))}"`,
    `dns_cloudflare_api_token = ${s(m.opaque(40))}`,
  );
  list.add(
    'cloudflare-global-key',
    `-H "X-Auth-Key: ${s(m.hex(37))}"`,
    `CF_Key="${s(m.hex(37))}" acme.sh --issue --dns dns_cf -d app.example.com`,
  );
  list.add(
    'hetzner-token',
    `$ hcloud context create ci\nToken: ${s(m.opaque(64))}`,
    `variable "hcloud_token" {\n  default = "${s(m.opaque(64))}"\n}`,
  );
  list.add('linode-token', `linode-cli configure --token ${s(m.hex(64))}`);
  list.add('ibm-cloud-iam', `ibmcloud login --apikey ${s(m.opaque(44))} -r eu-de`);
  list.add(
    'scaleway-secret',
    `scw init secret-key=${s(m.uuid())} organization-id=acme`,
    `SCW_SECRET_KEY: ${s(m.uuid())}`,
  );
  list.add('vercel-token-legacy', `- run: vercel deploy --token ${s(m.opaque(24))}`);
  list.add('jenkins-api-token', `java -jar jenkins-cli.jar -auth admin:${s(`11${m.hex(32)}`)} list-jobs`);
  list.add(
    'codecov-token',
    `codecovcli upload-process --token ${s(m.uuid())} --file coverage.xml`,
    actionsLog(`  CODECOV_TOKEN: ${s(m.uuid())}`),
  );
  list.add('mistral-key', `MISTRAL_API_KEY ?= ${s(m.opaque(32))}`);
  list.add('cohere-key', `co = cohere.ClientV2(api_key="${s(m.opaque(40))}")`);
  list.add('together-key', `together.api_key = "${s(m.hex(64))}"`);
  list.add('wandb-key', `wandb login --relogin ${s(m.hex(40))}`, `wandb:\n  api_key: ${s(m.hex(40))}`);
  list.add('deepgram-key', `Authorization: Token ${s(m.hex(40))}`);
  list.add('voyage-key', `VOYAGE_API_KEY='${s(`pa-${m.base64url(42)}x`, 3)}'`);
  list.add(
    'twilio-auth-token',
    `const authToken = "${s(m.hex(32))}";\nconst client = twilio(accountSid, authToken);`,
    `  auth_token: ${s(m.hex(32))}`,
  );
  list.add('postmark-token', `X-Postmark-Server-Token: ${s(m.uuid())}`);
  list.add('asana-pat', `asana_access_token = "${s(`2/${m.number(16)}/${m.number(16)}:${m.hex(32)}`)}"`);
  list.add(
    'datadog-api-key',
    `DD-API-KEY: ${s(m.hex(32))}`,
    `datadog:\n  apiKey: ${s(m.hex(32))}\n  site: datadoghq.eu`,
    `helm upgrade dd datadog/datadog --set datadog.apiKey=${s(m.hex(32))}`,
  );
  list.add('datadog-app-key', `dd_application_key = "${s(m.hex(40))}"`, `DD-APPLICATION-KEY: ${s(m.hex(40))}`);
  list.add(
    'ngrok-token',
    `ngrok config add-authtoken ${s(`2${m.alnum(26)}_${m.alnum(21)}`)}`,
    `version: 3\nagent:\n    authtoken: ${s(`2${m.alnum(26)}_${m.alnum(21)}`)}`,
  );
  const tunnel = Buffer.from(JSON.stringify({ a: m.hex(32), t: m.uuid(), s: m.base64(48) })).toString('base64');
  list.add(
    'cloudflared-token',
    `cloudflared service install ${s(tunnel)}`,
    `command: tunnel --no-autoupdate run --token ${s(tunnel)}`,
  );
  list.add(
    'okta-token',
    `Authorization: SSWS ${s(`00${m.base64url(39)}x`)}`,
    `okta.client.token=${s(`00${m.base64url(39)}x`)}`,
  );
  list.add(
    'auth0-client-secret',
    `"clientSecret": "${s(m.opaque(64))}"`,
    `auth0 login --domain acme.eu.auth0.com --client-id app --client-secret ${s(m.opaque(64))}`,
  );
  list.add(
    'elastic-api-key',
    `Authorization: ApiKey ${s(Buffer.from(`${m.alnum(20)}:${m.alnum(22)}`).toString('base64'))}`,
  );
  list.add('snyk-token', `snyk auth ${s(m.uuid())}`, `SNYK_TOKEN=${s(m.uuid())} snyk test`);
  list.add(
    'algolia-admin-key',
    `ALGOLIA_ADMIN_KEY=${s(m.hex(32))} node reindex.mjs`,
    `X-Algolia-API-Key: ${s(m.hex(32))}`,
  );
  list.add('pagerduty-key', `Authorization: Token token=${s(`u+${m.opaque(18)}`)}`);
  list.add('wireguard-private-key', `wg set wg0 private-key <(echo ${s(`${m.base64(43)}=`)})`);
  list.add(
    'eth-private-key',
    `forge script Deploy --private-key ${s(`0x${m.hex(64)}`, 2)} --broadcast`,
    `networks: { sepolia: { url, privateKey: "${s(`0x${m.hex(64)}`, 2)}" } }`,
    `cast wallet import dev --private-key=${s(`0x${m.hex(64)}`, 2)}`,
  );

  // Names the project made up, in every sort of file.
  const key = (length = 32): string => s(m.opaque(length));
  list.add(
    'generic-api-key',
    `<appSettings>\n  <add key="GeoApiKey" value="${key()}" />\n</appSettings>`,
    `<key>PartnerApiKey</key>\n<string>${key()}</string>`,
    `; weather\n[weather]\napi_key = ${key()}`,
    `Environment=INVENTORY_API_TOKEN=${key(40)}`,
    `@token = ${key(40)}\n\n### list\nGET http://localhost:3000/items`,
    `{:weather {:api-key "${key()}"}}`,
    `config :acme, api_key: "${key()}"`,
    `define('PARTNER_API_KEY', '${key()}');`,
    `'services' => ['geo' => ['api_key' => '${key()}']],`,
    `const string ApiKey = "${key()}";`,
    `private static final String API_KEY = "${key()}";`,
    `let apiKey: String = "${key()}"`,
    `val apiKey by extra("${key()}")`,
    `pub const API_TOKEN: &str = "${key(40)}";`,
    `cfg.APIKey = "${key()}"`,
    `curl 'https://api.example.com/v1/geo?api_key=${key()}&q=Bergen'`,
    `X-API-KEY=${key()}`,
    grepped(`  apiToken: "${key(40)}",`, 'config/default.js'),
    numbered(`[default]\nservice_api_key="${key()}"`),
    coloured(`INTERNAL_API_KEY=${key()}`),
    `INFO  [main] resolved property 'billing.api-key' = '${key()}'`,
    `echo "PAYROLL_API_KEY=${key()}" >> $GITHUB_ENV`,
    `apikey ${key()}\nregion eu`,
    `helm install app ./chart --set-string auth.apiToken=${key(40)}`,
    `ansible-playbook site.yml -e "api_token=${key(40)} env=prod"`,
    `env:\n- {name: REPORT_API_KEY, value: ${key()}}`,
    `"\\"apiKey\\": \\"${key()}\\""`,
    table(
      [
        ['Name', 'Value'],
        ['MAP_API_KEY', key()],
        ['LOG_LEVEL', 'info'],
      ],
      '│',
    ),
    `mongosh> db.settings.findOne({_id:'geo'})\n{ _id: 'geo', apiKey: '${key()}' }`,
    `redis-cli get app:api_key\n"${key()}"`,
    `INSERT INTO settings (name, value) VALUES ('api_key', '${key()}');`,
  );
  list.add(
    'generic-client-secret',
    `client_id=web&client_secret=${key(40)}&grant_type=client_credentials`,
    `spring.security.oauth2.client.registration.idp.client-secret: ${key(40)}`,
    `KEYCLOAK_CLIENT_SECRET: "${key(32)}"`,
    `oauth2-proxy --client-id=app --client-secret="${key(40)}"`,
    `[auth.generic_oauth]\nclient_id = grafana\nclient_secret = ${key(40)}`,
    composeLog(`OIDC_CLIENT_SECRET=${key(40)}`, 'web'),
  );
  list.add(
    'jwt-signing-secret',
    `app.use(session({ secret: '${key(48)}', resave: false }));`,
    `jwt.sign(payload, "${key(48)}", { algorithm: 'HS256' })`,
    `app.config["SECRET_KEY"] = "${key(48)}"`,
    `secret_key_base: ${s(m.hex(128))}`,
    `JWT__Secret=${key(48)}`,
    `AUTH_SECRET="${s(`${m.base64(43)}=`)}" # Added by npx auth`,
    `jwt:\n  signing-key: "${key(48)}"`,
  );
  list.add(
    'rails-master-key',
    `$ cat config/master.key\n${s(m.hex(32))}`,
    `docker build --build-arg RAILS_MASTER_KEY=${s(m.hex(32))} .`,
  );
  list.add(
    'django-secret-key',
    `SECRET_KEY = '${s(`django-insecure-${m.of(`${LOWER}${DIGITS}!@#%^&*(-_=+)`, 49)}q`, 16)}'`,
    `SECRET_KEY=${s(m.of(`${LOWER}${DIGITS}!@%^*-_=+`, 49))}k`,
  );
  list.add(
    'encryption-key-hex',
    `openssl enc -aes-256-cbc -K ${s(m.hex(64))} -iv 0 -in a`,
    `encryption_key: "${s(m.hex(64))}"`,
    `cipher_key=${s(m.hex(64))}`,
    `ENCRYPTION_KEY=base64:${s(`${m.base64(43)}=`)}`,
  );

  // Passwords: what people type, and what managers make.
  const human = (): string => s(m.human());
  const strong = (): string => s(m.strong());
  const symbols = (): string => s(m.symbols());
  list.add(
    'db-password',
    `ALTER USER app WITH PASSWORD '${human()}';`,
    `CREATE USER 'app'@'%' IDENTIFIED BY '${symbols()}';`,
    `  password: "${symbols()}"\n  database: shop`,
    `spring.datasource.password=${human()}`,
    `'password' => env('DB_PASSWORD', '${strong()}'),`,
    `services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: ${human()}`,
    `docker run -d -e MYSQL_ROOT_PASSWORD=${human()} mysql:8`,
    `- MONGO_INITDB_ROOT_PASSWORD=${strong()}`,
    `requirepass ${strong()}\nmaxmemory 256mb`,
    `redis-cli -h localhost -a ${strong()} ping`,
    `127.0.0.1:6379> AUTH ${strong()}\nOK`,
    `<property name="hibernate.connection.password">${symbols().replaceAll('&', '+')}</property>`,
    `db_password = "${human()}"`,
    `      "DB_PASS": "${symbols()}"`,
    traced(`PGPASSWORD=${strong()}`),
    added(`DB_PASSWORD=${human()}`, '.env.staging'),
    arrowGutter(`production:\n  adapter: postgresql\n  password: ${human()}`, 17),
    `export PGPASSWORD='${symbols()}'; pg_dump -h localhost -U app shop > dump.sql`,
    `SECRET_DB_PASSWORD \t${strong()}`,
    `resource "aws_db_instance" "main" {\n  username = "app"\n  password = "${strong()}"\n}`,
    `flyway -url=jdbc:h2:mem:x -user=sa -password=${strong()} migrate`,
    `declare -x DB_PASSWORD="${strong()}"`,
    `Kennwort: ${strong()}`,
    fenced(`REGISTRY_PASSWORD=${strong()}`, 'dotenv'),
  );
  return list.cases;
}
