/**
 * What a key has (decisions/keys#api-keys): the fields that people fill in, how they are read, and what a key may
 * give to a key that it makes or rolls (decisions/keys#keys-by-api): its own settings where the request names none,
 * and never more rights than it has.
 */
import { Type } from 'typebox';
import {
  type ApiKey,
  type KeyRules,
  type KeySettings,
  networksOutside,
} from '../../db/api-keys/api-keys';
import type { Tx } from '../../db/transaction';
import { type FieldError, validationFailed } from '../../domain/errors';
import { type Amount, isLess } from '../../domain/money';
import { type Scope, SCOPES } from '../../domain/scopes';
import { Choice, Choices, Count, type InputOf, List, Text, Time } from '../../kit/service/change';
import { checkCurrency, positiveAmount } from '../../kit/service/checks';
import { InputFaults, InvalidInput } from '../../kit/service/refusal';
import { checkAllowlist, readAllowlist } from './allowlist';
import type { KeyRequest } from './api-keys-contract';

/** The settings and rules of a key. Its name gives no right. */
export type KeyRights = Omit<KeySettings, 'name'> & KeyRules;

const REQUESTS_PER_MINUTE = 120;

/** The fields that a person sets beside the rules. */
export const SETTINGS = {
  name: Text(100, { label: 'Name', hint: 'To tell keys apart, such as “Shop backend”' }),
  scopes: Choices(SCOPES, { label: 'Scopes', hint: 'Choose only what the server needs' }),
  allow: List({
    label: 'Allowed addresses',
    hint: 'IP addresses or networks, separated by commas',
    without: 'every address',
    placeholder: '203.0.113.7, 10.0.0.0/8',
  }),
  rate: Type.Optional(
    Count(1, 1200, { label: 'Requests per minute', without: `${REQUESTS_PER_MINUTE}` }),
  ),
  expires: Type.Optional(Time({ label: 'Expires', without: 'no expiry' })),
};

/** What payouts the key may request, beside its scopes (decisions/payouts#recipients). */
export const RULES = {
  payTo: Type.Optional(
    Choice(
      [
        ['anywhere', 'Any destination'],
        ['recipients', 'Saved recipients only'],
      ],
      { label: 'Payouts to', without: 'anywhere' },
    ),
  ),
  currencies: List({
    label: 'Currencies of payouts',
    hint: 'Separated by commas',
    without: 'every currency',
    placeholder: 'USDT, BTC',
  }),
  payoutMax: List({
    label: 'Maximum per payout',
    hint: 'A currency and an amount, separated by commas',
    without: 'no maximum',
    placeholder: 'USDT=500, BTC=0.01',
    pairs: true,
  }),
  dailyMax: List({
    label: 'Maximum in 24 hours',
    hint: 'A currency and an amount, separated by commas',
    without: 'no maximum',
    placeholder: 'USDT=5000, BTC=0.1',
    pairs: true,
  }),
};

/** Checks that need no database, so that their faults are reported with those of the other fields. */
export const PREPARE = {
  allow: checkAllowlist,
  expires: (text: string) => {
    readExpiry(text);
    return text;
  },
  payoutMax: (texts: string[]) => checkLimits('payoutMax', texts),
  dailyMax: (texts: string[]) => checkLimits('dailyMax', texts),
};

/** @throws InvalidInput */
export async function readSettings(
  tx: Tx,
  input: InputOf<{ fields: typeof SETTINGS }>,
): Promise<KeySettings> {
  const expiresAt = readExpiry(input.expires);
  return {
    name: input.name,
    scopes: SCOPES.filter((scope) => input.scopes.includes(scope)),
    allowlist: await readAllowlist(tx, input.allow),
    requestsPerMinute: input.rate ?? REQUESTS_PER_MINUTE,
    expiresAt,
  };
}

/** @throws InvalidInput */
export async function readRules(
  tx: Tx,
  { payTo, currencies, payoutMax, dailyMax }: InputOf<{ fields: typeof RULES }>,
): Promise<KeyRules> {
  const faults = new InputFaults();
  for (const currency of currencies) {
    await faults.read(() => checkCurrency(tx, currency, 'currencies'));
  }
  const payoutLimits: KeyRules['payoutLimits'] = {};
  for (const [field, name, texts] of [
    ['payoutMax', 'per_payout', payoutMax],
    ['dailyMax', 'per_day', dailyMax],
  ] as const) {
    await faults.read(async () => {
      for (const text of texts) {
        const { currency, amount } = readLimit(field, text);
        await checkCurrency(tx, currency, field);
        payoutLimits[currency] = { ...payoutLimits[currency], [name]: amount };
      }
    });
  }
  faults.refuse();
  return {
    recipientsOnly: payTo === 'recipients',
    payoutCurrencies: [...new Set(currencies)],
    payoutLimits,
  };
}

/** @throws InvalidInput */
function readLimit(field: string, text: string): { currency: string; amount: Amount } {
  const [currency = '', value, ...more] = text.split('=');
  if (value === undefined || more.length > 0) {
    throw new InvalidInput(field, { code: 'not_a_limit', value: text });
  }
  return { currency, amount: positiveAmount(field, value) };
}

function checkLimits(field: string, texts: string[]): string[] {
  texts.forEach((text) => readLimit(field, text));
  return texts;
}

/** @returns null means never. @throws InvalidInput for a time that has passed */
function readExpiry(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const at = new Date(text);
  if (at > new Date()) return at;
  throw new InvalidInput('expires', { code: 'in_the_past', value: at });
}

/** The fields of the form that have another name in the API. */
export const NAMES = {
  allow: 'allowed_addresses',
  rate: 'requests_per_minute',
  expires: 'expires_at',
  payTo: 'recipients_only',
  payoutMax: 'payout_limits',
  dailyMax: 'payout_limits',
};

/** The settings and rules of a key in the fields of the form. */
export function fieldsOf(key: ShownKey): InputOf<{ fields: typeof SETTINGS & typeof RULES }> {
  const limits = Object.entries(key.payoutLimits);
  const textsOf = (name: 'per_payout' | 'per_day') =>
    limits.flatMap(([currency, { [name]: value }]) =>
      value === undefined ? [] : [`${currency}=${value}`],
    );
  return {
    name: key.name,
    scopes: key.scopes,
    allow: key.allowlist,
    rate: key.requestsPerMinute,
    ...(key.expiresAt === null ? {} : { expires: key.expiresAt.toISOString() }),
    payTo: key.recipientsOnly ? 'recipients' : 'anywhere',
    currencies: key.payoutCurrencies,
    payoutMax: textsOf('per_payout'),
    dailyMax: textsOf('per_day'),
  };
}

/** A stored key, or one that a request asks for. */
type ShownKey = KeySettings &
  Omit<KeyRules, 'payoutLimits'> & {
    payoutLimits: NonNullable<KeyRequest['payout_limits']>;
  };

/** The settings of the new key: a field that the request leaves out is that of the maker. */
export function inputFor(maker: ApiKey, request: KeyRequest) {
  const { requests_per_minute: rate, expires_at: expires } = request;
  return fieldsOf({
    name: request.name,
    scopes: request.scopes,
    allowlist: request.allowed_addresses ?? maker.allowlist,
    requestsPerMinute: rate ?? Math.min(REQUESTS_PER_MINUTE, maker.requestsPerMinute),
    expiresAt: expires === undefined ? maker.expiresAt : new Date(expires),
    recipientsOnly: request.recipients_only ?? maker.recipientsOnly,
    payoutCurrencies: request.currencies ?? maker.payoutCurrencies,
    payoutLimits: request.payout_limits ?? maker.payoutLimits,
  });
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
