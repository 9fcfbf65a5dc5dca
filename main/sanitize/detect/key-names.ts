/** Whether a name is one that stands before a secret. */

const PASSWORD =
  /(?:^|_)(?:(?:[a-z]{1,24})?(?:passw(?:or)?d|passphrase|passwd|pwd|passcode|psk|requirepass|masterauth|passwort|kennwort|contrasena|contrasenya|senha|mot_de_passe|wachtwoord|lozinka|haslo)|(?:db|pg|my|sql|ftp|smtp|mail|user|root|admin|ssh|redis)?pass|pw)(?:_?\d)?$/;
const TOKEN =
  /(?:^|_)(?:[a-z]{0,16}token|[a-z]{0,16}secret|[a-z]{0,12}apikey|(?:api|access|account|auth|private|secret|shared|encryption|signing|master|admin|license|sdk|service|data|app|application|storage|deploy|cf|deployer|server|user|iam|signature|origin_ca|session|cookie|encrypt|decrypt|cipher|hmac|jwt|client|consumer|subscription|instrumentation|integration|ingest|ingestion|write|write_api|rest_api|functions|function|host|webhook|bot|billing|machine|fernet|aes|crypto|database|db|vault|unseal|recovery|seed|wallet|signer|validator|root|tls|ssl|ssh|gpg|pgp|rsa|license|activation|product|serial|x_api|x_goog_api|x_functions|xi_api|ocp_apim_subscription)_?key|(?:secret|token|api_?key)_?(?:value|string|text|data|prod|dev|staging|live|test|v?\d)|bearer|pat|ext_pat|authtoken|key_base|wallet_wif|wif|auth|basic_auth|http_auth|credentials?|creds|client_secret|access_key_secret|secret_access_key|sharedaccesskey|accountkey|authorization|proxy_authorization|sig|signature|code_verifier|device_code|user_code_verifier|auth_ident|npm_auth_ident|sas|sas_token|cookie_secret|mnemonic|otp_?secret|totp_?secret|seed|sessionid|session_id_token|connect_sid|jsessionid|phpsessid|csrf_?token|xsrf_?token|x_amz_signature|x_amz_security_token|x_goog_signature|x_vault_token|deploy_?key|master_?key|signing_?key|webhook_url_secret)$/;
const ENV_KEY = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_KEY(?:_\d{1,2})?$/;
const NOT_SECRET =
  /(?:^|_)(?:public|publishable|search_only|primary|foreign|cache|sort|partition|row|index|object|bucket|idempotency|max|min|count|total|num|next|csrf_name|tool|call|translation|i18n|registry|dictionary|composite|unique|hot|short|arrow|modifier|group_by|order_by|react|storage_bucket|locale|lock|route|query|hash|range|shortcut|secret_manager|keyboard|pad|bos|eos|sep|mask|unk|cls|stop|start|end|begin|first|last|prev|current|special|lookahead|input|output)_(?:\w{0,24}_)?(?:key|token|keys|tokens)$|(?:^|_)(?:public|publishable|primary|foreign|partition|idempotency)_|tokens$|keys$|(?:^|_)(?:key_id|keyid|kid|token_type|token_count|tokenizer|secret_name|secretname|secret_id_name|secret_ref|secretref|token_url|token_uri|tokenurl|auth_url|auth_uri|auth_type|auth_method|auth_mode|password_hash_algorithm|key_type|key_name|keyname|key_length|key_size|sec_websocket_key|websocket_key|x_amz_credential)$/;

/** A key as snake_case: `azureDevopsExtPat` -> `azure_devops_ext_pat`. */
export function snakeCase(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]{2,})([A-Z][a-z])/g, '$1_$2')
    .replace(/[-.\s:/]+/g, '_')
    .toLowerCase()
    .replace(/^_+|_+$/g, '');
}

export type KeyKind = 'password' | 'token' | null;
const known = new Map<string, KeyKind>();
const KNOWN_MOST = 20_000;

/** `key` as it stands in the text. */
export function keyKind(key: string): KeyKind {
  if (key.length > 64 || key.startsWith('REDACTED_')) return null;
  let kind = known.get(key);
  if (kind === undefined) {
    kind = kindOf(key);
    if (known.size > KNOWN_MOST) known.clear();
    known.set(key, kind);
  }
  return kind;
}

function kindOf(key: string): KeyKind {
  const name = snakeCase(key.replace(/^-+/, ''));
  if (NOT_SECRET.test(name)) return null;
  if (PASSWORD.test(name)) return 'password';
  return TOKEN.test(name) || ENV_KEY.test(key) ? 'token' : null;
}
