/**
 * What a node means when it refuses a signed transaction. JSON-RPC has no codes for it that all nodes
 * share. viem has the words of go-ethereum; those of others are beside them.
 */
import { FeeCapTooLowError, InsufficientFundsError, NonceTooLowError } from 'viem';

export type BroadcastRefusal =
  /** The node has it, or has a transaction with this nonce in a block: the receipts will tell. */
  | 'known'
  /** Its fees are too low, for the chain or to replace another one. They are raised by themselves. */
  | 'fees'
  /** The coins of the hot wallet do not cover it. */
  | 'coins'
  /** Its pool takes one transaction at a time of an account with a delegation (EIP-7702). */
  | 'wait';

/** Erigon, Nethermind, anvil and Besu. */
const MEANINGS: readonly (readonly [BroadcastRefusal, RegExp])[] = [
  ['known', NonceTooLowError.nodeMessage],
  [
    'known',
    /already ?(?:known|imported|exists)|known transaction|nonce too low|old ?nonce|same hash/i,
  ],
  ['fees', FeeCapTooLowError.nodeMessage],
  ['fees', /underpriced|replacement ?not ?allowed|replace existing (?:tx|transaction)/i],
  ['fees', /fee ?too ?low|(?:gas price|priority fee) below minimum/i],
  ['coins', InsufficientFundsError.nodeMessage],
  ['wait', /in-?flight transaction limit|delegated accounts|authority already reserved/i],
  ['wait', /delegator ?has ?pending|not ?current ?nonce ?for ?delegation/i],
  ['coins', /insufficient ?(?:funds|balance)|upfront cost exceeds/i],
];

/** Null for words that the list does not have. */
export function meaningOfRefusal(detail: string): BroadcastRefusal | null {
  return MEANINGS.find(([, words]) => words.test(detail))?.[0] ?? null;
}
