/**
 * Status changes as the database decides them. The programs look first, and another one may be
 * faster: what counts is the condition of the UPDATE.
 */
import {
  endDecision,
  findDecision,
  insertDecision,
} from '../../../src/db/payments/payment-decisions';
import { findPayment, takePaymentStep } from '../../../src/db/payments/payments';
import { beginSubmission } from '../../../src/db/payouts/payout-submissions';
import { findPayout, noteOnPayout, takeTransition } from '../../../src/db/payouts/payouts';
import { endWebhookDelivery } from '../../../src/db/webhooks/webhook-deliveries';
import type { BalanceKey } from '../../../src/db/ledger/ledger';
import {
  PAYMENT_TRANSITIONS,
  type PaymentStatus,
  type PaymentTrigger,
} from '../../../src/domain/payment';
import {
  nextPayoutStatus,
  PAYOUT_STATUSES,
  PAYOUT_TRANSITIONS,
  type PayoutStatus,
  type PayoutTrigger,
} from '../../../src/domain/payout';
import {
  WEBHOOK_DELIVERY_TRANSITIONS,
  type WebhookDeliveryStatus,
} from '../../../src/domain/webhook-delivery';
import { newId } from '../../../src/platform/lib/new-id';
import { openTestDatabase } from '../../support/servers/database';
import {
  buildPayoutMoney,
  insertPayment,
  insertPayout,
  makeAccount,
} from '../../support/merchant/ledger';
import { started } from '../../support/started';

const database = started(() => openTestDatabase({ owner: 2, app: 2 }));
let key: BalanceKey;

beforeAll(async () => {
  key = { accountId: await makeAccount(database.owner), mode: 'test', currency: 'USDT' };
});

async function payoutIn(status: PayoutStatus): Promise<string> {
  const payout = buildPayoutMoney('1');
  await insertPayout(database.owner, key, payout, status);
  return payout.id;
}

const namesOf = <Name extends string>(table: Record<string, Partial<Record<Name, unknown>>>) =>
  [...new Set(Object.values(table).flatMap((edges) => Object.keys(edges)))] as Name[];

test('a payout takes the transitions of the table, and no other', async () => {
  for (const status of PAYOUT_STATUSES) {
    for (const trigger of namesOf<PayoutTrigger>(PAYOUT_TRANSITIONS)) {
      const id = await payoutIn(status);
      const to = nextPayoutStatus(status, trigger);
      const taken = await database.app.transaction((tx) => takeTransition(tx, id, trigger, {}));
      expect([status, trigger, taken?.status]).toEqual([status, trigger, to]);
      expect((await findPayout(database.app, id))?.status).toBe(to ?? status);
    }
  }
});

test('a payout takes no transition whose condition does not hold', async () => {
  const id = await payoutIn('under_review');
  const take = (only: string) =>
    database.app.transaction((tx) => takeTransition(tx, id, 'reject', {}, only));
  expect(await take('submission_started_at IS NOT NULL')).toBeNull();
  expect(await take('submission_started_at IS NULL')).toMatchObject({ status: 'rejected' });
});

test('a note about a payout is for one status', async () => {
  const id = await payoutIn('completed');
  expect(await noteOnPayout(database.app, id, 'processing', { attentionLevel: 2 })).toBeNull();
  expect((await findPayout(database.app, id))?.attentionLevel).toBe(0);
});

test('a submission begins for an approved payout that no pause holds', async () => {
  const [approved, rejected] = [await payoutIn('approved'), await payoutIn('rejected')];
  expect((await beginSubmission(database.app, rejected)).kind).toBe('not_approved');
  await database.owner.query(
    "INSERT INTO payout_pauses (scope, reason) VALUES ('global', 'moved')",
  );
  expect(await beginSubmission(database.app, approved)).toEqual({ kind: 'held', reason: 'moved' });
  await database.owner.query('DELETE FROM payout_pauses');
  expect((await beginSubmission(database.app, approved)).kind).toBe('begun');
});

test('a pause holds the payouts of its mode, and no others', async () => {
  const pause = 'INSERT INTO payout_pauses (scope, mode, reason) VALUES (?, ?, ?)';
  const [first, second] = [await payoutIn('approved'), await payoutIn('approved')];
  await database.owner.query(pause, ['global', 'live', 'keys leaked']);
  expect((await beginSubmission(database.app, first)).kind).toBe('begun');
  await database.owner.query(pause, ['global', 'test', 'sandbox is moved']);
  expect(await beginSubmission(database.app, second)).toEqual({
    kind: 'held',
    reason: 'sandbox is moved',
  });
  await database.owner.query('DELETE FROM payout_pauses');
});

test('a payment takes no step from a status that the table does not have', async () => {
  const statuses = Object.keys(PAYMENT_TRANSITIONS) as PaymentStatus[];
  const edges: Record<
    PaymentStatus,
    Partial<Record<PaymentTrigger, PaymentStatus>>
  > = PAYMENT_TRANSITIONS;
  for (const trigger of namesOf<PaymentTrigger>(PAYMENT_TRANSITIONS)) {
    const before = statuses.find((status) => edges[status][trigger] !== undefined)!;
    for (const status of statuses.filter((one) => edges[one][trigger] === undefined)) {
      const id = await insertPayment(database.owner, key, status);
      // What somebody read before another step was taken.
      const stale = { ...(await findPayment(database.app, id))!, status: before };
      const step = database.app.transaction((tx) => takePaymentStep(tx, stale, trigger, {}));
      await expect(step).rejects.toThrow(`${id} changed from ${before}`);
      expect((await findPayment(database.app, id))?.status).toBe(status);
    }
  }
});

test('a decision about a payment ends once', async () => {
  const paymentId = await insertPayment(database.owner, key, 'on_hold');
  const decision = { id: 'd1', number: 1, kind: 'release', amount: null } as const;
  const by = {
    requestedBy: 'operator',
    decidedBy: 'alice',
    reason: null,
    state: 'pending',
    refusal: null,
  } as const;
  await database.app.transaction((tx) => insertDecision(tx, paymentId, { ...decision, ...by }));
  await endDecision(database.app, paymentId, 'd1', null);
  await endDecision(database.app, paymentId, 'd1', 'too late');
  expect(await findDecision(database.app, paymentId, 'd1')).toMatchObject({
    state: 'accepted',
    refusal: null,
  });
});

test('a delivery ends as the table says, and not twice', async () => {
  const edges: Record<
    WebhookDeliveryStatus,
    Record<string, WebhookDeliveryStatus>
  > = WEBHOOK_DELIVERY_TRANSITIONS;
  for (const status of Object.keys(edges) as WebhookDeliveryStatus[]) {
    for (const trigger of ['succeed', 'exhaust', 'skip', 'abandon'] as const) {
      const id = newId('webhookDelivery');
      await database.owner.query(
        `INSERT INTO webhook_deliveries
                (id, event_id, endpoint_id, status, next_attempt_at, finished_at, check_at)
         VALUES (?, ?, 'we_1', ?, CASE ? WHEN 'pending' THEN now() END,
                 CASE ? WHEN 'pending' THEN NULL ELSE now() END, now())`,
        [id, newId('event'), status, status, status],
      );
      const to = edges[status][trigger];
      const changed = await database.app.transaction((tx) => ({
        isEnded: endWebhookDelivery(tx, id, trigger, null),
      }));
      expect([status, trigger, await changed.isEnded]).toEqual([status, trigger, to !== undefined]);
      const [found] = await database.owner.query(
        'SELECT status FROM webhook_deliveries WHERE id = ?',
        [id],
      );
      expect(found).toEqual({ status: to ?? status });
    }
  }
});
