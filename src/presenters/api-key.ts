/** API keys in responses of the API. */
import type { ApiKey } from '../db/repositories/api-keys';
import { apiKeyStatus } from '../domain/api-key';
import type { ApiKeyObject } from '../schemas/api-keys';

export function presentKeyForApi(key: ApiKey): ApiKeyObject {
  return {
    id: key.id,
    object: 'api_key',
    mode: key.mode,
    name: key.name,
    display: `${key.displayPrefix}…${key.lastFour}`,
    status: apiKeyStatus(key, new Date()),
    scopes: key.scopes,
    allowed_addresses: key.allowlist,
    requests_per_minute: key.requestsPerMinute,
    recipients_only: key.recipientsOnly,
    currencies: key.payoutCurrencies,
    payout_limits: key.payoutLimits,
    created_by_key: key.createdByKey,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  };
}

export function presentKeyWithSecret({ secret, ...key }: ApiKey & { secret: string }) {
  return { ...presentKeyForApi(key), secret };
}
