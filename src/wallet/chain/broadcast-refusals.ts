/**
 * What a node means when it refuses a signed transaction. JSON-RPC has no codes for it that all nodes
 * share, so the table reads their words.
 */

export type BroadcastRefusal =
  /** The node has it, or has a transaction with this nonce in a block: the receipts will tell. */
  | 'known'
  /** Its fees are too low, for the chain or to replace another one. They are raised by themselves. */
  | 'fees'
  /** The coins of the hot wallet do not cover it. */
  | 'coins';

interface Wording {
  means: BroadcastRefusal;
  words: RegExp;
  /** Whose words they are, and where they are written down. */
  sources: readonly string[];
  examples: readonly string[];
}

const GETH =
  'go-ethereum and reth: core/txpool/errors.go, crates/rpc/rpc-eth-types/src/error/mod.rs';
const GETH_CORE = 'go-ethereum: core/error.go';
const ERIGON = 'erigon: txnprovider/txpool/txpoolcfg/txpoolcfg.go';
const NETHERMIND =
  'nethermind: Nethermind.TxPool/TxPoolErrorMessages.cs; AcceptTxResult.cs before 2026';
const ANVIL = 'anvil: crates/anvil/src/eth/error.rs';

export const BROADCAST_WORDINGS: readonly Wording[] = [
  {
    means: 'known',
    words: /already ?known|already imported|already exists|known transaction|same hash/i,
    sources: [GETH, ERIGON, NETHERMIND, ANVIL, 'Besu: TransactionInvalidReason'],
    examples: [
      'already known',
      'AlreadyKnown',
      'existing txn with same hash',
      'Tx: [0x1f2e] already Imported',
      'Known transaction',
    ],
  },
  {
    means: 'known',
    words: /nonce too low|old ?nonce/i,
    sources: [GETH_CORE, ERIGON, NETHERMIND, ANVIL],
    examples: ['nonce too low: next nonce 5, tx nonce 4', 'Nonce too low', 'OldNonce'],
  },
  {
    means: 'fees',
    words: /underpriced|replacement ?not ?allowed|replace existing (?:tx|transaction)/i,
    sources: [GETH, ERIGON, NETHERMIND, ANVIL],
    examples: [
      'transaction underpriced',
      'replacement transaction underpriced',
      'ReplacementNotAllowed',
      'INTERNAL_ERROR: could not replace existing tx',
      'Tx: [0x1f2e] insufficient gas price to replace existing transaction',
    ],
  },
  {
    means: 'fees',
    words: /fee ?too ?low|less than block base fee|(?:gas price|priority fee) below minimum/i,
    sources: [GETH_CORE, 'go-ethereum: core/txpool/validation.go', GETH, ERIGON, NETHERMIND],
    examples: [
      'max fee per gas less than block base fee: address 0x1f2e, maxFeePerGas: 1, baseFee: 7',
      'transaction gas price below minimum: gas tip cap 0, minimum needed 1',
      'transaction priority fee below minimum required priority fee 1000',
      'fee too low',
      'FeeTooLow, EffectivePriorityFeePerGas too low',
    ],
  },
  {
    means: 'coins',
    words: /insufficient ?(?:funds|balance)|upfront cost exceeds/i,
    sources: [GETH_CORE, ERIGON, NETHERMIND, ANVIL, 'Besu: TransactionInvalidReason'],
    examples: [
      'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000',
      'insufficient funds',
      'InsufficientFunds, Balance is zero, cannot pay gas',
      'Upfront cost exceeds account balance',
    ],
  },
];

/** Null for words that the table does not have. */
export function meaningOfRefusal(detail: string): BroadcastRefusal | null {
  return BROADCAST_WORDINGS.find(({ words }) => words.test(detail))?.means ?? null;
}
