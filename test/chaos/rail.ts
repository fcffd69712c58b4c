/** What sends the payouts of the load and takes its payments. */
import { add, amount, ZERO } from '../../src/domain/money';
import type { Transfer } from '../support/payout/payout-audit';
import { buildPayout } from '../support/merchant/merchant-client';
import { buildPayment } from '../support/payment/payment-steps';
import { control, readBook } from '../support/servers/sandbox';

/** Of all but the payouts that are screened. */
export const MODE = 'test';

export interface Rail {
  currency: string;
  /** The bodies of requests; the same for the same key. */
  payoutOf(key: string): Record<string, unknown>;
  paymentOf(key: string): Record<string, unknown>;
  /** Whether merchants refund payments. */
  refunds: boolean;
  /** Whether there are live payouts too, which are screened. */
  isScreened: boolean;
  /** The customer pays the whole amount. */
  pay(paymentId: string): Promise<void>;
  /** Blocks are replaced; nothing without a chain. */
  reorganize(depth: number): Promise<void>;
  /** What was sent for each payout. */
  readTransfers(): Promise<Transfer[]>;
  /** Payment → how often it was paid for good. */
  readPaid(): Promise<Map<string, number>>;
  /** Payment → the sum that was sent back. */
  readRefunded(): Promise<Map<string, string>>;
  /** What else is wrong when everything has ended. */
  readFaults(): Promise<string[]>;
  stop(): Promise<void>;
}

/** The provider of the sandbox, which keeps a book. */
export function createSimulatedRail(sandboxUrl: string): Rail {
  return {
    currency: 'USDT',
    refunds: true,
    isScreened: true,
    payoutOf: (key) => buildPayout({ reference: `chaos-${key}` }),
    // Where the provider knows who paid, a refund needs no customer.
    paymentOf: (key) => buildPayment({ reference: `chaos-${key}`, provider: 'exchange_pay' }),
    pay: async (id) => {
      const paid = { provider: 'exchange_pay', mode: MODE, client_reference: id };
      const status = await control(sandboxUrl, 'checkouts/pay', { ...paid, amount: '100' });
      if (status !== 200) throw new Error(`the provider answered ${status}`);
    },
    reorganize: () => Promise.resolve(),
    readTransfers: async () => (await readBook(sandboxUrl)).transfers,
    readPaid: async () => {
      const checkouts = await readCheckouts(sandboxUrl);
      return new Map(
        checkouts.map(({ client_reference, transfers }) => [
          client_reference,
          transfers.filter(({ status }) => status === 'confirmed').length,
        ]),
      );
    },
    readRefunded: async () => {
      const checkouts = await readCheckouts(sandboxUrl);
      return new Map(
        checkouts.map(({ client_reference, refunds }) => [
          client_reference,
          refunds.reduce((sum, one) => add(sum, amount(one.amount)), ZERO),
        ]),
      );
    },
    readFaults: () => Promise.resolve([]),
    stop: () => Promise.resolve(),
  };
}

interface Checkout {
  client_reference: string;
  transfers: { status: string }[];
  refunds: { amount: string }[];
}

async function readCheckouts(sandboxUrl: string): Promise<Checkout[]> {
  const response = await fetch(`${sandboxUrl}/sandbox/book`);
  return ((await response.json()) as { checkouts: Checkout[] }).checkouts;
}
