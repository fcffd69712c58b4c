/** Balances and the transactions that changed them (the specification; decisions/money#ledger). */
import type { MerchantTransaction } from '../../domain/ledger';
import type { Mode } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { BalanceObject } from './balance-contract';
import type { TransactionObject } from './transactions-contract';

export function presentBalance(
  mode: Mode,
  balances: readonly { currency: string; available: Amount; reserved: Amount; pending: Amount }[],
): BalanceObject {
  return {
    object: 'balance',
    mode,
    balances: balances.map(({ currency, available, reserved, pending }) => ({
      currency,
      available,
      reserved,
      pending,
    })),
  };
}

export function presentTransaction(transaction: MerchantTransaction): TransactionObject {
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
