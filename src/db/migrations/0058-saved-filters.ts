/** The filters of the console's list of payouts that an operator has given a name. */
export const sql = /* sql */ `
CREATE TABLE saved_filters (
  user_id text NOT NULL REFERENCES users,
  name text NOT NULL,
  -- As in the URL of the list.
  query text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, name)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_filters TO gateway_dashboard;
`;
