/** Webhook events on the wire (the specification, "Webhook event envelope"; decisions H6, H7). */
import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from '../domain/events';
import { Id, ModeName, OneOf, Shape, Timestamp } from './common';
import { PaymentObject } from './payments';
import { PayoutObject } from './payouts';

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
