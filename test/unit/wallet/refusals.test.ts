/** The words of nodes that refuse a transaction, each with what the wallet reads in it. */
import { meaningOfRefusal } from '../../../src/rails/wallet/chain/broadcast-refusals';

/** From go-ethereum, reth, erigon, nethermind, anvil and Besu. */
const EXAMPLES = {
  known: [
    'already known',
    'AlreadyKnown',
    'existing txn with same hash',
    'Tx: [0x1f2e] already Imported',
    'Known transaction',
    'nonce too low: next nonce 5, tx nonce 4',
    'Nonce too low',
    'OldNonce',
  ],
  fees: [
    'transaction underpriced',
    'replacement transaction underpriced',
    'ReplacementNotAllowed',
    'INTERNAL_ERROR: could not replace existing tx',
    'Tx: [0x1f2e] insufficient gas price to replace existing transaction',
    'max fee per gas less than block base fee: address 0x1f2e, maxFeePerGas: 1, baseFee: 7',
    'transaction gas price below minimum: gas tip cap 0, minimum needed 1',
    'transaction priority fee below minimum required priority fee 1000',
    'fee too low',
    'FeeTooLow, EffectivePriorityFeePerGas too low',
  ],
  wait: [
    'in-flight transaction limit reached for delegated accounts',
    'gapped-nonce tx from delegated accounts',
    'authority already reserved',
    'DelegatorHasPendingTx',
    'NotCurrentNonceForDelegation',
  ],
  coins: [
    'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000',
    'insufficient funds',
    'InsufficientFunds, Balance is zero, cannot pay gas',
    'Upfront cost exceeds account balance',
  ],
} as const;

describe('a refused transaction', () => {
  const cases = Object.entries(EXAMPLES).flatMap(([means, details]) =>
    details.map((detail) => ({ means, detail })),
  );

  test.each(cases)('“$detail” means $means', ({ means, detail }) => {
    expect(meaningOfRefusal(detail)).toBe(means);
  });

  test.each(['gas limit reached', 'sender not an eoa', 'oversized data', 'tx fee exceeds the cap'])(
    '“%s” is for a person',
    (detail) => {
      expect(meaningOfRefusal(detail)).toBeNull();
    },
  );
});
