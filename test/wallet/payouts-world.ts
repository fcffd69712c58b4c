/** What tests of payouts share: orders by the gateway's adapter, and questions to the database. */
import type { Address, Hex } from 'viem';
import { amount } from '../../src/domain/money';
import type { PayoutOrder, ProviderTransfer } from '../../src/adapters/providers/port';
import type { Network } from '../../src/rails/wallet/networks';
import type { Signer } from '../../src/rails/wallet/signer/port';
import type { TestChain } from '../support/wallet/chain';
import { type WalletDatabase } from '../support/servers/database';
import { startTestWallet, type TestWallet } from '../support/wallet/wallet';
import { waitThroughFaults } from '../support/wait-for';

interface StoredAttempt {
  hash: Hex;
  raw: Hex;
  signer: string;
  nonce: string;
  broadcastAt: Date | null;
}

export interface PayoutsWorld {
  /** The wallet that runs now. */
  wallet: TestWallet;
  pay: (reference: string, changes?: Partial<PayoutOrder>, to?: Address) => Promise<void>;
  find: (reference: string) => Promise<ProviderTransfer>;
  /** Mines until the outcome is final. */
  ended: (reference: string) => Promise<ProviderTransfer>;
  /** The oldest first. */
  attempts: () => Promise<StoredAttempt[]>;
  /** Waits until a node has accepted so many. */
  broadcastOf: (count: number) => Promise<StoredAttempt[]>;
  /** Transactions that are not final, of all hot wallets. */
  inFlight: () => Promise<number>;
  /** Waits for an open alarm. @returns its subject and detail */
  alarm: (kind: string) => Promise<{ subject: string; detail: string }>;
  noAlarm: (kind: string) => Promise<true>;
  received: () => Promise<bigint>;
}

export async function startPayoutsWorld(
  chain: TestChain,
  receiver: Address,
  options: { network: Network; signer: Signer; database: WalletDatabase; hasDeposits?: boolean },
): Promise<PayoutsWorld> {
  const { network, ...rest } = options;
  const wallet = await startTestWallet({ networks: [network], ...rest });
  const find = async (reference: string): Promise<ProviderTransfer> => {
    const found = await wallet.provider.findPayout(reference);
    if (found.kind !== 'found') throw new Error(found.kind);
    return found.transfer;
  };
  const attempts = () =>
    wallet.db.query<StoredAttempt & Record<string, unknown>>(
      `SELECT hash, raw, signer, nonce, broadcast_at AS "broadcastAt" FROM wallet.attempt
       ORDER BY created_at, nonce`,
    );
  const findAlarm = async (kind: string) => {
    const [open] = await wallet.db.query<{ subject: string; detail: string }>(
      'SELECT subject, detail FROM wallet.alarm WHERE kind = $1 AND cleared_at IS NULL',
      [kind],
    );
    return open;
  };
  return {
    ...{ wallet, find, attempts },
    pay: async (reference, changes = {}, to = receiver) => {
      const result = await wallet.provider.submitPayout({
        ...{ reference, amount: amount('5'), currency: 'USDC', network: 'ethereum' },
        destination: { type: 'crypto_address', value: to, memo: null },
        ...changes,
      });
      expect(result).toMatchObject({ kind: 'accepted' });
    },
    ended: (reference) =>
      waitThroughFaults(`the end of ${reference}`, async () => {
        await chain.finalize();
        const transfer = await find(reference);
        return transfer.status === 'pending' ? undefined : transfer;
      }),
    broadcastOf: (count) =>
      waitThroughFaults(`${String(count)} broadcasts`, async () => {
        const made = (await attempts()).filter(({ broadcastAt }) => broadcastAt !== null);
        return made.length >= count ? made : undefined;
      }),
    inFlight: async () =>
      (await wallet.db.query("SELECT 1 FROM wallet.slot WHERE state = 'open'")).length,
    alarm: (kind) => waitThroughFaults(`the alarm ${kind}`, () => findAlarm(kind)),
    noAlarm: (kind) =>
      waitThroughFaults(
        `the end of the alarm ${kind}`,
        async () => (await findAlarm(kind)) === undefined,
      ),
    received: () => chain.balanceOf(chain.tokens.USDC, receiver),
  };
}
