/** What sends the payouts of the load and takes its payments. */
import type { Transfer } from '../support/payout/payout-audit';
import { buildPayout } from '../support/merchant/merchant-client';
import { buildPayment } from '../support/payment/payment-steps';
import { control, readBook } from '../support/servers/sandbox';

export const MODE = 'test';

export interface Rail {
  currency: string;
  /** The bodies of requests; the same for the same key. */
  payoutOf(key: string): Record<string, unknown>;
  paymentOf(key: string): Record<string, unknown>;
  /** The customer pays the whole amount. */
  pay(paymentId: string): Promise<void>;
  /** Blocks are replaced; nothing without a chain. */
  reorganize(depth: number): Promise<void>;
  /** What was sent for each payout. */
  readTransfers(): Promise<Transfer[]>;
  /** Payment → how often it was paid for good. */
  readPaid(): Promise<Map<string, number>>;
  /** What else is wrong when everything has ended. */
  readFaults(): Promise<string[]>;
  stop(): Promise<void>;
}

/** The provider of the sandbox, which keeps a book. */
export function createSimulatedRail(sandboxUrl: string): Rail {
  return {
    currency: 'USDT',
    payoutOf: (key) => buildPayout({ reference: `chaos-${key}` }),
    paymentOf: (key) => buildPayment({ reference: `chaos-${key}` }),
    pay: async (id) => {
      const paid = { provider: 'onchain_provider', mode: MODE, client_reference: id };
      const status = await control(sandboxUrl, 'checkouts/pay', { ...paid, amount: '100' });
      if (status !== 200) throw new Error(`the provider answered ${status}`);
    },
    reorganize: () => Promise.resolve(),
    readTransfers: async () => (await readBook(sandboxUrl)).transfers,
    readPaid: async () => {
      const response = await fetch(`${sandboxUrl}/sandbox/book`);
      const { checkouts } = (await response.json()) as {
        checkouts: { client_reference: string; transfers: { status: string }[] }[];
      };
      return new Map(
        checkouts.map(({ client_reference, transfers }) => [
          client_reference,
          transfers.filter(({ status }) => status === 'confirmed').length,
        ]),
      );
    },
    readFaults: () => Promise.resolve([]),
    stop: () => Promise.resolve(),
  };
}
