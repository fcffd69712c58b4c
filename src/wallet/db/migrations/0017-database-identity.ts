/** Which database the wallet worked on last: a restored one is another. */
export const DATABASE_IDENTITY = `
CREATE TABLE wallet.database_identity (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  identity text NOT NULL
);

GRANT SELECT, INSERT, UPDATE ON wallet.database_identity TO wallet_app;
`;
