/** Tokens that their own shape gives away, by family. The part in front of `|` in `put` may stay in the output. */
import { crc32 } from 'node:zlib';
import { crc32Base62 } from '../../../main/sanitize/checksums.js';
import { DIGITS, HEX, LOWER, type Make, UPPER } from './make.js';
import { s } from './mark.js';

const crcHex = (text: string): string => (crc32(text) >>> 0).toString(16).padStart(8, '0');
const json64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** `[prefix, rest]`: the prefix names the family and is no secret. */
export type Token = readonly [string, string];
/** A labelled token. */
export const put = ([prefix, rest]: Token): string => s(prefix + rest, prefix.length);
export const plain = ([prefix, rest]: Token): string => prefix + rest;

const OPENAI_MIDDLE = ['T3Blbk', 'FJ'].join('');

/** Families with the generator of their values. */
export const TOKENS = {
  'aws-access-key-id': (m: Make): Token => ['AKIA', m.base32(16)],
  'aws-temp-access-key-id': (m: Make): Token => ['ASIA', m.base32(16)],
  'aws-session-token': (m: Make): Token => ['', `IQoJb3JpZ2luX2Vj${m.base64(340)}=`],
  'aws-bedrock-api-key': (m: Make): Token => ['ABSK', `QmVkcm9ja0FQSUtleS${m.base64(108)}`],
  'gcp-api-key': (m: Make): Token => ['AIza', `Sy${m.base64url(32)}8`],
  'gcp-oauth-client-secret': (m: Make): Token => ['GOCSPX-', m.base64url(28)],
  'gcp-oauth-access-token': (m: Make): Token => ['ya29.', `a0${m.base64url(160)}`],
  'gcp-oauth-refresh-token': (m: Make): Token => ['1//0', m.base64url(96)],
  'azure-client-secret': (m: Make): Token => ['', `${m.alnum(3)}8Q~${m.alnum(33)}`],
  'azure-devops-pat-84': (m: Make): Token => ['', `${m.alnum(52)}JQQJ99BAC${m.alnum(11)}AZDO${m.alnum(8)}`],
  'alibaba-access-key-id': (m: Make): Token => ['LTAI', `5t${m.alnum(18)}`],
  'tencent-secret-id': (m: Make): Token => ['AKID', m.alnum(32)],
  'digitalocean-pat': (m: Make): Token => ['dop_v1_', m.hex(64)],
  'digitalocean-refresh': (m: Make): Token => ['dor_v1_', m.hex(64)],
  'cloudflare-token-v2': (m: Make): Token => {
    const body = m.alnum(40);
    return ['cfut_', body + crcHex(body)];
  },
  'cloudflare-origin-ca': (m: Make): Token => ['v1.0-', `${m.hex(24)}-${m.hex(146)}`],
  'heroku-api-key': (m: Make): Token => ['HRKU-', `AA${m.base64url(58)}`],
  'fly-access-token': (m: Make): Token => ['FlyV1 ', `fm2_${m.base64(180)}=`],
  'vercel-token': (m: Make): Token => ['vcp_', m.alnum(56)],
  'netlify-token': (m: Make): Token => ['nfp_', m.alnum(36)],
  'render-api-key': (m: Make): Token => ['rnd_', m.alnum(28)],
  'supabase-pat': (m: Make): Token => ['sbp_', m.hex(40)],
  'supabase-secret-key': (m: Make): Token => ['sb_secret_', `${m.alnum(22)}_${m.alnum(8)}`],
  'neon-api-key': (m: Make): Token => ['napi_', m.of(LOWER + DIGITS, 64)],
  'planetscale-token': (m: Make): Token => ['pscale_tkn_', m.alnum(43)],
  'firebase-fcm-key': (m: Make): Token => ['', `AAAA${m.alnum(7)}:APA91b${m.base64url(134)}`],
  'yandex-api-key': (m: Make): Token => ['AQVN', m.base64url(36)],
  'databricks-token': (m: Make): Token => ['dapi', m.hex(32)],
  'github-pat': (m: Make): Token => checked(m, 'ghp_'),
  'github-oauth': (m: Make): Token => checked(m, 'gho_'),
  'github-user-server': (m: Make): Token => checked(m, 'ghu_'),
  'github-server': (m: Make): Token => checked(m, 'ghs_'),
  'github-server-jwt': (m: Make): Token => [
    'ghs_',
    `${m.number(8)}_${m.jwt({ iss: m.number(7), exp: 1_767_229_200 })}`,
  ],
  'github-refresh': (m: Make): Token => ['ghr_', m.alnum(76)],
  'github-fine-grained': (m: Make): Token => ['github_pat_', `${m.alnum(22)}_${m.alnum(59)}`],
  'gitlab-pat': (m: Make): Token => ['glpat-', m.base64url(19).replaceAll('-', 'x') + m.alnum(1)],
  'gitlab-pat-routable': (m: Make): Token => ['glpat-', `${m.alnum(27)}.01.0w${m.of(LOWER + DIGITS, 7)}`],
  'gitlab-deploy-token': (m: Make): Token => ['gldt-', m.alnum(20)],
  'gitlab-runner-token': (m: Make): Token => ['glrt-', m.alnum(20)],
  'gitlab-ci-job-token': (m: Make): Token => ['glcbt-', `64_${m.alnum(20)}`],
  'gitlab-trigger-token': (m: Make): Token => ['glptt-', m.hex(40)],
  'bitbucket-app-password': (m: Make): Token => {
    const body = m.alnum(24);
    return ['ATBB', body + crcHex(body).toUpperCase()];
  },
  'atlassian-api-token': (m: Make): Token => {
    const body = `xFfGF0${m.base64url(172)}`;
    return ['ATATT3', `${body}=${crcHex(`ATATT3${body}`).toUpperCase()}`];
  },
  'circleci-pat': (m: Make): Token => ['CCIPAT_', `${m.alnum(22)}_${m.hex(40)}`],
  'buildkite-token': (m: Make): Token => ['bkua_', m.hex(40)],
  'sonar-token': (m: Make): Token => ['squ_', m.hex(40)],
  'sourcegraph-token': (m: Make): Token => ['sgp_', `${m.hex(16)}_${m.hex(40)}`],
  'npm-token': (m: Make): Token => checked(m, 'npm_'),
  'pypi-token': (m: Make): Token => ['pypi-', `AgEIcHlwaS5vcmc${m.base64url(150)}`],
  'rubygems-key': (m: Make): Token => ['rubygems_', m.hex(48)],
  'nuget-key': (m: Make): Token => ['oy2', m.of(`${LOWER}234567`, 43)],
  'crates-io-token': (m: Make): Token => ['cio', m.alnum(32)],
  'docker-pat': (m: Make): Token => ['dckr_pat_', m.base64url(26) + m.alnum(1)],
  'jfrog-api-key': (m: Make): Token => ['AKCp', `8${m.alnum(68)}`],
  'jfrog-reference-token': (m: Make): Token => ['', `cmVmdGtuO${m.alnum(55)}`],
  'openai-legacy': (m: Make): Token => ['sk-', m.alnum(20) + OPENAI_MIDDLE + m.alnum(20)],
  'openai-project': (m: Make): Token => ['sk-proj-', m.base64url(74) + OPENAI_MIDDLE + m.base64url(73) + m.alnum(1)],
  'openai-service-account': (m: Make): Token => ['sk-svcacct-', m.base64url(58) + OPENAI_MIDDLE + m.alnum(58)],
  'anthropic-api-key': (m: Make): Token => ['sk-ant-api03-', `${m.base64url(93)}AA`],
  'anthropic-admin-key': (m: Make): Token => ['sk-ant-admin01-', `${m.base64url(93)}AA`],
  'anthropic-oauth': (m: Make): Token => ['sk-ant-oat01-', `${m.base64url(93)}AA`],
  'huggingface-token': (m: Make): Token => ['hf_', m.of(UPPER + LOWER, 34)],
  'groq-key': (m: Make): Token => ['gsk_', m.alnum(52)],
  'openrouter-key': (m: Make): Token => ['sk-or-v1-', m.hex(64)],
  'perplexity-key': (m: Make): Token => ['pplx-', m.alnum(48)],
  'replicate-token': (m: Make): Token => ['r8_', m.alnum(37)],
  'fireworks-key': (m: Make): Token => ['fw_', m.alnum(24)],
  'deepseek-key': (m: Make): Token => ['sk-', m.hex(32)],
  'xai-key': (m: Make): Token => ['xai-', m.alnum(80)],
  'nvidia-key': (m: Make): Token => ['nvapi-', m.base64url(63) + m.alnum(1)],
  'elevenlabs-key': (m: Make): Token => ['sk_', m.hex(48)],
  'langsmith-key': (m: Make): Token => ['lsv2_pt_', `${m.hex(32)}_${m.hex(10)}`],
  'pinecone-key': (m: Make): Token => ['pcsk_', `${m.alnum(6)}_${m.alnum(63)}`],
  'tavily-key': (m: Make): Token => ['tvly-', `dev-${m.alnum(32)}`],
  'firecrawl-key': (m: Make): Token => ['fc-', m.hex(32)],
  'brave-search-key': (m: Make): Token => ['BSA', m.base64url(27) + m.alnum(1)],
  'jina-key': (m: Make): Token => ['jina_', m.alnum(60)],
  'cerebras-key': (m: Make): Token => ['csk-', m.of(LOWER + DIGITS, 48)],
  'cursor-key': (m: Make): Token => ['key_', m.hex(64)],
  'langfuse-secret': (m: Make): Token => ['sk-lf-', m.uuid()],
  'slack-bot-token': (m: Make): Token => ['xoxb-', `${m.number(12)}-${m.number(13)}-${m.alnum(24)}`],
  'slack-user-token': (m: Make): Token => ['xoxp-', `${m.number(12)}-${m.number(12)}-${m.number(13)}-${m.hex(32)}`],
  'slack-app-token': (m: Make): Token => ['xapp-', `1-A${m.of(UPPER + DIGITS, 10)}-${m.number(13)}-${m.hex(64)}`],
  'slack-config-token': (m: Make): Token => ['xoxe.xoxp-1-', m.alnum(163)],
  'slack-session-cookie': (m: Make): Token => ['xoxd-', `${m.alnum(40)}%2B${m.alnum(60)}%2F${m.alnum(50)}%3D%3D`],
  'discord-bot-token': (m: Make): Token => [
    '',
    `${Buffer.from(`1${m.of(DIGITS, 17)}`).toString('base64url')}.G${m.alnum(5)}.${m.base64url(37)}x`,
  ],
  'telegram-bot-token': (m: Make): Token => ['', `${m.number(10)}:AA${m.base64url(32)}k`],
  'twilio-api-key': (m: Make): Token => ['SK', m.hex(32)],
  'sendgrid-key': (m: Make): Token => ['SG.', `${m.alnum(22)}.${m.alnum(43)}`],
  'mailgun-key': (m: Make): Token => ['key-', m.hex(32)],
  'mailchimp-key': (m: Make): Token => ['', `${m.hex(32)}-us21`],
  'resend-key': (m: Make): Token => ['re_', `${m.alnum(8)}_${m.alnum(24)}`],
  'brevo-key': (m: Make): Token => ['xkeysib-', `${m.hex(64)}-${m.alnum(16)}`],
  'stripe-secret': (m: Make): Token => ['sk_live_', `51${m.alnum(97)}`],
  'stripe-restricted': (m: Make): Token => ['rk_live_', `51${m.alnum(97)}`],
  'stripe-webhook-secret': (m: Make): Token => ['whsec_', m.alnum(32)],
  'square-token': (m: Make): Token => ['EAAA', `l${m.base64url(58)}9`],
  'braintree-token': (m: Make): Token => ['access_token$production$', `${m.of(LOWER + DIGITS, 16)}$${m.hex(32)}`],
  'razorpay-key': (m: Make): Token => ['rzp_live_', m.alnum(14)],
  'shopify-token': (m: Make): Token => ['shpat_', m.hex(32)],
  'plaid-token': (m: Make): Token => ['access-production-', m.uuid()],
  'flutterwave-key': (m: Make): Token => ['FLWSECK-', `${m.hex(32)}-X`],
  'easypost-key': (m: Make): Token => ['EZAK', m.alnum(54)],
  'shippo-token': (m: Make): Token => ['shippo_live_', m.hex(40)],
  'linear-key': (m: Make): Token => ['lin_api_', m.alnum(40)],
  'notion-token': (m: Make): Token => ['ntn_', `${m.number(11)}${m.alnum(35)}`],
  'airtable-pat': (m: Make): Token => ['pat', `${m.alnum(14)}.${m.hex(64)}`],
  'figma-pat': (m: Make): Token => ['figd_', m.alnum(40)],
  'postman-key': (m: Make): Token => ['PMAK-', `${m.hex(24)}-${m.hex(34)}`],
  'sentry-org-token': (m: Make): Token => [
    'sntrys_',
    `${json64({ iat: 1_767_225_600.5, url: 'https://sentry.io', region_url: 'https://us.sentry.io', org: 'acme' })}_${m.base64(42)}8`,
  ],
  'sentry-user-token': (m: Make): Token => ['sntryu_', m.hex(64)],
  'newrelic-user-key': (m: Make): Token => ['NRAK-', m.of(UPPER + DIGITS, 27)],
  'newrelic-license': (m: Make): Token => ['', `${m.hex(36)}NRAL`],
  'grafana-sa-token': (m: Make): Token => {
    const body = m.alnum(32);
    return ['glsa_', `${body}_${crcHex(`glsa_${body}`)}`];
  },
  'grafana-cloud-token': (m: Make): Token => [
    'glc_',
    Buffer.from(JSON.stringify({ o: m.number(6), n: 'ci-push', k: m.alnum(24), m: { r: 'eu' } })).toString('base64'),
  ],
  'launchdarkly-sdk': (m: Make): Token => ['sdk-', m.uuid()],
  'mapbox-secret': (m: Make): Token => [
    'sk.',
    `${json64({ u: 'acme', a: m.of(LOWER + DIGITS, 25) })}.${m.base64url(21)}Q`,
  ],
  'vault-service-token': (m: Make): Token => ['hvs.', `CAESI${m.base64url(90)}`],
  'terraform-cloud-token': (m: Make): Token => ['', `${m.alnum(14)}.atlasv1.${m.alnum(67)}`],
  'pulumi-token': (m: Make): Token => ['pul-', m.hex(40)],
  'doppler-token': (m: Make): Token => ['dp.st.', `prd.${m.alnum(43)}`],
  'onepassword-sa-token': (m: Make): Token => [
    'ops_',
    json64({
      signInAddress: 'my.1password.com',
      secretKey: `A3-${m.base32(6)}`,
      srpX: m.hex(64),
      muk: { k: m.base64url(43) },
      throttleSecret: { seed: m.hex(64) },
    }),
  ],
  'age-secret-key': (m: Make): Token => ['AGE-SECRET-KEY-1', m.ageKey().slice(16)],
  'tailscale-auth-key': (m: Make): Token => ['tskey-auth-', `k${m.alnum(11)}CNTRL-${m.alnum(32)}`],
  'clerk-secret': (m: Make): Token => ['sk_test_', m.alnum(40)],
  'dropbox-token': (m: Make): Token => ['sl.', `u.${m.base64url(140)}`],
  'facebook-token': (m: Make): Token => ['EAA', `${m.alnum(160)}ZD`],
  'twitter-bearer': (m: Make): Token => ['', `${'A'.repeat(22)}${m.alnum(30)}%2F${m.alnum(12)}%3D${m.alnum(40)}`],
  'hubspot-pat': (m: Make): Token => ['pat-', `na1-${m.uuid()}`],
  'salesforce-session': (m: Make): Token => ['', `00D${m.alnum(12)}!${m.of(`${UPPER}${LOWER}${DIGITS}_.`, 95)}x`],
  'typeform-pat': (m: Make): Token => ['tfp_', m.alnum(59)],
  'contentful-pat': (m: Make): Token => ['CFPAT-', m.alnum(43)],
  'dynatrace-token': (m: Make): Token => ['dt0c01.', `${m.base32(24)}.${m.base32(64)}`],
  'prefect-key': (m: Make): Token => ['pnu_', m.alnum(36)],
  'readme-key': (m: Make): Token => ['rdme_', m.of(LOWER + DIGITS, 70)],
  'posthog-personal': (m: Make): Token => ['phx_', m.alnum(43)],
  'adafruit-key': (m: Make): Token => ['aio_', m.alnum(28)],
  'harness-pat': (m: Make): Token => ['pat.', `${m.alnum(22)}.${m.of(HEX, 24)}.${m.alnum(20)}`],
  'bitcoin-wif': (m: Make): Token => ['', m.wif()],
} satisfies Record<string, (make: Make) => Token>;

export type TokenFamily = keyof typeof TOKENS;

/** GitHub's and npm's scheme: thirty characters and their checksum. */
function checked(m: Make, prefix: string): Token {
  const body = m.alnum(30);
  return [prefix, body + crc32Base62(body)];
}
