/** The transaction object (the specification, "Transaction object"; decision M2). */
import type { MerchantTransaction } from '../domain/ledger';

export function presentTransaction(transaction: MerchantTransaction) {
  const { id, mode, type, currency, description, source, entries, postedAt } = transaction;
  return {
    id,
    object: 'transaction',
    mode,
    type,
    currency,
    description,
    source,
    entries: entries.map(({ balance, direction, amount, balanceAfter }) => ({
      balance,
      direction,
      amount,
      balance_after: balanceAfter,
    })),
    posted_at: postedAt.toISOString(),
  };
}
