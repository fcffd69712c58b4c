/**
 * The differences between the providers' statements and the gateway: a query for each kind of case.
 * activities/reconciliation makes the copy of the statements. Each row has the object, the details,
 * and `facts_at`, the time of its newest fact. A fact that an operator has decided since is not
 * noted again; a fact that no decision saw is, however old it is.
 *
 * Work in progress is not a difference. A provider's state counts only if it was read after the
 * gateway wrote its final state. If the gateway may still be working, an hour must pass first.
 */
import { DIFFERENCE_KINDS, type DifferenceKind } from '../../domain/cases';
import { OPEN_PAYMENT_STATUSES } from '../../domain/payment';
import { OPEN_PAYOUT_GROUP, RETURNED_PAYOUT_STATUSES } from '../../domain/payout';
import { sqlList } from '../transaction';

/** Longer than any work in progress takes: the provider is polled every 15 minutes. */
const SETTLED = `now() - interval '1 hour'`;

/** The entries of payouts `p` and payments `p`, of their own provider and mode. */
const ENTRIES_OF_PAYOUT = `provider_entries e
  ON (e.reference, e.kind, e.provider, e.mode) = (p.id, 'payout', p.provider, p.mode)`;
const TRANSFERS_OF_PAYMENT = `provider_entries e
  ON (e.reference, e.kind, e.provider, e.mode) = (p.id, 'payin', p.provider, p.mode)`;

const REFUNDS_OF_PAYMENT = `provider_entries e
  ON (e.reference, e.kind, e.provider, e.mode) = (p.id, 'refund', p.provider, p.mode)`;

const THEIRS = `jsonb_build_object('id', e.id, 'amount', e.amount::text, 'currency', e.currency)`;

/** One of several facts; its time tells whether it is newer than a decision, and is not shown. */
const THEIRS_AT = `${THEIRS} || jsonb_build_object('at', e.changed_at)`;

const DIFFERENCES: Record<DifferenceKind, string> = {
  unknown_transfer: `
      SELECT e.id AS object_id, e.changed_at AS facts_at,
             jsonb_build_object('provider', e.provider, 'mode', e.mode, 'reference', e.reference,
               'amount', e.amount::text, 'currency', e.currency) AS details
        FROM provider_entries e
       WHERE e.kind = 'payout' AND e.state <> 'void' AND NOT EXISTS (
         SELECT FROM payouts p
          WHERE (p.id, p.provider, p.mode) = (e.reference, e.provider, e.mode))`,
  transfer_mismatch: `
      SELECT p.id AS object_id, greatest(e.changed_at, p.updated_at) AS facts_at,
             jsonb_build_object('ours', jsonb_build_object('amount', p.amount::text,
               'currency', p.currency), 'theirs', ${THEIRS}) AS details
        FROM payouts p JOIN ${ENTRIES_OF_PAYOUT}
       WHERE e.state <> 'void' AND (e.amount, e.currency) <> (p.amount, p.currency)`,
  sent_twice: `
      SELECT p.id AS object_id, max(e.changed_at) AS facts_at,
             jsonb_build_object('transfers', jsonb_agg(${THEIRS_AT} ORDER BY e.id)) AS details
        FROM payouts p JOIN ${ENTRIES_OF_PAYOUT}
       WHERE e.state <> 'void' GROUP BY p.id HAVING count(*) > 1`,
  completed_but_not_sent: `
      SELECT p.id AS object_id, greatest(p.updated_at, max(e.changed_at)) AS facts_at,
             jsonb_build_object('ours', p.status, 'theirs',
               coalesce(max(e.state) FILTER (WHERE e.id <> ''), 'not_found')) AS details
        FROM payouts p JOIN ${ENTRIES_OF_PAYOUT}
       WHERE p.status = 'completed' GROUP BY p.id
      HAVING bool_and(e.state <> 'done') AND min(e.read_at) > p.updated_at`,
  sent_after_return_of_funds: `
      SELECT p.id AS object_id, greatest(p.updated_at, max(e.changed_at)) AS facts_at,
             jsonb_build_object('ours', p.status, 'theirs', 'sent') AS details
        FROM payouts p JOIN ${ENTRIES_OF_PAYOUT}
       WHERE p.status IN (${sqlList(RETURNED_PAYOUT_STATUSES)}) AND e.state = 'done'
       GROUP BY p.id`,
  pending_after_return_of_funds: `
      SELECT p.id AS object_id, greatest(p.updated_at, max(e.changed_at)) AS facts_at,
             jsonb_build_object('ours', p.status, 'theirs', 'pending') AS details
        FROM payouts p JOIN ${ENTRIES_OF_PAYOUT}
       WHERE p.status IN (${sqlList(RETURNED_PAYOUT_STATUSES)})
         AND e.state = 'pending' AND e.read_at > p.updated_at
       GROUP BY p.id`,
  sent_but_not_completed: `
      SELECT p.id AS object_id, greatest(p.updated_at, max(e.changed_at)) AS facts_at,
             jsonb_build_object('ours', p.status, 'theirs', 'sent') AS details
        FROM payouts p JOIN ${ENTRIES_OF_PAYOUT}
       WHERE p.status_group = '${OPEN_PAYOUT_GROUP}'
         AND e.state = 'done' AND e.changed_at < ${SETTLED}
       GROUP BY p.id`,
  money_without_payment: `
      SELECT e.reference AS object_id, max(e.changed_at) AS facts_at,
             jsonb_build_object('provider', e.provider, 'mode', e.mode,
               'transfers', jsonb_agg(${THEIRS_AT} ORDER BY e.id)) AS details
        FROM provider_entries e
       WHERE e.kind = 'payin' AND e.state = 'done' AND e.changed_at < ${SETTLED} AND NOT EXISTS (
         SELECT FROM payments p
          WHERE (p.id, p.provider, p.mode) = (e.reference, e.provider, e.mode))
       GROUP BY e.reference, e.provider, e.mode`,
  money_not_credited: `
      WITH checkouts AS (
        SELECT p.id, p.status, max(e.changed_at) AS changed_at, bool_or(e.held) AS held,
               bool_or(e.state = 'pending') AS is_moving,
               sum(e.amount) FILTER (WHERE e.state = 'done') AS received,
               max(e.changed_at) FILTER (WHERE e.state = 'done' AND c.payment_id IS NULL) AS lost_at,
               jsonb_agg(jsonb_build_object('id', e.id, 'amount', e.amount::text, 'at', e.changed_at)
                 ORDER BY e.id)
                 FILTER (WHERE e.state = 'done' AND c.payment_id IS NULL) AS lost
          FROM payments p JOIN ${TRANSFERS_OF_PAYMENT}
          LEFT JOIN payment_credits c
            ON (c.payment_id, c.provider_transfer_id) = (p.id, e.id)
         WHERE p.status NOT IN (${sqlList(OPEN_PAYMENT_STATUSES)})
            OR p.expires_at < ${SETTLED}
         GROUP BY p.id
      )
      SELECT k.id AS object_id, k.lost_at AS facts_at,
             jsonb_build_object('status', k.status, 'transfers', k.lost) AS details
        FROM checkouts k
       WHERE k.lost_at < ${SETTLED} AND NOT k.is_moving AND NOT k.held
         -- Money that was refunded to the customer is not missing.
         AND k.received > (SELECT coalesce(sum(r.amount), 0) FROM provider_entries r
                            WHERE r.reference = k.id AND r.kind = 'refund')`,
  credited_but_not_received: `
      SELECT p.id AS object_id, greatest(max(c.credited_at), max(e.changed_at)) AS facts_at,
             jsonb_build_object('transfers', jsonb_agg(jsonb_build_object('id', e.id,
               'credited', c.amount::text, 'theirs', e.state,
               'at', greatest(c.credited_at, e.changed_at)) ORDER BY e.id)) AS details
        FROM payments p JOIN ${TRANSFERS_OF_PAYMENT}
        JOIN payment_credits c ON (c.payment_id, c.provider_transfer_id) = (p.id, e.id)
       WHERE e.state <> 'done' AND e.read_at > c.credited_at
       GROUP BY p.id`,
  credit_mismatch: `
      SELECT p.id AS object_id, greatest(max(c.credited_at), max(e.changed_at)) AS facts_at,
             jsonb_build_object('transfers', jsonb_agg(jsonb_build_object('id', e.id,
               'credited', jsonb_build_object('amount', c.amount::text, 'currency', p.currency),
               'theirs', jsonb_build_object('amount', e.amount::text, 'currency', e.currency),
               'at', greatest(c.credited_at, e.changed_at))
               ORDER BY e.id)) AS details
        FROM payments p JOIN ${TRANSFERS_OF_PAYMENT}
        JOIN payment_credits c ON (c.payment_id, c.provider_transfer_id) = (p.id, e.id)
       WHERE e.state <> 'void' AND (e.amount, e.currency) <> (c.amount, p.currency)
       GROUP BY p.id`,
  refund_not_recorded: `
      SELECT p.id AS object_id, max(e.changed_at) AS facts_at,
             jsonb_build_object('refunds', jsonb_agg(${THEIRS_AT} ORDER BY e.id)) AS details
        FROM payments p JOIN ${REFUNDS_OF_PAYMENT}
       WHERE e.state = 'done' AND e.changed_at < ${SETTLED}
         -- A refund before the credit never affects the merchant's balance.
         AND p.credited_amount > 0 AND NOT EXISTS (
           SELECT FROM payment_refunds r WHERE (r.payment_id, r.provider_refund_id) = (p.id, e.id))
       GROUP BY p.id`,
  refund_mismatch: `
      SELECT p.id AS object_id, max(e.changed_at) AS facts_at,
             jsonb_build_object('refunds', jsonb_agg(jsonb_build_object('id', e.id,
               'ours', r.amount::text, 'theirs', e.amount::text, 'state', e.state,
               'at', e.changed_at)
               ORDER BY e.id)) AS details
        FROM payments p JOIN ${REFUNDS_OF_PAYMENT}
        JOIN payment_refunds r ON (r.payment_id, r.provider_refund_id) = (p.id, e.id)
       WHERE e.state <> 'done' OR e.amount <> r.amount
       GROUP BY p.id`,
};

/**
 * Returns SQL for rows of kind, object_id and details. A fact that an operator has decided is always
 * omitted, unless it changed at the provider after the decision; the others of its object are not.
 * @param unlessNoted also omits facts that an open case has
 * @param only these kinds; all kinds by default
 */
export function differencesSql({
  unlessNoted,
  only,
}: {
  unlessNoted: boolean;
  only?: readonly DifferenceKind[] | undefined;
}): string {
  const union = (only ?? DIFFERENCE_KINDS)
    .map(
      (kind) =>
        `SELECT '${kind}' AS kind, d.object_id, d.details, d.facts_at FROM (${DIFFERENCES[kind]}) AS d`,
    )
    .join('\nUNION ALL\n');
  const noted = unlessNoted ? 'OR x.resolved_at IS NULL' : '';
  return `
    SELECT found.kind, found.object_id, CASE
             WHEN jsonb_typeof(found.details->'transfers') = 'array'
               THEN jsonb_set(found.details, '{transfers}', fresh.facts)
             WHEN jsonb_typeof(found.details->'refunds') = 'array'
               THEN jsonb_set(found.details, '{refunds}', fresh.facts)
             ELSE found.details END AS details
      FROM (${union}) AS found
     CROSS JOIN LATERAL (
       SELECT jsonb_agg(fact - 'at' ORDER BY place) AS facts
         FROM jsonb_array_elements(case_facts(found.details)) WITH ORDINALITY AS f (fact, place)
        WHERE NOT EXISTS (
          SELECT FROM cases x
           WHERE (x.object_id, x.kind) = (found.object_id, found.kind)
             AND case_facts(x.details) @> jsonb_build_array(fact - 'at')
             AND ((x.resolved_at > coalesce((fact->>'at')::timestamptz, found.facts_at))
                  ${noted}))) AS fresh
     WHERE fresh.facts IS NOT NULL`;
}
