/** Several pauses hold one scope. Each has an id, by which it is lifted, and knows its mode and its author. */
export const sql = /* sql */ `
ALTER TABLE payout_pauses
  DROP CONSTRAINT payout_pauses_pkey,
  ADD COLUMN id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null: payouts of both modes.
  ADD COLUMN mode text CHECK (mode IN ('live', 'test')),
  ADD COLUMN created_by text;

-- Until now a scope had one pause at most, so its last author is the author of this one.
UPDATE payout_pauses p SET created_by = (
  SELECT a.actor FROM audit_log a
   WHERE a.action = 'payouts.pause' AND a.object = 'payout_pause'
     AND a.object_id = CASE p.scope WHEN 'global' THEN 'global' ELSE p.target END
   ORDER BY a.id DESC LIMIT 1);

-- The same request again makes no second pause.
ALTER TABLE payout_pauses ADD CONSTRAINT payout_pauses_once
  UNIQUE NULLS NOT DISTINCT (scope, target, mode, reason, created_by);
`;
