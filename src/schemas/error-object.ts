/** The error envelope (the specification, "Errors"; decision W5). */
import { type TSchema, Type } from 'typebox';
import { ERROR_CODES, ERRORS, type ErrorCode, FIELD_RULES } from '../domain/errors';
import { AmountText, CurrencyCode, Id, OneOf, OrNull, Shape, Timestamp } from './common';

const FieldErrors = Shape(
  {
    fields: Type.Array(
      Shape(
        {
          field: Type.String({ description: 'Path of the field, such as destination.value' }),
          rule: OneOf(FIELD_RULES, 'The rule it breaks'),
          message: Type.String({ description: 'What to do' }),
        },
        'A field that has to be corrected',
      ),
      { minItems: 1 },
    ),
  },
  'All failing fields at once',
);

/** What `details` holds; a code that is not here has none. */
const DETAILS: Partial<Record<ErrorCode, TSchema>> = {
  validation_failed: FieldErrors,
  insufficient_scope: Shape({ required_scope: Type.String() }, 'The missing scope'),
  not_found: Shape({ resource: Type.String() }, 'What was not found'),
  invalid_state: Shape({ status: Type.String() }, 'The present status'),
  duplicate_reference: Shape(
    { existing_id: Type.String(), existing_object: OneOf(['payout', 'payment'], 'Its kind') },
    'The object that has the reference',
  ),
  insufficient_balance: Shape(
    {
      currency: CurrencyCode,
      available: AmountText('What there is'),
      required: AmountText('total_debit of the payout'),
    },
    'The figures',
  ),
  destination_not_supported: Type.Object({}, { description: 'What is supported instead' }),
  network_required: Shape(
    {
      provider: Type.String(),
      currency: CurrencyCode,
      networks: Type.Array(Type.String(), { minItems: 1 }),
    },
    'The networks to choose from',
  ),
  limit_exceeded: Shape(
    {
      limit: OneOf(['per_transaction', 'daily'], 'Which limit'),
      currency: CurrencyCode,
      maximum: AmountText('The limit'),
      used: AmountText('Used in the last 24 hours'),
      requested: AmountText('Asked for now'),
      resets_at: OrNull(Timestamp('When the oldest payout leaves the window')),
    },
    'The figures',
  ),
  rate_limited: Shape({ limit_per_minute: Type.Integer() }, 'The limit of the key'),
  service_unavailable: Shape({ reason: Type.String() }, 'Why'),
};

/** The bodies of all refusals. */
export const ERROR_BODIES = Object.fromEntries(
  ERROR_CODES.map((code) => [code, errorBody(code)]),
) as Record<ErrorCode, TSchema>;

function errorBody(code: ErrorCode): TSchema {
  const details = DETAILS[code];
  return Shape(
    {
      error: Shape(
        {
          code: Type.Literal(code),
          message: Type.String({ description: 'A sentence that says what to do' }),
          ...(details === undefined ? {} : { details }),
          request_id: Id('request'),
        },
        ERRORS[code][1],
      ),
    },
    `Error ${code}`,
  );
}
