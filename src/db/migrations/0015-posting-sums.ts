/** Sums for statements and charts, so that a page does not add up a month of postings. */
export const sql = /* sql */ `
-- The postings of a balance are numbered without a gap and never change. Piece n is the postings from
-- n * 1000 + 1 to (n + 1) * 1000 (src/db/repositories/statements.ts), summed once, when it is full. The
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
GRANT SELECT, INSERT ON posting_sums TO gateway_worker;
GRANT SELECT ON posting_sums TO gateway_dashboard;
`;
