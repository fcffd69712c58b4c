/** Who paused and resumed what: the row of a pause is deleted when it ends. */
export const DECISIONS = `
CREATE TABLE wallet.decision (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain_id bigint NOT NULL,
  -- As in wallet.pause.
  stops text NOT NULL CHECK (stops IN ('payouts', 'chain')),
  kind text NOT NULL CHECK (kind IN ('pause', 'resume')),
  decided_by text NOT NULL,
  -- Null for a resume.
  reason text,
  decided_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX decision_newest ON wallet.decision (chain_id, stops, id DESC);

-- The wallet's login can neither change nor delete what was decided.
GRANT SELECT, INSERT ON wallet.decision TO wallet_app;
`;
