/** A payout that waits for a payment is not released once that payment was refunded (decisions/payouts#payout-conditions). */
export const sql = /* sql */ `
-- Whether the payment that a payout waits for, or waited for, has not gone back to its customer. The payment is
-- locked, so that its refund and the release of the payout have one order.
CREATE FUNCTION payment_stands(p_payout_id text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  waits_for text;
BEGIN
  SELECT parameters ->> 'payment' INTO waits_for
    FROM payout_conditions WHERE payout_id = p_payout_id AND kind = 'payment';
  IF NOT FOUND THEN RETURN true; END IF;
  PERFORM FROM payments p
    WHERE p.id = waits_for AND p.status <> 'refunded'
      AND (p.credited_amount = 0 OR p.reversed_amount < p.credited_amount) FOR SHARE;
  RETURN FOUND;
END $$;
GRANT EXECUTE ON FUNCTION payment_stands TO gateway_worker;
`;
