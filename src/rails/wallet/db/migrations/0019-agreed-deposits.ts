/** A deposit is confirmed only after a second node has shown it in the same block. */
export const AGREED_DEPOSITS = `
ALTER TABLE wallet.deposit ADD COLUMN agreed_at timestamptz(3);
UPDATE wallet.deposit SET agreed_at = final_at WHERE state = 'final';
ALTER TABLE wallet.deposit ADD CONSTRAINT deposit_final_agreed
  CHECK (state <> 'final' OR agreed_at IS NOT NULL) NOT VALID;
`;
