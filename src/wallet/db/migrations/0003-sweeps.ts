/** Coins for the network fees of sweeps are sent as transfers, which the gateway is not told of. */
export const SWEEPS = `
ALTER TABLE wallet.transfer DROP CONSTRAINT transfer_purpose_check;
ALTER TABLE wallet.transfer ADD CONSTRAINT transfer_purpose_check
  CHECK (purpose IN ('payout', 'refund', 'funding'));
`;
