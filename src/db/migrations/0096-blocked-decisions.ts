/** What became of an operator's approval of a payout that the screening blocks (decisions/controls#screening). */
export const sql = /* sql */ `
ALTER TABLE payout_decisions DROP CONSTRAINT payout_decisions_outcome_check;
ALTER TABLE payout_decisions ADD CONSTRAINT payout_decisions_outcome_check
  CHECK (outcome IN ('applied', 'counted', 'already_decided', 'too_late', 'same_operator', 'key_creator',
    'related_operator', 'not_allowed', 'blocked', 'expired')) NOT VALID;
`;
