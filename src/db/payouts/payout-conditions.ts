/**
 * The conditions of payouts (decisions/payouts#payout-conditions). A condition is met by the transaction that
 * holds the payout's lock; the guards of takeTransition look at the conditions that are not.
 */
import type { Owner } from '../../domain/mode';
import { mayCompletePayment, type PaymentStatus } from '../../domain/payment';
import type { Payout } from '../../domain/payout';
import type { Condition, ConditionKind, ReleaseRequest } from '../../domain/payout-condition';
import { Payouts } from '../models';
import { IS_READY } from '../recipients/recipient-readiness';
import { approvedByAnother } from '../approvals/second-person';
import type { Db, Reader, Tx } from '../transaction';

/**
 * SQL over a row c of payout_conditions, for each kind that the database can see for itself. Null means the step
 * that learns of it calls `meetCondition`.
 */
const IS_MET: Record<ConditionKind, string | null> = {
  time: `(c.parameters ->> 'at')::timestamptz <= clock_timestamp()`,
  payment: `EXISTS (SELECT FROM payments p
    WHERE p.id = c.parameters ->> 'payment' AND p.completed_at IS NOT NULL)`,
  approval: `EXISTS (SELECT FROM payout_approvals a
    WHERE a.payout_id = c.payout_id AND a.api_key_id = c.parameters ->> 'api_key')`,
  second_person: approvedByAnother({
    id: 'c.payout_id',
    version: "''",
    account: '(SELECT p.account_id FROM payouts p WHERE p.id = c.payout_id)',
    maker: "c.parameters ->> 'maker'",
  }),
  recipient: `EXISTS (SELECT FROM recipients
    WHERE id = c.parameters ->> 'recipient' AND ${IS_READY} AND recipient_stands(c.payout_id))`,
};

const IS_MET_NOW = `CASE c.kind ${Object.entries(IS_MET)
  .flatMap(([kind, sql]) => (sql === null ? [] : [`WHEN '${kind}' THEN ${sql}`]))
  .join(' ')} ELSE false END`;

/**
 * SQL over a row p of payments: all that was credited has gone back, or is on its way. The function
 * payment_stands asks the same under a lock.
 */
const IS_REFUNDED = `(p.status = 'refunded'
  OR p.credited_amount > 0 AND p.reversed_amount >= p.credited_amount)`;

/** SQL over a row c of payout_conditions: its payment was refunded. */
const IS_OF_REFUNDED = `EXISTS (SELECT FROM payments p
  WHERE p.id = c.parameters ->> 'payment' AND ${IS_REFUNDED})`;

/** SQL over a row c of payout_conditions: the screening has blocked its recipient. */
const IS_OF_BLOCKED = `EXISTS (SELECT FROM recipients
  WHERE id = c.parameters ->> 'recipient' AND screening = 'block')`;

/** SQL over a row of payouts that waits: for a recipient that the screening has blocked. */
export const AWAITS_BLOCKED = `(awaits_release AND EXISTS (SELECT FROM payout_conditions c
  WHERE c.payout_id = payouts.id AND c.kind = 'recipient' AND ${IS_OF_BLOCKED}))`;

/** SQL over a row of payouts: whether its conditions let it go on to the provider. */
export const MAY_BE_RELEASED = `(awaits_release IS NOT TRUE
  OR ((release_expires_at IS NULL OR release_expires_at > clock_timestamp())
      AND NOT EXISTS (SELECT FROM payout_conditions c
                       WHERE c.payout_id = payouts.id AND c.met_at IS NULL)
      AND recipient_stands(payouts.id) AND payment_stands(payouts.id)))`;

/**
 * SQL over a row p of payouts: it waits for a time, or until its end, and that was more than a minute ago. A row of
 * a condition has `looked_at` before its time only until the first look.
 */
export const IS_OVERDUE = `(p.awaits_release AND p.id IN (
  SELECT payout_id FROM payout_conditions
   WHERE kind = 'time' AND met_at IS NULL AND coalesce(looked_at, '-infinity') <= now()
     AND (parameters ->> 'at')::timestamptz < now() - interval '1 minute'
  UNION ALL
  SELECT id FROM payouts WHERE awaits_release AND release_expires_at < now() - interval '1 minute'))`;

/** SQL over a row of payouts: its conditions, which cost nothing when it has none. */
export const CONDITIONS = `CASE WHEN awaits_release IS NOT NULL
  THEN conditions_of_payout(payouts.id) END AS conditions`;

/** SQL over a row c of payout_conditions: the sweep need not look before. Null for all but a time. */
const NOT_BEFORE = `CASE c.kind WHEN 'time' THEN (c.parameters ->> 'at')::timestamptz END`;

/**
 * Inserts the conditions of new payouts with the transaction's next statement; none of a payout that is not
 * there, because its reference was taken.
 */
export function insertConditions(tx: Tx, payouts: readonly Payout[]): void {
  const conditions = payouts.flatMap(({ id, conditions: own }) =>
    (own ?? []).map(({ kind, parameters }) => ({ payout_id: id, kind, parameters })),
  );
  if (conditions.length === 0) return;
  tx.sendWithNext(
    `INSERT INTO payout_conditions (payout_id, kind, parameters, looked_at)
     SELECT p.id, c.kind, c.parameters, ${NOT_BEFORE}
       FROM jsonb_to_recordset(?::jsonb) AS c (payout_id text, kind text, parameters jsonb)
       JOIN payouts p ON p.id = c.payout_id`,
    [JSON.stringify(conditions)],
  );
}

export async function listConditions(db: Reader, payoutId: string): Promise<Condition[]> {
  return db.query<Condition>(
    `SELECT kind, parameters, to_json(met_at) #>> '{}' AS met_at
       FROM payout_conditions WHERE payout_id = ? ORDER BY kind`,
    [payoutId],
  );
}

/** Meets the conditions that the database can see to be met. The caller holds the payout's lock. */
export async function meetConditions(tx: Tx, payoutId: string): Promise<void> {
  await tx.query(
    `UPDATE payout_conditions c SET met_at = clock_timestamp()
      WHERE c.payout_id = ? AND c.met_at IS NULL AND ${IS_MET_NOW}`,
    [payoutId],
  );
}

/** Stores that a key approved the payout. A repeated approval stores nothing. */
export async function insertApproval(
  db: Db,
  payoutId: string,
  apiKeyId: string,
  requestId: string,
): Promise<void> {
  await db.query(
    `INSERT INTO payout_approvals (payout_id, api_key_id, request_id) VALUES (?, ?, ?)
     ON CONFLICT DO NOTHING`,
    [payoutId, apiKeyId, requestId],
  );
}

/**
 * SQL over a row of payments: the payouts that wait for it, which a payment that completes wakes. Null for
 * almost all payments.
 */
export const WAITING_PAYOUTS = `(SELECT array_agg(c.payout_id) FROM payout_conditions c
  WHERE c.kind = 'payment' AND c.met_at IS NULL AND c.parameters ->> 'payment' = payments.id)
  AS waiting_payouts`;

/**
 * A condition that was just looked at is not looked at again for this long. A time is looked at this
 * long after it.
 */
const LOOK_EVERY = "interval '1 minute'";

/**
 * Looks at the conditions that were not looked at for longest, for payouts of which one is met, whose
 * wait is over, or whose recipient has changed or payment was sent back, and whose workflow has not
 * looked: its signal or its timer was lost.
 * @param limit of the conditions, so that the waiting payouts of one account do not keep others from their turn
 */
export async function takePayoutsToRelease(
  db: Db,
  limit: number,
): Promise<{ looked: number; payouts: Payout[] }> {
  const looked = await db.query<{ id: string; isMet: boolean }>(
    `WITH c AS MATERIALIZED (
       UPDATE payout_conditions c SET looked_at =
              CASE WHEN EXISTS (SELECT FROM payouts p WHERE p.id = payout_id AND p.awaits_release)
                   THEN greatest(clock_timestamp(), ${NOT_BEFORE}) ELSE 'infinity' END
        WHERE (payout_id, kind) IN (
          SELECT payout_id, kind FROM payout_conditions
           WHERE (met_at IS NULL OR kind = 'recipient')
             AND coalesce(looked_at, '-infinity') < now() - ${LOOK_EVERY}
           ORDER BY coalesce(looked_at, '-infinity') LIMIT ? FOR UPDATE SKIP LOCKED)
       RETURNING payout_id, kind, parameters, met_at)
     SELECT c.payout_id AS id, payouts.awaits_release AND NOT payouts.awaits_batch
            AND (payouts.release_expires_at <= now()
                 OR c.met_at IS NULL AND ${IS_MET_NOW}
                 OR c.met_at IS NULL AND c.kind = 'payment' AND ${IS_OF_REFUNDED}
                 OR c.kind = 'recipient' AND (NOT recipient_stands(c.payout_id) OR ${IS_OF_BLOCKED}))
            AS is_met
       FROM c JOIN payouts ON payouts.id = c.payout_id`,
    [limit],
  );
  const ids = looked.filter(({ isMet }) => isMet).map(({ id }) => id);
  const payouts = Payouts.query().findByIds(ids);
  return { looked: looked.length, payouts: await db.query<Payout>(payouts.toKnexQuery()) };
}

/** The payouts that wait for a recipient, also those that found it ready. */
export async function findPayoutsAwaiting(
  db: Db,
  recipientId: string,
  limit: number,
): Promise<Payout[]> {
  const found = Payouts.query().whereRaw(
    `awaits_release AND id IN (SELECT payout_id FROM payout_conditions
       WHERE kind = 'recipient' AND parameters ->> 'recipient' = ?) LIMIT ?`,
    [recipientId, limit],
  );
  return db.query<Payout>(found.toKnexQuery());
}

/** What is known of the payment and the key that a request names. */
export interface ConditionFacts {
  now: Date;
  /** Null if the account has none with this id in this mode. */
  payment: { status: PaymentStatus; isRefunded: boolean; mayComplete: boolean } | null;
  /** Whether the account has an active key with this id that may release payouts. */
  hasKey: boolean;
}

export async function readConditionFacts(
  db: Db,
  { accountId, mode }: Owner,
  { afterPayment, approvalByKey }: ReleaseRequest,
): Promise<ConditionFacts> {
  const [found] = await db.query<{
    now: Date;
    status: PaymentStatus | null;
    isCompleted: boolean | null;
    isRefunded: boolean | null;
    hasKey: boolean;
  }>(
    `SELECT clock_timestamp() AS now, p.status, p.completed_at IS NOT NULL AS is_completed,
            ${IS_REFUNDED} AS is_refunded,
            EXISTS (SELECT FROM api_keys k
                     WHERE k.id = q.key AND k.account_id = q.account AND k.mode = q.mode
                       AND k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)
                       AND 'payouts:write' = ANY (k.scopes)) AS has_key
       FROM (VALUES (?, ?, ?, ?)) AS q (account, mode, payment, key)
       LEFT JOIN payments p ON p.id = q.payment AND p.account_id = q.account AND p.mode = q.mode`,
    [accountId, mode, afterPayment, approvalByKey],
  );
  if (found === undefined) throw new Error('the query returned no row');
  const { now, status, isCompleted, hasKey } = found;
  if (status === null) return { now, payment: null, hasKey };
  const isRefunded = found.isRefunded === true;
  const mayComplete = isCompleted === true || mayCompletePayment(status);
  return { now, payment: { status, isRefunded, mayComplete }, hasKey };
}
