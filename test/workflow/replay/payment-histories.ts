/** The branches of a payment whose histories are kept, and how to make each. */
import { PAYMENT_BRANCHES, runPaymentBranch } from '../../support/payment/payment-branches';
import {
  createPaymentCase,
  payAtProvider,
  whenPaymentRow,
} from '../../support/payment/payment-case';
import { whenDetails } from '../../support/payout/payout-case';
import type { HistoryBranch } from './payout-histories';

const MORE: readonly HistoryBranch[] = [
  {
    name: 'payment-mistyped-signals',
    start: async (world) => {
      const payment = await createPaymentCase(world);
      for (const [name, ...args] of [
        ['refund', 42],
        ['reject'],
        ['realese'],
        ['release'],
      ] as const) {
        await payment.handle.signal(name, ...args);
      }
      await whenDetails(payment, /`realese` was ignored/);
      await payment.handle.cancel();
      await whenDetails(payment, /A cancellation request was ignored/);
      await payAtProvider(world, payment, '100');
      await whenPaymentRow(world, payment, 'completed');
      return payment;
    },
  },
];

export const PAYMENT_HISTORY_BRANCHES: readonly HistoryBranch[] = [
  ...PAYMENT_BRANCHES.map((branch) => ({
    name: branch.name,
    // It waits for the rest, or for an operator.
    staysOpen: branch.expected.status === 'underpaid',
    start: (world: Parameters<HistoryBranch['start']>[0]) => runPaymentBranch(world, branch),
  })),
  ...MORE,
];
