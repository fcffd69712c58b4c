/**
 * The body of POST /payouts (the specification, "Payout request fields"; decisions W1 and W7).
 * Checks what can be seen in the request alone; what depends on currency, network, provider or
 * balance is the service's.
 */
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { DESTINATION_TYPES, type DestinationType } from '../domain/destination';
import { validationFailed } from '../domain/errors';
import { amount } from '../domain/money';
import type { PayoutRequest } from '../domain/payout';
import { amountAsText } from './amount-as-text';
import { fieldErrors } from './field-errors';
import { PROVIDER_CODES } from '../domain/provider-codes';
import { REFERENCE, STORABLE_TEXT } from './fields';
import { RequestAmount, RequestCurrency, RequestMetadata } from './request-members';
import { destinationValueError } from './payout-destination';

export const PayoutBody = Type.Object(
  {
    amount: RequestAmount,
    currency: RequestCurrency,
    reference: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: REFERENCE,
      description: 'your unique id: 1 to 64 characters out of letters, digits, "_" and "-"',
    }),
    destination: Type.Object(
      {
        type: Type.String({
          enum: [...DESTINATION_TYPES],
          description: `one of ${DESTINATION_TYPES.join(', ')}`,
        }),
        value: Type.String({
          minLength: 1,
          maxLength: 255,
          pattern: STORABLE_TEXT,
          description: 'the address, account id or e-mail address to pay to',
        }),
        memo: Type.Optional(
          Type.String({
            maxLength: 64,
            pattern: STORABLE_TEXT,
            description: 'text of at most 64 characters without NUL, or leave it out',
          }),
        ),
      },
      { additionalProperties: false, description: 'an object with type, value and perhaps memo' },
    ),
    network: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        pattern: STORABLE_TEXT,
        description: 'the name of a network, such as "tron", or leave it out',
      }),
    ),
    provider: Type.Optional(
      Type.String({
        enum: [...PROVIDER_CODES],
        description: `one of ${PROVIDER_CODES.join(', ')}, or leave it out`,
      }),
    ),
    description: Type.Optional(
      Type.String({
        maxLength: 255,
        pattern: STORABLE_TEXT,
        description: 'text of at most 255 characters without NUL, or leave it out',
      }),
    ),
    metadata: RequestMetadata,
  },
  { additionalProperties: false, description: 'a payout request' },
);

const validator = Compile(PayoutBody);

/**
 * The request in a parsed body.
 * @throws ApiError validation_failed with every failing field
 */
export function readPayoutRequest(json: Readonly<Record<string, unknown>>): PayoutRequest {
  const body = withoutNulls(amountAsText(json));
  const errors = fieldErrors(validator, body);
  const refused = new Set(errors.map(({ field }) => field));
  const { destination } = body;
  if (isObject(destination) && !refused.has('destination.type')) {
    const error = destinationValueError(destination['type'], destination['value']);
    if (error !== null && !refused.has(error.field)) errors.push(error);
  }
  if (errors.length > 0) throw validationFailed(errors);
  return asRequest(body as Static<typeof PayoutBody>);
}

function asRequest(body: Static<typeof PayoutBody>): PayoutRequest {
  const { destination, currency, reference, network, provider, description, metadata } = body;
  return {
    amount: amount(body.amount),
    currency,
    reference,
    destination: {
      type: destination.type as DestinationType,
      value: destination.value,
      // A form's empty field: no memo is no other thing than an empty one.
      memo: destination.memo === undefined || destination.memo === '' ? null : destination.memo,
    },
    network: network ?? null,
    provider: provider ?? null,
    description: description ?? null,
    metadata: metadata ?? {},
  };
}

/** null for an optional member counts as absent; for any other it is a wrong type. */
function withoutNulls(body: Record<string, unknown>): Record<string, unknown> {
  const kept = without(body, ['network', 'provider', 'description', 'metadata']);
  const { destination } = kept;
  return isObject(destination) ? { ...kept, destination: without(destination, ['memo']) } : kept;
}

function without(object: Record<string, unknown>, optional: string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => value !== null || !optional.includes(name)),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
