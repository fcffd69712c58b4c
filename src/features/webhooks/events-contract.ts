/**
 * Events on the wire: as webhooks and in the feed (the specification, "Webhook event envelope";
 * decisions/webhooks#webhook-ping, decisions/webhooks#event-sequence, decisions/webhooks#events-list, decisions/webhooks#events-feed and
 * decisions/webhooks#long-poll).
 */
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { validationFailed } from '../../domain/errors';
import { EVENT_TYPES, type EventType, SUBSCRIBABLE_EVENTS } from '../../domain/events';
import { ID_PREFIXES, isId } from '../../domain/ids';
import {
  Id,
  ModeName,
  ULID_PATTERN,
  OneObjectOf,
  OneOf,
  Shape,
  Timestamp,
} from '../../kit/api/common';
import { idOf, listed, listQueryOf, shown, operations } from '../../kit/api/operation';
import { PAYMENT_EXAMPLE, PaymentObject } from '../payments/payments-contract';
import { PayoutBatchObject } from '../payout-batches/payout-batches-contract';
import { PayoutScheduleObject } from '../payout-schedules/payout-schedules-contract';
import { PayoutObject } from '../payouts/payouts-contract';
import { RecipientObject } from '../recipients/recipients-contract';
import { RefundObject } from '../payments/refunds-contract';
import {
  CREATED,
  matching,
  type Query,
  type QueryParameter,
  readListQuery,
  someOf,
} from '../../kit/api/query';

const PingObject = Shape(
  {
    object: Type.Literal('ping'),
    endpoint_id: Id('webhookEndpoint'),
    url: Type.String(),
    events: Type.Array(Type.String()),
  },
  'A test event',
);

type EventKind = EventType extends `${infer Kind}.${string}` ? Kind : never;

/** What `data` of an event is, by the first word of the event's type. */
const EVENT_DATA: Record<EventKind, TSchema> = {
  payment: PaymentObject,
  payout: PayoutObject,
  payout_batch: PayoutBatchObject,
  payout_schedule: PayoutScheduleObject,
  recipient: RecipientObject,
  refund: RefundObject,
  webhook: PingObject,
};

function envelopeOf<Data extends TSchema>(
  types: readonly EventType[],
  data: Data,
  description: string,
) {
  return Shape(
    {
      id: Id('event'),
      type: OneOf(types, 'The type of event'),
      mode: ModeName,
      created_at: Timestamp('The time of the event'),
      sequence: Type.Integer({ minimum: 1, description: 'The order of the events of one object' }),
      data,
    },
    description,
  );
}

const EventData = OneObjectOf(
  [
    PaymentObject,
    PayoutObject,
    PayoutBatchObject,
    PayoutScheduleObject,
    RecipientObject,
    RefundObject,
    PingObject,
  ],
  'object',
  'The object as it was at the time of the event',
);

/** An event, which is the body of a webhook. */
export const EventObject = envelopeOf(EVENT_TYPES, EventData, 'A webhook event');
export type EventObject = Static<typeof EventObject>;

const kindOf = (type: EventType) => type.slice(0, type.indexOf('.')) as EventKind;

/** The bodies of webhooks, by the first word of their type. */
export const EVENT_BODIES = Object.fromEntries(
  Object.entries(EVENT_DATA).map(([kind, data]) => {
    const types = EVENT_TYPES.filter((type) => kindOf(type) === kind);
    return [kind, envelopeOf(types, data, `An event of a ${kind.replace('_', ' ')}`)];
  }),
) as unknown as Record<EventKind, TSchema>;

/** The body of a webhook of one type. */
export function webhookBodyOf(type: EventType): TSchema {
  return EVENT_BODIES[kindOf(type)];
}

const FILTERS = {
  type: someOf(SUBSCRIBABLE_EVENTS),
  object_id: matching(
    /^(pay|rf|po|pb|ps|rcp)_[0-9A-HJKMNP-TV-Z]{26}$/,
    'The ID of a payment, refund, payout, batch, schedule or recipient',
  ),
};

/** `latest` starts with events from now on, and `oldest` with all events that are kept. */
export const LATEST = 'latest';
/** The value of `after` that starts the feed with the oldest event that is kept. */
export const OLDEST = 'oldest';

const WAIT_MAX_SECONDS = 30;
const WAIT = /^([12]?[0-9]|30)$/;

const AFTER: QueryParameter<string> = {
  schema: Type.String({ pattern: `^(${ID_PREFIXES.event}${ULID_PATTERN}|${LATEST}|${OLDEST})$` }),
  description: `Follows the events from a point on, oldest first: after the event with this ID, "${OLDEST}" for all that are kept, or "${LATEST}" for events from now on`,
  rule: 'format',
  parse: (text) => (text === LATEST || text === OLDEST || isId('event', text) ? text : undefined),
};

const WAIT_SECONDS: QueryParameter<number> = {
  schema: Type.Integer({ minimum: 0, maximum: WAIT_MAX_SECONDS, default: 0 }),
  description:
    'With after, or with a cursor of it: seconds to wait for an event if there is none yet',
  expected: `A whole number from 0 to ${WAIT_MAX_SECONDS}`,
  rule: 'format',
  parse: (text) => (WAIT.test(text) ? (Value.Convert(Type.Integer(), text) as number) : undefined),
};

const PARAMETERS = { ...FILTERS, ...CREATED, after: AFTER, wait: WAIT_SECONDS };

/** @throws ApiError validation_failed with every failing parameter */
export function readEventQuery(query: Query) {
  const { filters: found, filterTexts, ...page } = readListQuery(PARAMETERS, query);
  const { after, wait, createdFrom, createdTo, ...filters } = found;
  if (after !== undefined && page.cursor !== undefined) {
    const message = 'Send either cursor or after.';
    throw validationFailed([{ field: 'after', rule: 'unsupported', message }]);
  }
  // A cursor belongs to the filters, and to nothing else of the request.
  const { after: _after, wait: _wait, ...texts } = filterTexts;
  const times = {
    ...(createdFrom === undefined ? {} : { createdFrom }),
    ...(createdTo === undefined ? {} : { createdTo }),
  };
  return { ...page, filters, times, filterTexts: texts, after, waitSeconds: wait };
}

/**
 * Refuses parameters that belong only to the list or only to the feed. @throws ApiError
 * validation_failed
 */
export function refuseMixed(
  { times, waitSeconds }: Pick<ReturnType<typeof readEventQuery>, 'times' | 'waitSeconds'>,
  isFeed: boolean,
): void {
  const rule = 'unsupported';
  if (!isFeed && waitSeconds !== undefined) {
    const message = 'Send wait together with after, or with a cursor that after led to.';
    throw validationFailed([{ field: 'wait', rule, message }]);
  }
  const [field] = [
    ...(times.createdFrom === undefined ? [] : ['created_from']),
    ...(times.createdTo === undefined ? [] : ['created_to']),
  ];
  if (isFeed && field !== undefined) {
    const message = `Send ${field} without after: the feed continues after an event, not at a time.`;
    throw validationFailed([{ field, rule, message }]);
  }
}

const EXAMPLE: EventObject = {
  id: 'evt_01M7YESA6JGXFEX3057F2JK1YJ',
  type: 'payment.completed',
  mode: 'live',
  created_at: '2026-11-21T07:05:30.633Z',
  sequence: 4,
  data: PAYMENT_EXAMPLE,
};

/** The operations of /events. */
export const EVENT_OPERATIONS = operations([
  {
    id: 'listEvents',
    method: 'get',
    path: '/events',
    tag: 'Events',
    summary: 'List events',
    description:
      'Returns the events of the last 30 days, newest first, with the same bodies as webhooks. With after, it returns the events after that one instead, oldest first and in the order in which they were recorded: continue with the ID of the last event that you processed, or with meta.next_cursor. No event is then missed, and none is listed twice. In this feed meta.next_cursor is never null, because new events follow; an empty page means that you have read all events so far. With wait, the request stays open until there is an event. Filters must stay the same while you use a cursor.',
    scope: 'events:read',
    parameters: listQueryOf(PARAMETERS),
    success: listed(EventObject, '/events', [EXAMPLE]),
    errors: ['validation_failed', 'cursor_expired'],
  },
  {
    id: 'getEvent',
    method: 'get',
    path: '/events/{id}',
    tag: 'Events',
    summary: 'Retrieve an event',
    description:
      'Returns an event of the last 30 days, with the same body as its webhooks. The object in data is as it was at the time of the event.',
    scope: 'events:read',
    parameters: [idOf('event')],
    success: shown(EventObject, EXAMPLE),
    errors: ['not_found', 'cursor_expired'],
  },
]);
