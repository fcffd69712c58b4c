/**
 * What a key may give to a key that it makes or rolls (decisions/keys#keys-by-api): its own settings where the
 * request names none, and never more rights than it has.
 */
import { type ApiKey, networksOutside } from '../../db/api-keys/api-keys';
import type { Tx } from '../../db/transaction';
import { type FieldError, validationFailed } from '../../domain/errors';
import type { KeyLimit } from '../../domain/limits';
import { isLess } from '../../domain/money';
import type { InputOf } from '../../kit/service/change';
import { type createKey, REQUESTS_PER_MINUTE } from './api-keys';
import type { KeyRequest } from './api-keys-contract';
import type { Scope } from '../../domain/scopes';

export type KeyRights = Pick<
  ApiKey,
  | 'scopes'
  | 'allowlist'
  | 'requestsPerMinute'
  | 'recipientsOnly'
  | 'payoutCurrencies'
  | 'payoutLimits'
  | 'expiresAt'
>;

/** The fields of the form that have another name in the API. */
export const NAMES = {
  allow: 'allowed_addresses',
  rate: 'requests_per_minute',
  expires: 'expires_at',
  payTo: 'recipients_only',
  payoutMax: 'payout_limits',
  dailyMax: 'payout_limits',
};

/** The settings of the new key: a field that the request leaves out is that of the maker. */
export function inputFor(maker: ApiKey, request: KeyRequest): InputOf<typeof createKey> {
  const expires = request.expires_at ?? maker.expiresAt?.toISOString();
  const limits = Object.entries(request.payout_limits ?? maker.payoutLimits);
  const textsOf = (name: keyof KeyLimit) =>
    limits.flatMap(([currency, { [name]: value }]) =>
      value === undefined ? [] : [`${currency}=${value}`],
    );
  return {
    name: request.name,
    scopes: request.scopes,
    allow: request.allowed_addresses ?? maker.allowlist,
    rate: request.requests_per_minute ?? Math.min(REQUESTS_PER_MINUTE, maker.requestsPerMinute),
    ...(expires === undefined ? {} : { expires }),
    payTo: (request.recipients_only ?? maker.recipientsOnly) ? 'recipients' : 'anywhere',
    currencies: request.currencies ?? maker.payoutCurrencies,
    payoutMax: textsOf('per_payout'),
    dailyMax: textsOf('per_day'),
  };
}

/** The scopes with which a key takes money out of the balance. */
const PAYING: readonly Scope[] = ['payouts:write', 'payments:write'];

/** @throws ApiError validation_failed with every field that is too much */
export async function requireWithin(tx: Tx, maker: KeyRights, wanted: KeyRights): Promise<void> {
  const fields = [
    ...scopeFaults(maker, wanted),
    ...(await addressFaults(tx, maker, wanted)),
    ...payoutFaults(maker, wanted),
    ...otherFaults(maker, wanted),
  ];
  if (fields.length > 0) throw validationFailed(fields);
}

const tooMuch = (field: string, message: string): FieldError => ({
  field,
  rule: 'out_of_range',
  message,
});

function scopeFaults(maker: KeyRights, wanted: KeyRights): FieldError[] {
  const given: Scope[] = maker.scopes.filter((scope) => scope !== 'api_keys:write');
  const missing = wanted.scopes.filter((scope) => !given.includes(scope));
  if (missing.length > 0) {
    const message = `This key may not give ${missing.join(', ')}. Send some of ${given.join(', ')}.`;
    return [tooMuch('scopes', message)];
  }
  const hasDaily = Object.values(maker.payoutLimits).some((limit) => limit.per_day !== undefined);
  const paying = wanted.scopes.filter((scope) => PAYING.includes(scope));
  if (!hasDaily || paying.length === 0) return [];
  const message = `This key has a maximum in 24 hours, which a second key would have once more. Leave out ${paying.join(', ')}.`;
  return [tooMuch('scopes', message)];
}

async function addressFaults(
  tx: Tx,
  { allowlist: given }: KeyRights,
  { allowlist: wanted }: KeyRights,
): Promise<FieldError[]> {
  if (given.length === 0) return [];
  const outside =
    wanted.length === 0 ? ['every address'] : await networksOutside(tx, wanted, given);
  if (outside.length === 0) return [];
  const message = `This key may not allow ${outside.join(', ')}. Send addresses in ${given.join(', ')}.`;
  return [tooMuch('allowed_addresses', message)];
}

function payoutFaults(maker: KeyRights, wanted: KeyRights): FieldError[] {
  const faults: FieldError[] = [];
  if (maker.recipientsOnly && !wanted.recipientsOnly) {
    faults.push(tooMuch('recipients_only', 'This key pays recipients only. Send true.'));
  }
  const given = maker.payoutCurrencies;
  const others = wanted.payoutCurrencies.filter((currency) => !given.includes(currency));
  if (given.length > 0 && (wanted.payoutCurrencies.length === 0 || others.length > 0)) {
    faults.push(
      tooMuch('currencies', `Send some of the currencies of this key: ${given.join(', ')}.`),
    );
  }
  for (const [currency, { per_payout: maximum }] of Object.entries(maker.payoutLimits)) {
    if (maximum === undefined) continue;
    const asked = wanted.payoutLimits[currency]?.per_payout;
    if (asked !== undefined && !isLess(maximum, asked)) continue;
    const message = `Send per_payout for ${currency} as at most ${maximum}, which this key has.`;
    faults.push(tooMuch('payout_limits', message));
  }
  return faults;
}

function otherFaults(maker: KeyRights, wanted: KeyRights): FieldError[] {
  const faults: FieldError[] = [];
  const { requestsPerMinute: rate, expiresAt: end } = maker;
  if (wanted.requestsPerMinute > rate) {
    faults.push(tooMuch('requests_per_minute', `Send at most ${rate}, which this key has.`));
  }
  if (end !== null && (wanted.expiresAt === null || wanted.expiresAt > end)) {
    const message = `Send a time up to ${end.toISOString()}, when this key expires.`;
    faults.push(tooMuch('expires_at', message));
  }
  return faults;
}
