/**
 * Events on the wire: as webhooks and in the feed (the specification, "Webhook event envelope";
 * decisions H6, H7, E1 to E3).
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { validationFailed } from '../domain/errors';
import { EVENT_TYPES, SUBSCRIBABLE_EVENTS } from '../domain/events';
import { isId } from '../domain/ids';
import { examplePage, FeedOf, Id, ModeName, OneOf, Shape, Timestamp } from './common';
import { listQueryOf, type Operation } from './operation';
import { PAYMENT_EXAMPLE, PaymentObject } from './payments';
import { PayoutObject } from './payouts';
import { matching, type Query, type QueryParameter, readListQuery, someOf } from './query';

const PingObject = Shape(
  {
    object: Type.Literal('ping'),
    endpoint_id: Id('webhookEndpoint'),
    url: Type.String(),
    events: Type.Array(Type.String()),
  },
  'A test event',
);

export const EventObject = Shape(
  {
    id: Id('event'),
    type: OneOf(EVENT_TYPES, 'The type of event'),
    mode: ModeName,
    created_at: Timestamp('The time of the event'),
    sequence: Type.Integer({ minimum: 1, description: 'The order of the events of one object' }),
    data: Type.Union([PaymentObject, PayoutObject, PingObject]),
  },
  'A webhook event',
);
export type EventObject = Static<typeof EventObject>;

const FILTERS = {
  type: someOf(SUBSCRIBABLE_EVENTS),
  object_id: matching(/^(pay|po)_[0-9A-HJKMNP-TV-Z]{26}$/, 'The ID of a payment or payout'),
};

/** The value of `after` for events from now on. */
export const LATEST = 'latest';

const WAIT_MAX_SECONDS = 25;
const WAIT = /^(1?[0-9]|2[0-5])$/;

const AFTER: QueryParameter<string> = {
  schema: Type.Union([Id('event'), Type.Literal(LATEST)]),
  description: `The ID of the last event that you processed, or "${LATEST}" for events from now on`,
  rule: 'format',
  parse: (text) => (text === LATEST || isId('event', text) ? text : undefined),
};

const WAIT_SECONDS: QueryParameter<number> = {
  schema: Type.Integer({ minimum: 0, maximum: WAIT_MAX_SECONDS, default: 0 }),
  description: 'Seconds to wait for an event if there is none yet',
  expected: `A whole number from 0 to ${WAIT_MAX_SECONDS}`,
  rule: 'format',
  parse: (text) => (WAIT.test(text) ? (Value.Convert(Type.Integer(), text) as number) : undefined),
};

const PARAMETERS = { ...FILTERS, after: AFTER, wait: WAIT_SECONDS };

/** @throws ApiError validation_failed with every failing parameter */
export function readEventQuery(query: Query) {
  const { filters: found, filterTexts, ...page } = readListQuery(PARAMETERS, query);
  const { after, wait = 0, ...filters } = found;
  if (after !== undefined && page.cursor !== undefined) {
    const message = 'Send either cursor or after.';
    throw validationFailed([{ field: 'after', rule: 'unsupported', message }]);
  }
  // A cursor belongs to the filters, and to nothing else of the request.
  const { after: _after, wait: _wait, ...texts } = filterTexts;
  return { ...page, filters, filterTexts: texts, after: after ?? null, waitSeconds: wait };
}

const EXAMPLE: EventObject = {
  id: 'evt_01M7YESA6JGXFEX3057F2JK1YJ',
  type: 'payment.completed',
  mode: 'live',
  created_at: '2026-11-21T07:05:30.633Z',
  sequence: 4,
  data: PAYMENT_EXAMPLE,
};
const CURSOR = 'b2Zmc2V0LWFuZC1zaWduYXR1cmU';

export const EVENT_OPERATIONS: readonly Operation[] = [
  {
    id: 'listEvents',
    method: 'get',
    path: '/events',
    tag: 'Events',
    summary: 'List events',
    description:
      'Returns the events of the last 30 days, oldest first, with the same bodies as webhooks. Save meta.next_cursor after you have processed a page, and continue with it: no event is missed, and none is listed twice. meta.next_cursor is never null, because new events follow; an empty page means that you have read all events so far. With wait, the request stays open until there is an event. Filters must stay the same while you use a cursor.',
    scope: 'events:read',
    parameters: listQueryOf(PARAMETERS),
    success: {
      status: 200,
      schema: FeedOf(EventObject),
      example: exampleFeed([EXAMPLE]),
    },
    errors: ['validation_failed', 'cursor_expired'],
  },
];

function exampleFeed(data: EventObject[]) {
  const { links, meta } = examplePage('/events', data);
  const next = `${meta.path}?limit=${meta.per_page}&cursor=${CURSOR}`;
  return { data, links: { ...links, next }, meta: { ...meta, next_cursor: CURSOR } };
}
