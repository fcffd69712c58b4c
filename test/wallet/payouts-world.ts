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

interface OpenAlarm {
  kind: string;
  subject: string;
  detail: string;
}

/** What a test does with the wallet that runs now and reads of it. */
export function payoutsOf(
  world: () => { chain: TestChain; wallet: TestWallet; receiver: Address },
) {
  const query = <T extends object>(sql: string) =>
    world().wallet.db.query<T & Record<string, unknown>>(sql);
  const find = async (reference = 'po_1'): Promise<ProviderTransfer> => {
    const found = await world().wallet.provider.findPayout(reference);
    if (found.kind !== 'found') throw new Error(found.kind);
    return found.transfer;
  };
  /** The oldest first. */
  const attempts = () =>
    query<StoredAttempt>(
      `SELECT hash, raw, signer, nonce, broadcast_at AS "broadcastAt" FROM wallet.attempt
       ORDER BY created_at, nonce`,
    );
  const openAlarms = () =>
    query<OpenAlarm>(
      'SELECT kind, subject, detail FROM wallet.alarm WHERE cleared_at IS NULL ORDER BY kind',
    );
  const findAlarm = async (kind: string) => (await openAlarms()).find((one) => one.kind === kind);
  /** Mines until the outcome is final. */
  const ended = (reference = 'po_1'): Promise<ProviderTransfer> =>
    waitThroughFaults(`the end of ${reference}`, async () => {
      await world().chain.finalize();
      const transfer = await find(reference);
      return transfer.status === 'pending' ? undefined : transfer;
    });
  return {
    ...{ find, attempts, openAlarms, ended },
    /** Submits 5 USDC to the receiver, or what the changes say. */
    pay: async (
      reference: string,
      changes: Partial<PayoutOrder> = {},
      to = world().receiver,
    ): Promise<void> => {
      const order = { ...orderTo(to, reference), ...changes };
      expect(await world().wallet.provider.submitPayout(order)).toMatchObject({ kind: 'accepted' });
    },
    /** Each of them is sent in the end. */
    sent: async (...references: string[]): Promise<void> => {
      for (const reference of references) {
        expect(await ended(reference)).toMatchObject({ status: 'sent' });
      }
    },
    /** Waits until a node has accepted so many. */
    broadcastOf: (count: number): Promise<StoredAttempt[]> =>
      waitThroughFaults(`${String(count)} broadcasts`, async () => {
        const made = (await attempts()).filter(({ broadcastAt }) => broadcastAt !== null);
        return made.length >= count ? made : undefined;
      }),
    /** Transactions that are not final, of all hot wallets. */
    inFlight: async () => (await query("SELECT 1 FROM wallet.slot WHERE state = 'open'")).length,
    alarm: (kind: string) => waitThroughFaults(`the alarm ${kind}`, () => findAlarm(kind)),
    noAlarm: (kind: string) =>
      waitThroughFaults(`the end of the alarm ${kind}`, async () => !(await findAlarm(kind))),
    noAlarms: () =>
      waitThroughFaults('the end of all alarms', async () => (await openAlarms()).length === 0),
    kindsOfAlarms: async () => (await openAlarms()).map(({ kind }) => kind),
    received: (token: keyof TestChain['tokens'] = 'USDC') =>
      world().chain.balanceOf(world().chain.tokens[token], world().receiver),
  };
}

/** Of 5 USDC. */
export function orderTo(address: Address, reference: string): PayoutOrder {
  return {
    ...{ reference, amount: amount('5'), currency: 'USDC', network: 'ethereum' },
    destination: { type: 'crypto_address', value: address, memo: null },
  };
}

export interface PayoutsWorld extends ReturnType<typeof payoutsOf> {
  wallet: TestWallet;
}

export async function startPayoutsWorld(
  chain: TestChain,
  receiver: Address,
  options: { network: Network; signer: Signer; database: WalletDatabase; hasDeposits?: boolean },
): Promise<PayoutsWorld> {
  const { network, ...rest } = options;
  const wallet = await startTestWallet({ networks: [network], ...rest });
  return { wallet, ...payoutsOf(() => ({ chain, wallet, receiver })) };
}

/** So many references of payouts. */
export const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `po_${String(index + 1)}`);
