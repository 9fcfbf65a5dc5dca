/** Tokens that their own shape gives away, in the places and spellings of real sessions: one family, one spelling. */
import type { Random } from '../../engine/tokenizer/fuzz-random.js';
import {
  actionsLog,
  added,
  arrowGutter,
  coloured,
  composeLog,
  criLog,
  fenced,
  grepped,
  numbered,
  quoted,
  removed,
  table,
  traced,
} from './decorate.js';
import { Make } from './make.js';
import { CaseList, mapMarked, type OwnCase, s } from './mark.js';
import { plain, put, TOKENS, type TokenFamily } from './tokens.js';

/** `\u0067…` for every character: what some serialisers do with everything that is no letter, and some with all. */
const unicodeEscaped = (text: string): string =>
  Array.from(text, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

const SPELLINGS: readonly (readonly [TokenFamily, (token: string) => string])[] = [
  [
    'aws-access-key-id',
    (t) => `aws iam create-access-key --user-name ci --query AccessKey.AccessKeyId --output text\n${t}`,
  ],
  [
    'aws-access-key-id',
    (t) =>
      table([
        ['AccessKeyId', 'Status'],
        [t, 'Active'],
      ]),
  ],
  [
    'aws-temp-access-key-id',
    (t) =>
      `<Credentials>\n  <AccessKeyId>${t}</AccessKeyId>\n  <Expiration>2026-02-03T12:00:00Z</Expiration>\n</Credentials>`,
  ],
  ['aws-temp-access-key-id', (t) => `botocore.exceptions.ClientError: (ExpiredToken) key=${t}, region=eu-north-1`],
  ['aws-session-token', (t) => `set -gx AWS_SESSION_TOKEN ${t}\nset -gx AWS_REGION eu-central-1`],
  ['aws-session-token', (t) => `$env:AWS_SESSION_TOKEN="${t}"`],
  ['aws-bedrock-api-key', (t) => `setx AWS_BEARER_TOKEN_BEDROCK "${t}"\r\n\r\nSUCCESS: Specified value was saved.`],
  ['gcp-api-key', (t) => `<meta-data\n    android:name="com.google.android.geo.API_KEY"\n    android:value="${t}" />`],
  [
    'gcp-api-key',
    (t) => `GET https://maps.googleapis.com/maps/api/geocode/json?address=Oslo&key=${t}&language=no 200 in 87ms`,
  ],
  [
    'gcp-oauth-client-secret',
    (t) => `{"installed":{"client_id":"48151623-app","client_secret":"${t}","redirect_uris":["http://localhost"]}}`,
  ],
  ['gcp-oauth-access-token', (t) => `$ gcloud auth print-access-token\n${t}`],
  [
    'gcp-oauth-access-token',
    (t) => `curl -s -H "Authorization: Bearer ${t}" "https://storage.googleapis.com/storage/v1/b?project=acme"`,
  ],
  ['gcp-oauth-refresh-token', (t) => `{\n  "account": "",\n  "refresh_token": "${t}",\n  "type": "authorized_user"\n}`],
  [
    'azure-client-secret',
    (t) => `az login --service-principal -u 00000000-0000-0000-0000-000000000000 -p ${t} --tenant contoso`,
  ],
  ['azure-client-secret', (t) => `{\n  "displayName": "ci",\n  "password": "${t}"\n}`],
  ['azure-devops-pat-84', (t) => `##vso[task.setvariable variable=AzdoToken;issecret=true]${t}`],
  [
    'alibaba-access-key-id',
    (t) => `aliyun configure set --profile akProfile --mode AK --region eu-central-1 --access-key-id ${t}`,
  ],
  ['tencent-secret-id', (t) => `cred = credential.Credential("${t}", os.environ["TC_KEY"])`],
  ['digitalocean-pat', (t) => `doctl auth init --access-token ${t} && doctl compute droplet list`],
  ['digitalocean-pat', (t) => `provider "digitalocean" {\n  token = "${t}"\n}`],
  ['digitalocean-refresh', (t) => composeLog(`level=info msg="refreshed" refresh=${t} expires=2592000`, 'api')],
  ['cloudflare-token-v2', (t) => `CLOUDFLARE_API_TOKEN=${t} npx wrangler deploy --dry-run`],
  [
    'cloudflare-origin-ca',
    (t) => `curl -H 'X-Auth-User-Service-Key: ${t}' https://api.cloudflare.com/client/v4/certificates`,
  ],
  ['heroku-api-key', (t) => `heroku auth:token\n ›   Warning: token will expire today at 11:59 PM\n${t}`],
  ['fly-access-token', (t) => `fly tokens create deploy -x 24h\n${t}`],
  ['fly-access-token', (t) => `- name: Deploy\n  run: flyctl deploy --remote-only --access-token "${t}"`],
  ['vercel-token', (t) => `vercel pull --yes --environment=preview --token=${t}\nVercel CLI 44.2.1`],
  ['netlify-token', (t) => `npx netlify deploy --prod --dir=dist --auth ${t}`],
  ['render-api-key', (t) => `> render services list -o json\n# RENDER_API_KEY => ${t}`],
  ['supabase-pat', (t) => `supabase login --token ${t}\nYou are now logged in. Happy coding!`],
  ['supabase-secret-key', (t) => `const admin = createClient(url, '${t}', { auth: { persistSession: false } });`],
  ['neon-api-key', (t) => fenced(`neonctl projects list --api-key ${t}`, 'sh')],
  [
    'planetscale-token',
    (t) =>
      table(
        [
          ['ID', 'TOKEN'],
          ['kq3f0b7m2p1x', t],
        ],
        '│',
      ),
  ],
  ['firebase-fcm-key', (t) => `headers: { Authorization: 'key=${t}', 'Content-Type': 'application/json' }`],
  ['yandex-api-key', (t) => `yc iam api-key create --service-account-name sa\nsecret: ${t}`],
  ['databricks-token', (t) => `[DEFAULT]\nhost  = https://adb-1.azuredatabricks.net\ntoken = ${t}`],
  ['github-pat', (t) => `fatal: could not read from https://${t}@github.com/acme/app.git: 403`],
  ['github-pat', (t) => `machine api.github.com login x-access-token password ${t}`],
  ['github-pat', (t) => coloured(`  - Token: ${t}`, 2)],
  ['github-oauth', (t) => `sqlite> select value from cookies_kv;\ngh:oauth|${t}|1767225600`],
  [
    'github-user-server',
    (t) => `access_token=${t}&expires_in=28800&refresh_token_expires_in=15811200&scope=&token_type=bearer`,
  ],
  [
    'github-server',
    (t) =>
      actionsLog(
        `[command]/usr/bin/git config --local http.https://github.com/.extraheader AUTHORIZATION: bearer ${t}`,
      ),
  ],
  ['github-server-jwt', (t) => `GH_TOKEN="${t}" gh api /installation/repositories --jq '.total_count'`],
  ['github-refresh', (t) => `  "refresh_token": "${t}",`],
  [
    'github-fine-grained',
    (t) => arrowGutter(`[url "https://oauth2:${t}@github.com/"]\n\tinsteadOf = https://github.com/`),
  ],
  ['github-fine-grained', (t) => `echo ${t} | gh auth login --with-token`],
  ['gitlab-pat', (t) => `glab auth login --hostname gitlab.example.com --token ${t}`],
  [
    'gitlab-pat',
    (t) =>
      `pip install acme-core --index-url https://__token__:${t}@gitlab.example.com/api/v4/projects/7/packages/pypi/simple`,
  ],
  ['gitlab-pat-routable', (t) => `PRIVATE-TOKEN: ${t}`],
  [
    'gitlab-deploy-token',
    (t) => `helm registry login registry.example.com --username gitlab+deploy-token-3 --password ${t}`,
  ],
  [
    'gitlab-runner-token',
    (t) => `[[runners]]\n  name = "docker"\n  url = "https://gitlab.example.com"\n  token = "${t}"`,
  ],
  ['gitlab-ci-job-token', (t) => `wget --header "JOB-TOKEN: ${t}" https://gitlab.example.com/api/v4/job/artifacts`],
  [
    'gitlab-trigger-token',
    (t) =>
      `curl -X POST --fail -F token=${t} -F ref=main https://gitlab.example.com/api/v4/projects/7/trigger/pipeline`,
  ],
  ['bitbucket-app-password', (t) => `git push https://acmebot:${t}@bitbucket.org/acme/app.git HEAD`],
  ['atlassian-api-token', (t) => `JIRA(server="https://acme.atlassian.net", basic_auth=("bot", "${t}"))`],
  ['circleci-pat', (t) => `cat ~/.circleci/cli.yml\nhost: https://circleci.com\ntoken: ${t}`],
  ['buildkite-token', (t) => `bk configure --org acme --token '${t}'`],
  ['sonar-token', (t) => `mvn -B verify sonar:sonar -Dsonar.token=${t} -Dsonar.host.url=https://sonar.example.com`],
  ['sourcegraph-token', (t) => `src login -token=${t} https://sourcegraph.example.com`],
  ['npm-token', (t) => `npm config set //registry.npmjs.org/:_authToken ${t}`],
  ['npm-token', (t) => removed(`//registry.npmjs.org/:_authToken=${t}`)],
  ['pypi-token', (t) => `uv publish --token ${t} dist/*`],
  ['pypi-token', (t) => `poetry config pypi-token.pypi ${t}`],
  ['rubygems-key', (t) => `---\n:rubygems_api_key: ${t}`],
  ['nuget-key', (t) => `dotnet nuget push bin/Release/*.nupkg -k ${t} -s https://api.nuget.org/v3/index.json`],
  ['crates-io-token', (t) => `[registry]\ntoken = "${t}" # cargo login`],
  ['docker-pat', (t) => `echo "${t}" | docker login --username acmebot --password-stdin`],
  ['jfrog-api-key', (t) => `curl -H "X-JFrog-Art-Api:${t}" -T app.war https://acme.jfrog.io/artifactory/libs/app.war`],
  ['jfrog-reference-token', (t) => `jf c add acme --url=https://acme.jfrog.io --access-token=${t} --interactive=false`],
  [
    'openai-legacy',
    (t) =>
      `openai.error.AuthenticationError: Incorrect API key provided: ${t}. You can find your API key at https://platform.openai.com.`,
  ],
  [
    'openai-project',
    (t) => `model_list:\n  - model_name: gpt\n    litellm_params:\n      model: openai/gpt-4o\n      api_key: ${t}`,
  ],
  ['openai-service-account', (t) => `llm keys set openai --value ${t}`],
  ['anthropic-api-key', (t) => quoted(`the key is \`${t}\` and I rotate it on Friday`)],
  ['anthropic-api-key', (t) => `POST /v1/messages HTTP/2\nx-api-key: ${t}\nanthropic-version: 2023-06-01`],
  ['anthropic-admin-key', (t) => `let res = ureq::get(URL).set("x-api-key", "${t}").call()?;`],
  [
    'anthropic-oauth',
    (t) => `{"claudeAiOauth":{"accessToken":"${t}","expiresAt":1767225600000,"scopes":["user:inference"]}}`,
  ],
  ['huggingface-token', (t) => `hf auth login --token ${t} --add-to-git-credential`],
  ['huggingface-token', (t) => `from huggingface_hub import login; login("${t}")`],
  ['groq-key', (t) => `fetch(GROQ_URL, { headers: { authorization: \`Bearer ${t}\` } })`],
  ['openrouter-key', (t) => added(`  "apiKey": "${t}",`, 'opencode.json')],
  ['perplexity-key', (t) => `client := pplx.New(pplx.WithKey("${t}"))`],
  ['replicate-token', (t) => `REPLICATE_API_TOKEN=${t}; export REPLICATE_API_TOKEN`],
  ['fireworks-key', (t) => `Environment="FIREWORKS_API_KEY=${t}"`],
  ['deepseek-key', (t) => `var builder = new OpenAIClient(new ApiKeyCredential("${t}"), options);`],
  ['xai-key', (t) => `$client = Xai::client('${t}');`],
  ['nvidia-key', (t) => `docker run -it --rm --gpus all -e NGC_API_KEY="${t}" nvcr.io/nim/meta/llama:latest`],
  ['elevenlabs-key', (t) => `http POST api.elevenlabs.io/v1/text-to-speech/x xi-api-key:${t} text=Hallo`],
  ['langsmith-key', (t) => traced(`export LANGSMITH_API_KEY=${t}`, 2)],
  ['pinecone-key', (t) => `pc = Pinecone(api_key="${t}")`],
  [
    'tavily-key',
    (t) => `"mcpServers":{"tavily":{"command":"npx","args":["-y","tavily-mcp"],"env":{"TAVILY_API_KEY":"${t}"}}}`,
  ],
  ['tavily-key', (t) => `claude mcp add --transport http tavily "https://mcp.tavily.com/mcp/?tavilyApiKey=${t}"`],
  ['firecrawl-key', (t) => `https://mcp.firecrawl.dev/${t}/v2/mcp`],
  ['brave-search-key', (t) => `X-Subscription-Token: ${t}`],
  ['jina-key', (t) => `curl https://r.jina.ai/https://example.com -H "Authorization: Bearer ${t}"`],
  ['cerebras-key', (t) => grepped(`    apiKey: "${t}",`, 'src/llm.ts')],
  ['cursor-key', (t) => `cursor-agent --api-key ${t} -p "fix the tests"`],
  ['langfuse-secret', (t) => `<add key="Langfuse:SecretKey" value="${t}" />`],
  ['slack-bot-token', (t) => `app = App(token="${t}")`],
  ['slack-bot-token', (t) => `https://slack.com/api/conversations.list?token=${t}&limit=5`],
  ['slack-user-token', (t) => `SlackAPI::Client.new(token: '${t}')`],
  ['slack-app-token', (t) => numbered(`slack:\n  app_level_token: ${t}`, 41)],
  ['slack-config-token', (t) => `slack.config.access_token=${t}`],
  ['slack-session-cookie', (t) => `curl 'https://acme.slack.com/api/client.counts' -b 'd=${t}; lc=1767225600'`],
  ['discord-bot-token', (t) => `client.run("${t}")`],
  ['discord-bot-token', (t) => `"headers":{"Authorization":"Bot ${t}"}`],
  ['telegram-bot-token', (t) => `curl -s https://api.telegram.org/bot${t}/getUpdates`],
  ['telegram-bot-token', (t) => `telegram.error.InvalidToken: The token \`${t}\` was rejected by the server.`],
  ['twilio-api-key', (t) => `twilio profiles:create --api-key ${t} -p ci`],
  ['sendgrid-key', (t) => `sgMail.setApiKey("${t}")`],
  ['mailgun-key', (t) => `curl -s --user 'api:${t}' https://api.mailgun.net/v3/domains`],
  ['mailchimp-key', (t) => `mailchimp.setConfig({ apiKey: "${t}", server: "us21" });`],
  ['resend-key', (t) => `kubectl -n web set env deploy/web RESEND_API_KEY=${t}`],
  ['brevo-key', (t) => criLog(`send failed api-key=${t} code=unauthorized`)],
  ['stripe-secret', (t) => `stripe.api_key = '${t}'`],
  ['stripe-secret', (t) => `curl https://api.stripe.com/v1/charges -u ${t}:`],
  ['stripe-restricted', (t) => `stripe listen --api-key ${t} --forward-to localhost:4242`],
  ['stripe-webhook-secret', (t) => `> Ready! Your webhook signing secret is ${t} (^C to quit)`],
  ['square-token', (t) => `Square-Version: 2025-01-23\nAuthorization: Bearer ${t}`],
  ['braintree-token', (t) => `gateway = BraintreeGateway.new("${t}")`],
  ['razorpay-key', (t) => `razorpay.Client(auth=("${t}", os.getenv("RZP_SECRET")))`],
  ['shopify-token', (t) => `X-Shopify-Access-Token: ${t}`],
  ['plaid-token', (t) => `UPDATE items SET access_token = '${t}' WHERE id = 7;`],
  ['flutterwave-key', (t) => `flw.secret.key : ${t}`],
  ['easypost-key', (t) => `EasyPostClient(api_key='${t}')`],
  ['shippo-token', (t) => `Authorization: ShippoToken ${t}`],
  [
    'linear-key',
    (t) => `curl https://api.linear.app/graphql -H 'Authorization: ${t}' --data '{"query":"{viewer{id}}"}'`,
  ],
  ['notion-token', (t) => `OPENAPI_MCP_HEADERS='{"Authorization": "Bearer ${t}", "Notion-Version": "2022-06-28"}'`],
  ['airtable-pat', (t) => `Airtable.configure({ apiKey: '${t}' });`],
  ['figma-pat', (t) => `npx figma-developer-mcp --figma-api-key=${t} --stdio`],
  ['postman-key', (t) => `newman run "https://api.getpostman.com/collections/1?apikey=${t}"`],
  ['sentry-org-token', (t) => `[auth]\ntoken=${t}\n\n[defaults]\norg=acme`],
  ['sentry-user-token', (t) => `sentry-cli --auth-token ${t} releases list`],
  ['newrelic-user-key', (t) => `API-Key: ${t}`],
  ['newrelic-license', (t) => `-Dnewrelic.config.license_key=${t}`],
  ['grafana-sa-token', (t) => `grafanactl config set contexts.ci.grafana.token ${t}`],
  [
    'grafana-cloud-token',
    (t) => `prometheus.remote_write "cloud" {\n  endpoint {\n    basic_auth {\n      password = "${t}"\n    }\n  }\n}`,
  ],
  ['launchdarkly-sdk', (t) => `LDClient client = new LDClient("${t}");`],
  ['mapbox-secret', (t) => `MAPBOX_DOWNLOADS_TOKEN=${t}`],
  [
    'vault-service-token',
    (t) =>
      `Key                  Value\n---                  -----\ntoken                ${t}\ntoken_duration       768h`,
  ],
  ['vault-service-token', (t) => `curl -H "X-Vault-Token: ${t}" http://127.0.0.1:8200/v1/secret/data/app`],
  ['terraform-cloud-token', (t) => `{"credentials":{"app.terraform.io":{"token":"${t}"}}}`],
  ['pulumi-token', (t) => `Enter your access token from https://app.pulumi.com/account/tokens: ${t}`],
  ['doppler-token', (t) => `doppler run --token="${t}" -- npm start`],
  ['onepassword-sa-token', (t) => `OP_SERVICE_ACCOUNT_TOKEN='${t}' op read op://ci/app/url`],
  ['age-secret-key', (t) => `# created: 2026-02-03T08:15:42Z\n# public key: age1qqqqqq\n${t}`],
  ['age-secret-key', (t) => `sops --decrypt --age ${t} secrets.enc.yaml`],
  ['tailscale-auth-key', (t) => `tailscale up --ssh --authkey ${t} --hostname=ci`],
  ['clerk-secret', (t) => `clerk := clerk.NewClient("${t}")`],
  ['dropbox-token', (t) => `dbx = dropbox.Dropbox("${t}")`],
  ['facebook-token', (t) => `https://graph.facebook.com/v19.0/me?fields=id&access_token=${t}`],
  ['twitter-bearer', (t) => `tweepy.Client(bearer_token="${t}")`],
  ['hubspot-pat', (t) => `hs auth --account=acme # personal access key ${t}`],
  ['salesforce-session', (t) => `Access Token     ${t}\nApi Version      62.0`],
  ['typeform-pat', (t) => `typeform({ token: "${t}" }).forms.list()`],
  ['contentful-pat', (t) => `contentful login --management-token ${t}`],
  ['dynatrace-token', (t) => `Authorization: Api-Token ${t}`],
  ['prefect-key', (t) => `prefect cloud login -k ${t} -w acme/default`],
  ['readme-key', (t) => `npx rdme openapi upload openapi.json --key=${t}`],
  ['posthog-personal', (t) => `posthog-cli login # token: ${t}`],
  ['adafruit-key', (t) => `Adafruit_MQTT_Client mqtt(&client, AIO_SERVER, 1883, AIO_USER, "${t}");`],
  ['harness-pat', (t) => `harness login --api-key ${t} --account-id acme`],
  ['bitcoin-wif', (t) => `bitcoin-cli dumpprivkey bc1qexampleexampleexample\n${t}`],
];

export function shapeCases(random: Random): OwnCase[] {
  const make = new Make(random);
  const list = new CaseList('shape');
  for (const [family, spell] of SPELLINGS) list.add(family, spell(put(TOKENS[family](make))));

  // The same tokens, encoded. The whole encoded value is the secret: its prefix cannot be told from the rest.
  const of = (family: TokenFamily): string => plain(TOKENS[family](make));
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  list.add(
    'encoded-token',
    `echo ${s(base64(of('github-pat')))} | base64 -d`,
    `data:\n  GITHUB_TOKEN: ${s(base64(of('github-fine-grained')))}`,
    `{"token":"${s(unicodeEscaped(of('github-pat')))}"}`,
    `GET /cb?state=1&next=%2Fhook%3Ftoken%3D${s(of('gitlab-pat'), 6)}%26id%3D7 HTTP/1.1`,
    mapMarked(`token=${s(of('slack-bot-token'), 5)}&ok=1`, encodeURIComponent),
    `key = base64.b64decode("${s(base64(of('anthropic-api-key')))}")`,
    `{"body":${JSON.stringify(JSON.stringify({ authorization: `Bearer ${s(of('groq-key'), 4)}` }))}}`,
    `ENV='{\\"OPENAI_API_KEY\\":\\"${s(of('openai-project'), 8)}\\"}'`,
    `git config http.extraheader "Authorization: Basic ${s(base64(`x-access-token:${of('github-server')}`))}"`,
    `${coloured('STRIPE_SECRET_KEY', 36)}=${coloured(s(of('stripe-secret'), 8), 33)}`,
  );
  return list.cases;
}
