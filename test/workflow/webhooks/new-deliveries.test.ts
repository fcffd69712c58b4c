/**
 * Who commits an event starts the workflows of its deliveries. No schedule runs here, and no worker
 * takes the deliveries, so nobody else starts them, and each stays as it was started.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import { RETRY_SCHEDULE_MS, SLOW_AFTER_TIMEOUTS } from '../../../src/domain/webhook-delivery';
import { TASK_QUEUES } from '../../../workflows/names';
import { createPaymentCase } from '../../support/payment/payment-case';
import { createPayoutCase, type PayoutCase, whenOver } from '../../support/payout/payout-case';
import { startWorkflowWorld } from '../../support/servers/workflow-world';
import { waitThroughFaults } from '../../support/wait-for';
import { started } from '../../support/started';

const world = started(startWorkflowWorld);

beforeAll(async () => {
  // Two endpoints for each new merchant and mode; attempts at the second time out.
  await world.db.query(
    `CREATE FUNCTION open_endpoints() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       INSERT INTO webhook_endpoints
              (id, account_id, mode, url, secret_sealed, secret_key_id, timeouts_in_a_row)
       SELECT 'we_' || NEW.id || mode || timeouts, NEW.id, mode, 'https://example.com', '', '', timeouts
         FROM unnest(ARRAY['test', 'live']) mode, unnest(ARRAY[0, ${SLOW_AFTER_TIMEOUTS}]) timeouts;
       RETURN NULL;
     END $$`,
  );
  await world.db.query(
    `CREATE TRIGGER open_endpoints AFTER INSERT ON accounts
     FOR EACH ROW EXECUTE FUNCTION open_endpoints()`,
  );
});

interface Inserted {
  id: string;
  type: string;
  endpointId: string;
  isSlow: boolean;
}

async function deliveriesOf({ id }: PayoutCase): Promise<Inserted[]> {
  return world.db.query<Inserted>(
    `SELECT d.id, e.type, d.endpoint_id, p.timeouts_in_a_row > 0 AS is_slow
       FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
       JOIN webhook_endpoints p ON p.id = d.endpoint_id
      WHERE e.object_id = ? ORDER BY e.sequence, is_slow`,
    [id],
  );
}

async function expectStarted(object: PayoutCase, { id, type, endpointId, isSlow }: Inserted) {
  const handle = world.temporal.workflow.getHandle(id);
  const { events } = await waitThroughFaults(`the workflow of ${id}`, () => handle.fetchHistory());
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  expect(defaultPayloadConverter.fromPayload(started!.input!.payloads![0]!)).toEqual({
    deliveryId: id,
    endpointId,
    eventType: type,
    objectId: object.id,
    schedule: RETRY_SCHEDULE_MS,
    firstQueue: isSlow ? TASK_QUEUES.webhooksRetry : TASK_QUEUES.webhooks,
  });
  const { typedSearchAttributes } = await handle.describe();
  const attributes = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
  expect(Object.fromEntries(attributes)).toMatchObject({
    AccountId: object.caller.accountId,
    EndpointId: endpointId,
    Mode: object.caller.mode,
  });
}

/** The types, once for each of both endpoints. */
const twice = (types: readonly string[]) => types.flatMap((type) => [type, type]);

test('of a payout, from its creation to its end', async () => {
  const payout = await createPayoutCase(world);
  await payout.handle.signal('approve', { by: 'alice' });
  expect(await whenOver(payout)).toBe('completed');
  const deliveries = await deliveriesOf(payout);
  const types = ['requested', 'approved', 'processing', 'completed'];
  expect(deliveries.map(({ type }) => type)).toEqual(twice(types.map((type) => `payout.${type}`)));
  for (const delivery of deliveries) await expectStarted(payout, delivery);
});

test('of a payment that is created', async () => {
  const payment = await createPaymentCase(world);
  const deliveries = await deliveriesOf(payment);
  expect(deliveries.map(({ type }) => type)).toEqual(twice(['payment.created']));
  for (const delivery of deliveries) await expectStarted(payment, delivery);
});
