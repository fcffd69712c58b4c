/**
 * Opens a case for every earlier refund of a provider that was more than the credits had left: from now on the
 * ledger check looks for one (invariant 13).
 */
export const sql = /* sql */ `
INSERT INTO cases (id, kind, object_id, details)
SELECT 'case_01' || upper(left(md5('refund_exceeds_credit' || payment_id), 24)), 'refund_exceeds_credit', payment_id,
       jsonb_build_object('refunds', jsonb_agg(jsonb_build_object(
         'refund', reference, 'amount', amount::text, 'not_covered', (amount - taken - fee)::text)
         ORDER BY created_at, reference))
  FROM payment_refunds WHERE state = 'done' AND taken + fee < amount
 GROUP BY payment_id
ON CONFLICT DO NOTHING;
`;
