/** Rows that somebody leaves out of a batch before its approval. */
export const sql = /* sql */ `
-- The numbers of the rows that are no longer part of the manifest. Their funds were returned.
ALTER TABLE payout_batches ADD COLUMN left_out_rows integer[] NOT NULL DEFAULT '{}';

-- The rows that the operator leaves out.
ALTER TABLE payout_batch_decisions ADD COLUMN row_numbers integer[];
ALTER TABLE payout_batch_decisions DROP CONSTRAINT payout_batch_decisions_kind_check;
ALTER TABLE payout_batch_decisions ADD CONSTRAINT payout_batch_decisions_kind_check
  CHECK (kind IN ('approve', 'reject', 'stop', 'leave_out')) NOT VALID;
`;

export const steps = [
  'ALTER TABLE payout_batch_decisions VALIDATE CONSTRAINT payout_batch_decisions_kind_check',
  // The batches that were closed before, which are few.
  `DO $$
BEGIN
  UPDATE payout_batches SET closed_progress = closed_progress || '{"leftOut": 0}'
   WHERE closed_at IS NOT NULL AND closed_progress ->> 'leftOut' IS NULL;
END $$`,
];
