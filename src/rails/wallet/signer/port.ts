/**
 * What signs the wallet's transactions: a key in an encrypted keystore on this machine, or a
 * signing service. The wallet's other parts know only this port, and never see a key.
 */
import type { Address, Hex, TransactionSerializableEIP1559 } from 'viem';

export interface Signer {
  /** The account that it signs for, with its checksum. */
  readonly address: Address;
  /**
   * Signs exactly this transaction.
   * @returns the raw signed bytes, checked: they hold this transaction, signed by `address`
   * @throws SigningError when no such signature was made; it contains no secrets
   */
  sign(transaction: TransactionSerializableEIP1559): Promise<Hex>;
}

/** The message is safe to log. Signing again is always safe: nothing has been broadcast. */
export class SigningError extends Error {
  override readonly name = 'SigningError';
}
