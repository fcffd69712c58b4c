/**
 * Creates the object of a claimed request: its row, its first event with the deliveries, and the
 * stored response, in one statement, so that none of them exists without the others.
 */
import type { Model, ModelClass } from 'objection';
import {
  deliveriesOf,
  INSERT_DELIVERIES,
  type InsertedDelivery,
  type EventTx,
  type NewEvent,
  newWebhookDeliveryBindings,
} from './webhooks/events';
import type { Reader } from './transaction';

export type FirstEvent = Omit<NewEvent, 'sequence' | 'createdAt'>;

/**
 * @returns false, and nothing is written, when the reference is already used
 */
export async function insertClaimed(
  tx: EventTx,
  model: ModelClass<Model>,
  object: object,
  event: FirstEvent,
  response: { status: number; body: Buffer },
  send: Reader['prepared'] = (sql, values) => tx.prepared(sql, values),
): Promise<boolean> {
  const row = model.fromJson(object, { skipValidation: true }).$toDatabaseJson();
  const columns = Object.keys(row);
  const inserted = send<{ deliveries: InsertedDelivery[] | null }>(
    `WITH object AS (
       INSERT INTO ${model.tableName} (${columns.join(', ')})
       VALUES (${columns.map(() => '?').join(', ')})
       ON CONFLICT (account_id, mode, reference) DO NOTHING
       RETURNING id, account_id, mode, sequence, created_at
     ), event AS (
       INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, run_id, created_at)
       SELECT ?, account_id, mode, ?, id, sequence, ?, ?, created_at FROM object
       RETURNING id, account_id, mode, type
     ), ${INSERT_DELIVERIES}
     UPDATE idempotency_keys k
        SET state = 'done', request = NULL, completed_at = clock_timestamp(),
            response_status = ?, response_body = ?
       FROM object WHERE k.object_id = object.id
     RETURNING (SELECT json_agg(json_build_object(
                  'id', id, 'endpointId', endpoint_id, 'isSlow', is_slow))
                  FROM chosen WHERE NOT is_full) AS deliveries`,
    [
      ...columns.map((column) => row[column] as string),
      event.id,
      event.type,
      event.body,
      event.runId ?? null,
      ...newWebhookDeliveryBindings(),
      response.status,
      response.body,
    ],
  );
  const found = inserted.then(([one]) => one?.deliveries ?? []);
  tx.deliveries.push(deliveriesOf(event, found));
  return (await inserted).length > 0;
}
