/**
 * The body of POST /payments (the specification, "Payment object and payment request"; decisions
 * P1, W1 and W7). Members that it does not name are ignored: the specification's list is not whole.
 */
import { isLosslessNumber } from 'lossless-json';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type FieldError, validationFailed } from '../domain/errors';
import { amount } from '../domain/money';
import type { Mode } from '../domain/mode';
import type { PaymentRequest } from '../domain/payment';
import { PROVIDER_CODES } from '../domain/provider-codes';
import { amountAsText } from './amount-as-text';
import { fieldErrors } from './field-errors';
import { STORABLE_TEXT } from './fields';
import { RequestAmount, RequestCurrency, RequestMetadata } from './request-members';

const EXPIRES_IN_S = { least: 300, greatest: 86_400, otherwise: 3_600 };
const PART = '[^\\s@\\u0000\\p{Cs}]+';
/** No part has what STORABLE_TEXT excludes either. */
const EMAIL = `^${PART}@${PART}\\.${PART}$`;

const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, pattern: STORABLE_TEXT, description }));

export const PaymentBody = Type.Object(
  {
    amount: RequestAmount,
    currency: RequestCurrency,
    reference: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[\\x21-\\x7e]*$',
      description: 'your unique id: 1 to 64 printable ASCII characters without spaces',
    }),
    description: text(255, 'text of at most 255 characters without NUL, or leave it out'),
    customer_email: Type.Optional(
      Type.String({
        maxLength: 254,
        pattern: EMAIL,
        description: 'an e-mail address of at most 254 characters, or leave it out',
      }),
    ),
    success_url: text(2048, 'an absolute address of at most 2048 characters, or leave it out'),
    cancel_url: text(2048, 'an absolute address of at most 2048 characters, or leave it out'),
    provider: Type.Optional(
      Type.String({
        enum: [...PROVIDER_CODES],
        description: `one of ${PROVIDER_CODES.join(', ')}, or leave it out`,
      }),
    ),
    network: text(64, 'the name of a network, such as "tron", or leave it out'),
    metadata: RequestMetadata,
    expires_in: Type.Optional(
      Type.Integer({
        minimum: EXPIRES_IN_S.least,
        maximum: EXPIRES_IN_S.greatest,
        description: `a whole number of seconds from ${EXPIRES_IN_S.least} to ${EXPIRES_IN_S.greatest}, or leave it out`,
      }),
    ),
  },
  { description: 'a payment request' },
);

const validator = Compile(PaymentBody);
const OPTIONAL = Object.keys(PaymentBody.properties).filter(
  (name) => !['amount', 'currency', 'reference'].includes(name),
);

/** @throws ApiError validation_failed with every failing field */
export function readPaymentRequest(
  json: Readonly<Record<string, unknown>>,
  mode: Mode,
): PaymentRequest {
  const body: Record<string, unknown> = {
    ...withoutNulls(amountAsText(json)),
    ...plainSeconds(json['expires_in']),
  };

  const errors = fieldErrors(validator, body);
  for (const field of ['success_url', 'cancel_url'] as const) {
    const error = urlError(field, body[field], mode);
    if (error !== null && !errors.some((one) => one.field === field)) errors.push(error);
  }
  if (errors.length > 0) throw validationFailed(errors);
  return asRequest(body as Static<typeof PaymentBody>);
}

function asRequest(body: Static<typeof PaymentBody>): PaymentRequest {
  return {
    amount: amount(body.amount),
    currency: body.currency,
    reference: body.reference,
    description: body.description ?? null,
    customerEmail: body.customer_email ?? null,
    successUrl: body.success_url ?? null,
    cancelUrl: body.cancel_url ?? null,
    provider: body.provider ?? null,
    network: body.network ?? null,
    metadata: body.metadata ?? {},
    expiresInSeconds: body.expires_in ?? EXPIRES_IN_S.otherwise,
  };
}

/** What a parser mends (`https:shop`, a space before it) is no address: it is stored as it came. */
const WEB_ADDRESS = /^https?:\/\//i;

/** Live customers are sent back over https only. */
function urlError(field: string, value: unknown, mode: Mode): FieldError | null {
  if (typeof value !== 'string') return null;
  const protocols = mode === 'live' ? ['https:'] : ['https:', 'http:'];
  const isWanted = protocols.includes(URL.parse(value)?.protocol ?? '');
  if (isWanted && WEB_ADDRESS.test(value)) return null;
  const wanted = mode === 'live' ? 'https://' : 'https:// or http://';
  const message = `Send ${field} as an absolute address that begins with ${wanted}.`;
  return { field, rule: 'format', message };
}

/** JSON numbers arrive with all their digits; a count of seconds needs a plain one. */
function plainSeconds(seconds: unknown): { expires_in?: unknown } {
  const isCount = isLosslessNumber(seconds) && /^[0-9]{1,9}$/.test(seconds.value);
  return isCount ? { expires_in: JSON.parse(seconds.value) } : {};
}

/** null for an optional member counts as absent. */
function withoutNulls(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null || !OPTIONAL.includes(name)),
  );
}
