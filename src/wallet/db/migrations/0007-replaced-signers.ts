/** Whether a hot wallet is the one that sends, or has been replaced. */
export const REPLACED_SIGNERS = `
ALTER TABLE wallet.signer ADD COLUMN replaced_at timestamptz;
`;
