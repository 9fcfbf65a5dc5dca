/** JSON fields whose name and value together say what they are. */
import { signatureField } from './opaque.js';
import type { TextView } from './text-view.js';

/** Fields that hold a secret by their format: private keys as JWK (RFC 7517), service accounts, kubeconfig, Docker. */
const SPECIAL_FIELDS: [name: RegExp, value: RegExp, family: string][] = [
  [/^(?:d|p|q|dp|dq|qi|k)$/, /^[A-Za-z0-9_-]{32,1400}$/, 'jwk-private'],
  [/^private_key_id$/, /^[a-f0-9]{32,64}$/, 'private-key-id'],
  [/^client-key-data$/, /^[A-Za-z0-9+/=]{40,40000}$/, 'kubeconfig-key'],
  [/^auth$/, /^[A-Za-z0-9+/]{8,4000}={0,2}$/, 'docker-auth'],
  [/^(?:PrivateKey|PresharedKey|privateKey|presharedKey)$/, /^[A-Za-z0-9+/]{43}=$/, 'wireguard-private-key'],
  [/^(?:Account|AccountId|accountId|account_id|aws_account_id|ownerId|OwnerId)$/, /^\d{12}$/, 'account-id'],
  [
    /^(?:tenantId|tenant_id|subscriptionId|subscription_id|homeTenantId|tenantID)$/,
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    'account-id',
  ],
];

/** Whether the text is such a value; it is reported then. */
export function specialField(view: TextView): boolean {
  if (signatureField(view)) return true;
  const { key, text, spans } = view;
  const value = text.trim();
  const special = SPECIAL_FIELDS.find(([name, shape]) => name.test(key) && shape.test(value));
  if (!special) return false;
  const start = text.indexOf(value);
  const family = special[2];
  if (family === 'account-id' && /^(?:0{6}|123456789012$|(\d)\1+$)/.test(value)) return true;
  spans.push({
    start,
    end: start + value.length,
    family,
    certainty: family === 'account-id' ? 'personal' : 'block',
    value,
  });
  return true;
}
