/** What the ledger check has proven (src/db/ledger/ledger-verify.ts), and sums of the postings. */
export const ledgerCheck = /* sql */ `
-- The scheduled check proves what has changed since the last proof (src/db/ledger/ledger-verify.ts). A balance
-- is proven up to a version: its lock is held until the commit, so versions are committed in order.
CREATE TABLE ledger_checkpoints (
  account_id text NOT NULL,
  mode text NOT NULL,
  currency text NOT NULL,
  version bigint NOT NULL,
  available numeric(38,8) NOT NULL,
  reserved numeric(38,8) NOT NULL,
  posted_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, mode, currency)
);
GRANT SELECT ON ledger_checkpoints TO gateway_worker, gateway_admin;
GRANT INSERT, UPDATE ON ledger_checkpoints TO gateway_worker;

-- Payouts and payments that changed since then, once for each change.
CREATE TABLE ledger_changes (
object_id text NOT NULL
)
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
GRANT SELECT ON ledger_changes TO gateway_worker, gateway_admin;
GRANT DELETE ON ledger_changes TO gateway_worker;

-- One row.
CREATE TABLE ledger_proof (
proven_at timestamptz NOT NULL
);
INSERT INTO ledger_proof VALUES (now());
GRANT SELECT ON ledger_proof TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON ledger_proof TO gateway_worker;

-- For triggers: the object is the row, or the payment that the row belongs to.
CREATE FUNCTION note_ledger_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  changed record;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  IF TG_ARGV[0] = 'payment_id' THEN INSERT INTO ledger_changes VALUES (changed.payment_id);
  ELSE INSERT INTO ledger_changes VALUES (changed.id); END IF;
  RETURN NULL;
END $$;

-- What the last check found, for operators who download it: one row. A table of its own, because a
-- running check holds a lock on ledger_proof.
CREATE TABLE ledger_report (
checked_at timestamptz,
 report jsonb
);
INSERT INTO ledger_report VALUES (NULL, NULL);
GRANT SELECT ON ledger_report TO gateway_worker, gateway_dashboard;
GRANT UPDATE ON ledger_report TO gateway_worker;

-- Sums for statements and charts, so that a page does not add up a month of postings. The postings of a
-- balance are numbered without a gap and never change. Piece n is the postings from
-- n * 1000 + 1 to (n + 1) * 1000 (src/db/books/statements.ts), summed once, when it is full. The
-- rows of a piece are written by one statement: it has all of them or none.
CREATE TABLE posting_sums (
  account_id text NOT NULL,
  mode text NOT NULL,
  currency text NOT NULL,
  piece bigint NOT NULL,
  -- In UTC.
  day date NOT NULL,
  type text NOT NULL,
  account text NOT NULL,
  direction text NOT NULL,
  amount numeric(38,8) NOT NULL,
  postings integer NOT NULL,
  PRIMARY KEY (account_id, mode, currency, piece, day, type, account, direction)
);
GRANT SELECT ON posting_sums TO gateway_worker, gateway_dashboard;
GRANT INSERT ON posting_sums TO gateway_worker;
`;
