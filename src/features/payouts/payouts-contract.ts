/**
 * Payouts on the wire (the specification, "Payout request fields" and "Payout object"; decisions/money#amounts,
 * decisions/api#validation, decisions/api#lists and decisions/payouts#payout-object). A request is checked for what can be
 * seen in it alone; what depends on currency, network, provider or balance is the service's.
 */
import { type Static, Type } from 'typebox';
import {
  type Beneficiary,
  BENEFICIARY_KINDS,
  BENEFICIARY_TEXT_LENGTH_MAX,
} from '../../domain/beneficiary';
import { DESTINATION_TYPES, type DestinationType } from '../../domain/destination';
import type { FieldError } from '../../domain/errors';
import { ISO_TIME_PATTERN, parseIsoTime } from '../../domain/iso-time';
import { amount } from '../../domain/money';
import {
  PAYOUT_STATUSES,
  type PayoutOrder,
  type PayoutRequest,
  type SentPayoutOrder,
  type Payout,
} from '../../domain/payout';
import type { ReleaseRequest, Condition } from '../../domain/payout-condition';
import { isPrintable } from '../../domain/printable';
import {
  compileBody,
  type Json,
  RequestAmount,
  RequestChoice,
  RequestCurrency,
  RequestDescription,
  RequestMetadata,
  RequestProvider,
  sendAs,
  STORABLE_TEXT,
} from '../../kit/api/body';
import {
  AmountText,
  CurrencyCode,
  Id,
  Metadata,
  ModeName,
  OneObjectOf,
  OneOf,
  OrNull,
  ProviderName,
  Shape,
  Timestamp,
} from '../../kit/api/common';
import {
  created,
  CREATION_ERRORS,
  IDEMPOTENCY_KEY,
  idOf,
  listed,
  listQueryOf,
  shown,
  operations,
} from '../../kit/api/operation';
import {
  CREATED,
  CURRENCY,
  matching,
  onPages,
  PROVIDER,
  type Query,
  readListQuery,
  someOf,
} from '../../kit/api/query';

/**
 * null says that the destination has no memo. The reader takes it from the body, because null counts as
 * absent elsewhere.
 */
const RequestMemo = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 64,
  pattern: STORABLE_TEXT,
  description: 'Text of at most 64 characters without NUL, or null if the destination has none',
});

const DESTINATION = 'An object with type, value and optionally memo';

/** The destination of a request; its address is checked once the network is known. */
export const RequestDestination = Type.Object(
  {
    type: RequestChoice(DESTINATION_TYPES),
    value: Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: STORABLE_TEXT,
      description: 'The address, account ID or email address of the recipient',
    }),
    memo: Type.Optional(RequestMemo),
  },
  { additionalProperties: false, description: DESTINATION },
);

/** The network of a request. */
export const RequestNetwork = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: STORABLE_TEXT,
  description: 'The name of a network, such as "tron"',
});

const RequestTime = (description: string) =>
  Type.String({ maxLength: 40, pattern: ISO_TIME_PATTERN, description });

const RequestRelease = Type.Object(
  {
    at: Type.Optional(RequestTime('A time within a year, in ISO 8601 with a zone')),
    after_payment: Type.Optional(Id('payment', 'The ID of your payment that has to be completed')),
    approval_by_key: Type.Optional(
      Id('apiKey', 'The ID of another API key of your account, which has to release the payout'),
    ),
    recipient_ready: Type.Optional(
      Type.Literal(true, {
        description: 'true; the payout waits until its recipient may be paid',
      }),
    ),
    expires_at: Type.Optional(
      RequestTime('A time within a year, after release.at, in ISO 8601 with a zone'),
    ),
  },
  {
    additionalProperties: false,
    description:
      'An object with at, after_payment, approval_by_key or recipient_ready, and optionally expires_at',
  },
);

const BeneficiaryText = (what: string) =>
  Type.Refine(
    Type.String({
      minLength: 1,
      maxLength: BENEFICIARY_TEXT_LENGTH_MAX,
      description: `${what}, in one line of at most ${BENEFICIARY_TEXT_LENGTH_MAX} characters`,
    }),
    isPrintable,
    () => 'format',
  );

/** Who receives the money, in a request. */
export const RequestBeneficiary = Type.Object(
  {
    name: BeneficiaryText('The full name of the person or business that receives the money'),
    kind: RequestChoice(BENEFICIARY_KINDS),
    institution: Type.Optional(
      BeneficiaryText('The exchange or other institution that holds the destination'),
    ),
  },
  {
    additionalProperties: false,
    description: 'An object with name, kind and optionally institution',
  },
);

const ROW = {
  amount: RequestAmount,
  currency: RequestCurrency,
  reference: Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[A-Za-z0-9_-]*$',
    description: 'Your unique ID: 1 to 64 letters, digits, "_" or "-"',
  }),
  destination: Type.Optional(RequestDestination),
  recipient: Type.Optional(Id('recipient', 'The ID of a recipient, in place of destination')),
  network: Type.Optional(RequestNetwork),
  provider: Type.Optional(RequestProvider),
  description: Type.Optional(RequestDescription),
  metadata: Type.Optional(RequestMetadata),
};

/** A row of a schedule: it is stored as it was sent, so it names nobody. */
export const ScheduledRowBody = Type.Object(ROW, {
  additionalProperties: false,
  description: 'A payout request without release and beneficiary',
});

const ROW_OF_BATCH = { ...ROW, beneficiary: Type.Optional(RequestBeneficiary) };

/** A row of a batch: a batch is released by its approval. */
export const PayoutRowBody = Type.Object(ROW_OF_BATCH, {
  additionalProperties: false,
  description: 'A payout request without release',
});

/** The body of POST /payouts. */
export const PayoutBody = Type.Object(
  { ...ROW_OF_BATCH, release: Type.Optional(RequestRelease) },
  { additionalProperties: false, description: 'A payout request' },
);

const readBody = compileBody(PayoutBody);
const readRowBody = compileBody(PayoutRowBody);
const readScheduledRowBody = compileBody(ScheduledRowBody);

/** @throws ApiError validation_failed with every failing field */
export function readPayoutRequest(json: Json): SentPayoutOrder {
  const body = readBody(json, (checked) => [...whereToErrors(checked), ...releaseErrors(checked)]);
  const { release, beneficiary } = body;
  return {
    ...orderOf(json, body),
    // Without conditions the request has no such member, so that its hash stays what it was.
    ...(release === undefined ? {} : { release: releaseOf(release) }),
    ...beneficiaryOf(beneficiary),
  };
}

function beneficiaryOf(sent: Static<typeof RequestBeneficiary> | undefined): {
  beneficiary?: Beneficiary;
} {
  if (sent === undefined) return {};
  const { name, kind, institution = null } = sent;
  return { beneficiary: { name, kind, institution } };
}

/** @throws ApiError validation_failed with every failing field */
export function readPayoutRow(json: Json): SentPayoutOrder {
  const body = readRowBody(json, whereToErrors);
  return { ...orderOf(json, body), ...beneficiaryOf(body.beneficiary) };
}

/** @throws ApiError validation_failed with every failing field */
export function readScheduledRow(json: Json): PayoutOrder {
  return orderOf(json, readScheduledRowBody(json, whereToErrors));
}

function releaseOf(release: Static<typeof RequestRelease>): ReleaseRequest {
  const time = (text: string | undefined) => (text === undefined ? null : isoTime(text));
  return {
    at: time(release.at),
    afterPayment: release.after_payment ?? null,
    approvalByKey: release.approval_by_key ?? null,
    ...(release.recipient_ready === true ? { recipientReady: true } : {}),
    expiresAt: time(release.expires_at),
  };
}

/** The same moment in milliseconds and UTC, so that equal times have one hash. */
function isoTime(text: string): string | null {
  const time = parseIsoTime(text, 'from');
  return time === null ? null : new Date(time).toISOString();
}

const CONDITION_FIELDS = ['at', 'after_payment', 'approval_by_key', 'recipient_ready'] as const;

function releaseErrors({ release, recipient }: Json): FieldError[] {
  if (typeof release !== 'object' || release === null || Array.isArray(release)) return [];
  const fields = release as Json;
  if (CONDITION_FIELDS.every((name) => fields[name] === undefined)) {
    const message = `Send release with one of ${CONDITION_FIELDS.map((name) => `release.${name}`).join(', ')}, or omit it.`;
    return [{ field: 'release', rule: 'required', message }];
  }
  if (fields['recipient_ready'] === true && recipient === undefined) {
    const message = 'Send recipient, or omit release.recipient_ready.';
    return [{ field: 'release.recipient_ready', rule: 'unsupported', message }];
  }
  return (['at', 'expires_at'] as const).flatMap((name) => {
    const text = fields[name];
    if (typeof text !== 'string' || text === '' || isoTime(text) !== null) return [];
    const message = sendAs(`release.${name}`, 'A day of the calendar');
    return [{ field: `release.${name}`, rule: 'format' as const, message }];
  });
}

function orderOf(json: Json, body: Static<typeof ScheduledRowBody>): PayoutOrder {
  const { recipient } = body;
  return {
    amount: amount(body.amount),
    currency: body.currency,
    reference: body.reference,
    destination: body.destination === undefined ? null : readDestination(json, body.destination),
    ...(recipient === undefined ? {} : { recipient }),
    network: body.network ?? null,
    provider: body.provider ?? null,
    description: body.description ?? null,
    metadata: body.metadata ?? {},
  };
}

/** A payout goes to a destination or to a recipient. */
function whereToErrors(json: Json): FieldError[] {
  const isGiven = (name: string) => json[name] !== undefined && json[name] !== null;
  if (isGiven('recipient') && isGiven('destination')) {
    const message = 'Send either recipient or destination.';
    return [{ field: 'recipient', rule: 'unsupported', message }];
  }
  if (!isGiven('recipient') && !isGiven('destination')) {
    const what = `${DESTINATION}, or send recipient as the ID of a recipient`;
    const message = sendAs('destination', what);
    return [{ field: 'destination', rule: 'required', message }];
  }
  return destinationErrors(json);
}

/** @param json the body as it was sent, which tells a memo of null from none */
export function readDestination(
  json: Json,
  { type, value, memo }: Static<typeof RequestDestination>,
): PayoutRequest['destination'] {
  return { type, value, memo: readMemo(json, memo ?? '') };
}

/** An empty memo is an empty field of a form, and does not say whether the destination has one. */
export function readMemo({ destination }: Json, memo: string): string | null | undefined {
  if (memo !== '') return memo;
  return (destination as Json)['memo'] === null ? null : undefined;
}

const EMAIL_LENGTH_MAX = 254;

/** E-mail addresses as browsers accept them, and with a dot in the domain. */
const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

const VALUES: Record<DestinationType, { pattern: RegExp; description: string }> = {
  crypto_address: { pattern: /^[^\s\p{C}]+$/u, description: 'A wallet address without spaces' },
  exchange_id: { pattern: /^[0-9]{1,20}$/, description: 'An account ID of 1 to 20 digits' },
  email: { pattern: EMAIL, description: 'An email address, such as "name@example.com"' },
};

/**
 * Checks the value by the destination's type. Whether an address exists on a network (checksum, length)
 * is checked later, when the network is known (decisions/payouts#destinations).
 */
export function destinationErrors({ destination }: Json): FieldError[] {
  const { type, value } = (destination ?? {}) as { type?: unknown; value?: unknown };
  const known = DESTINATION_TYPES.find((name) => name === type);
  if (known === undefined || typeof value !== 'string') return [];
  const field = 'destination.value';
  if (known === 'email' && value.length > EMAIL_LENGTH_MAX) {
    const message = `Shorten ${field} to at most ${EMAIL_LENGTH_MAX} characters.`;
    return [{ field, rule: 'too_long', message }];
  }
  const { pattern, description } = VALUES[known];
  if (pattern.test(value)) return [];
  return [{ field, rule: 'format', message: sendAs(field, description) }];
}

/** The filters of the list, in the API and on the page. */
export const PAYOUT_FILTERS = {
  status: onPages('Status', someOf(PAYOUT_STATUSES)),
  reference: onPages(
    'Reference',
    matching(/^[A-Za-z0-9_-]{1,64}$/, 'Your unique ID: 1 to 64 letters, digits, "_" or "-"'),
  ),
  currency: onPages('Currency', CURRENCY),
  provider: onPages('Provider', PROVIDER),
  batch: matching(/^pb_[0-7][0-9A-HJKMNP-TV-Z]{25}$/, 'The ID of a batch'),
  recipient: matching(/^rcp_[0-7][0-9A-HJKMNP-TV-Z]{25}$/, 'The ID of a recipient'),
  ...CREATED,
};

/** @throws ApiError validation_failed with every failing parameter */
export function readPayoutQuery(query: Query) {
  return readListQuery(PAYOUT_FILTERS, query);
}

const metAt = OrNull(Type.String({ format: 'date-time' }), 'Null: not yet');

const Condition = OneObjectOf(
  [
    Shape(
      { type: Type.Literal('time'), at: Timestamp('The time'), met_at: metAt },
      'Waits for a time',
    ),
    Shape(
      { type: Type.Literal('payment'), payment: Id('payment'), met_at: metAt },
      'Waits until a payment is completed',
    ),
    Shape(
      { type: Type.Literal('approval'), api_key: Id('apiKey'), met_at: metAt },
      'Waits until a key releases the payout',
    ),
    Shape(
      {
        type: Type.Literal('recipient'),
        recipient: Id('recipient'),
        at: Timestamp('The recipient cannot be ready before'),
        met_at: metAt,
      },
      'Waits until the recipient may be paid',
    ),
    Shape(
      { type: Type.Literal('second_person'), met_at: metAt },
      'Waits until another person of your account approves it on the dashboard',
    ),
  ],
  'type',
  'A condition',
);

const Release = Shape(
  {
    conditions: Type.Array(Condition, { description: 'All of them have to be met' }),
    expires_at: OrNull(
      Type.String({ format: 'date-time' }),
      'The payout is cancelled if it was not released by then',
    ),
    released_at: OrNull(Type.String({ format: 'date-time' }), 'Set when it was released'),
    expired_at: OrNull(Type.String({ format: 'date-time' }), 'Set when it was not in time'),
  },
  'What the payout waits for before it is sent; absent if it has no conditions',
);

/** Who receives the money, in an answer. */
export const ShownBeneficiary = Shape(
  {
    name: Type.String({ description: 'The name' }),
    kind: OneOf(BENEFICIARY_KINDS, 'A person or a business'),
    institution: OrNull(Type.String(), 'Null if the request named none'),
  },
  'Who receives the money',
);

/** A payout (decisions/payouts#payout-object). */
export const PayoutObject = Shape(
  {
    id: Id('payout'),
    object: Type.Literal('payout'),
    mode: ModeName,
    status: OneOf(PAYOUT_STATUSES, 'The status'),
    provider: ProviderName,
    reference: Type.String({ description: 'Your unique ID' }),
    amount: AmountText('The amount that the recipient receives'),
    currency: CurrencyCode,
    network: OrNull(Type.String(), 'Null for a transfer within the provider'),
    destination: Shape(
      {
        type: OneOf(DESTINATION_TYPES, 'The type of value'),
        value: Type.String({ description: 'The address, account ID or email address' }),
        memo: OrNull(Type.String({ maxLength: 64 }), 'The memo or destination tag'),
      },
      'The recipient',
    ),
    recipient: Type.Optional(Id('recipient', 'The recipient; absent if the request named none')),
    service_fee: AmountText('Our fee, on top of the amount'),
    network_fee: AmountText('The fee estimated by the provider; zero if it publishes none'),
    total_debit: AmountText('amount + service_fee + network_fee'),
    tx_hash: OrNull(Type.String(), 'Set on completion if the provider supplies one'),
    failure_reason: OrNull(Type.String(), 'Set when the status is failed'),
    rejection_reason: OrNull(Type.String(), 'Set when the status is rejected'),
    description: OrNull(Type.String({ maxLength: 255 }), 'Your description'),
    metadata: Metadata,
    release: Type.Optional(Release),
    beneficiary: Type.Optional(
      OrNull(
        ShownBeneficiary,
        'Null after it was erased. Only where one payout is retrieved with a key that has payouts:write; absent if the payout has none, in lists and in events',
      ),
    ),
    created_at: Timestamp('The time of creation'),
    updated_at: Timestamp('The time of the last status change'),
  },
  'A payout',
);
export type PayoutObject = Static<typeof PayoutObject>;

const TRON_ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

const REQUEST_EXAMPLES = {
  onchain: {
    amount: '10000',
    currency: 'USDT',
    reference: 'invoice-2031',
    network: 'tron',
    destination: { type: 'crypto_address', value: TRON_ADDRESS },
  },
  exchange_account: {
    amount: '250.5',
    currency: 'USDT',
    reference: 'partner-77',
    provider: 'exchange_pay',
    destination: { type: 'exchange_id', value: '123456789' },
    description: 'Partner share, November',
    metadata: { partner: '77' },
  },
  email: {
    amount: '20',
    currency: 'USDC',
    reference: 'refund-1008',
    destination: { type: 'email', value: 'customer@example.com' },
  },
  recipient: {
    amount: '400',
    currency: 'USDT',
    reference: 'payroll-2026-11-001',
    recipient: 'rcp_01M7YESA634WQFACSBWYSTKM76',
  },
  beneficiary: {
    amount: '1500',
    currency: 'USDT',
    reference: 'invoice-2044',
    network: 'tron',
    destination: { type: 'crypto_address', value: TRON_ADDRESS },
    beneficiary: { name: 'Ada Lovelace', kind: 'individual', institution: 'Example Exchange' },
  },
  release: {
    amount: '500',
    currency: 'USDT',
    reference: 'salary-2026-12',
    network: 'tron',
    destination: { type: 'crypto_address', value: TRON_ADDRESS },
    release: {
      at: '2026-12-01T08:00:00Z',
      approval_by_key: 'key_01M7YESA634WQFACSBWYSTKM76',
      expires_at: '2026-12-08T08:00:00Z',
    },
  },
} satisfies Record<string, Static<typeof PayoutBody>>;

/** The payout of the documentation's examples. */
export const PAYOUT_EXAMPLE: PayoutObject = {
  id: 'po_01M7YESA634WQFACSBWYSTKM76',
  object: 'payout',
  mode: 'live',
  status: 'under_review',
  provider: 'onchain_provider',
  reference: 'invoice-2031',
  amount: '10000.00000000',
  currency: 'USDT',
  network: 'tron',
  destination: { type: 'crypto_address', value: TRON_ADDRESS, memo: null },
  service_fee: '100.00000000',
  network_fee: '1.00000000',
  total_debit: '10101.00000000',
  tx_hash: null,
  failure_reason: null,
  rejection_reason: null,
  description: null,
  metadata: {},
  created_at: '2026-11-21T07:05:30.632Z',
  updated_at: '2026-11-21T07:05:30.632Z',
};

/** The operations of /payouts. */
export const PAYOUT_OPERATIONS = operations([
  {
    id: 'createPayout',
    method: 'post',
    path: '/payouts',
    tag: 'Payouts',
    summary: 'Create a payout',
    description:
      'Reserves the amount plus fees immediately. A live payout may need approval by an operator before it is sent to the provider. After a timeout or a 5xx response, retry the request with the same Idempotency-Key.',
    scope: 'payouts:write',
    parameters: [IDEMPOTENCY_KEY],
    body: { schema: PayoutBody, examples: REQUEST_EXAMPLES },
    success: created(PayoutObject, PAYOUT_EXAMPLE),
    errors: [
      ...CREATION_ERRORS,
      'insufficient_balance',
      'destination_not_supported',
      'network_required',
      'limit_exceeded',
      'currency_not_allowed',
      'recipient_required',
      'recipient_not_ready',
    ],
  },
  {
    id: 'listPayouts',
    method: 'get',
    path: '/payouts',
    tag: 'Payouts',
    summary: 'List payouts',
    description: 'Returns payouts, newest first.',
    scope: 'payouts:read',
    parameters: listQueryOf(PAYOUT_FILTERS),
    success: listed(PayoutObject, '/payouts', [PAYOUT_EXAMPLE]),
    errors: ['validation_failed'],
  },
  {
    id: 'getPayout',
    method: 'get',
    path: '/payouts/{id}',
    tag: 'Payouts',
    summary: 'Retrieve a payout',
    description: 'Returns the current state of a payout.',
    scope: 'payouts:read',
    parameters: [idOf('payout')],
    success: shown(PayoutObject, PAYOUT_EXAMPLE),
    errors: ['not_found'],
  },
  {
    id: 'cancelPayout',
    method: 'post',
    path: '/payouts/{id}/cancel',
    tag: 'Payouts',
    summary: 'Cancel a payout',
    description:
      'Cancels a payout that is requested or under_review. The reserved funds are released immediately.',
    scope: 'payouts:write',
    parameters: [idOf('payout')],
    success: shown(PayoutObject, { ...PAYOUT_EXAMPLE, status: 'cancelled' }),
    errors: ['not_found', 'invalid_state', 'service_unavailable'],
  },
  {
    id: 'releasePayout',
    method: 'post',
    path: '/payouts/{id}/release',
    tag: 'Payouts',
    summary: 'Release a payout',
    description:
      'Approves a payout that waits for the API key of this request (release.approval_by_key). The payout is sent when its other conditions are met as well. A repeated call changes nothing.',
    scope: 'payouts:write',
    parameters: [idOf('payout')],
    success: shown(PayoutObject, {
      ...PAYOUT_EXAMPLE,
      status: 'approved',
      release: {
        conditions: [
          {
            type: 'approval',
            api_key: 'key_01M7YESA634WQFACSBWYSTKM76',
            met_at: '2026-11-21T07:09:12.000Z',
          },
        ],
        expires_at: null,
        released_at: '2026-11-21T07:09:12.000Z',
        expired_at: null,
      },
    }),
    errors: ['not_found', 'invalid_state', 'release_not_allowed', 'service_unavailable'],
  },
]);

/** A payout in API responses and webhook events (the specification; decisions/payouts#payout-object). */

export function presentPayout(payout: Payout): PayoutObject {
  return {
    id: payout.id,
    object: 'payout',
    mode: payout.mode,
    status: payout.status,
    provider: payout.provider,
    reference: payout.reference,
    amount: payout.amount,
    currency: payout.currency,
    network: payout.network,
    destination: {
      type: payout.destinationType,
      value: payout.destinationValue,
      memo: payout.destinationMemo,
    },
    ...(payout.recipientId === null ? {} : { recipient: payout.recipientId }),
    service_fee: payout.serviceFee,
    network_fee: payout.networkFee,
    total_debit: payout.totalDebit,
    tx_hash: payout.txHash,
    failure_reason: payout.failureReason,
    rejection_reason: payout.rejectionReason,
    description: payout.description,
    metadata: payout.metadata,
    ...(payout.awaitsRelease === null ? {} : { release: presentRelease(payout) }),
    created_at: payout.createdAt.toISOString(),
    updated_at: payout.updatedAt.toISOString(),
  };
}

/** @param beneficiary null if it was erased; undefined if the payout has none, or the reader may not see it */
export function presentRetrievedPayout(
  payout: Payout,
  beneficiary: Beneficiary | null | undefined,
): PayoutObject {
  return { ...presentPayout(payout), ...(beneficiary === undefined ? {} : { beneficiary }) };
}

type PresentedRelease = NonNullable<PayoutObject['release']>;

function presentRelease(payout: Payout): PresentedRelease {
  return {
    conditions: (payout.conditions ?? []).map(presentCondition),
    expires_at: payout.releaseExpiresAt?.toISOString() ?? null,
    released_at: payout.releasedAt?.toISOString() ?? null,
    expired_at: payout.releaseExpiredAt?.toISOString() ?? null,
  };
}

function presentCondition({
  metAt,
  ...condition
}: Condition): PresentedRelease['conditions'][number] {
  const met_at = metAt === null ? null : new Date(metAt).toISOString();
  switch (condition.kind) {
    case 'time':
      return { type: 'time', ...condition.parameters, met_at };
    case 'payment':
      return { type: 'payment', ...condition.parameters, met_at };
    case 'approval':
      return { type: 'approval', ...condition.parameters, met_at };
    case 'recipient': {
      const { recipient, at } = condition.parameters;
      return { type: 'recipient', recipient, at, met_at };
    }
    case 'second_person':
      return { type: 'second_person', met_at };
  }
}
