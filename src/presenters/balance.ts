/** The balance object (the specification, "Balance object"); not wrapped in data. */
import type { Mode } from '../domain/mode';
import type { Amount } from '../domain/money';

export function presentBalance(
  mode: Mode,
  balances: readonly { currency: string; available: Amount; reserved: Amount; pending: Amount }[],
) {
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
