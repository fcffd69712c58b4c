/**
 * The wallet on a chain with a block each second, in which blocks are replaced. The balances
 * of the receivers tell how often each payout was sent.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, encodeFunctionData, erc20Abi, getAddress, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { PreparedWallet } from '../support/wallet/gateway-wallet';
import { buildPayout } from '../support/merchant/merchant-client';
import { buildPayment } from '../support/payment/payment-steps';
import type { Transfer } from '../support/payout/payout-audit';
import type { Rail } from './rail';

const BLOCK_MS = 1_000;
/** After that many blocks no transaction can be replaced. */
const SURELY_FINAL_BLOCKS = 30;
const ON_CHAIN = { currency: 'USDC', network: 'ethereum' };
const PAID = 100n;

export async function startChainRail({ chain, db, sums }: PreparedWallet): Promise<Rail> {
  const { USDC } = chain.tokens;
  const paidUnits = PAID * 10n ** BigInt(USDC.decimals);
  const payer = privateKeyToAccount(`0x${'5'.repeat(64)}`);
  await chain.setBalance(payer.address, 10n ** 24n);
  await chain.mint(USDC, payer.address, 10n ** 18n);
  await chain.setAutomine(false);

  let blocks = 0;
  /** A replaced block's transactions do not return to the pool by themselves. */
  let customers: { raw: Hex; sinceBlock: number }[] = [];
  const stopping = new AbortController();
  const addBlock = async (): Promise<void> => {
    for (const { raw } of customers) {
      // Most are in a block already.
      await chain.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined);
    }
    await chain.mine();
    blocks += 1;
    customers = customers.filter(({ sinceBlock }) => blocks - sinceBlock < SURELY_FINAL_BLOCKS);
  };
  const mining = (async () => {
    while (!stopping.signal.aborted) {
      await addBlock().catch(() => undefined);
      await sleep(BLOCK_MS);
    }
  })();

  let nonce = 0;
  const sign = (to: Address): Promise<Hex> =>
    payer.signTransaction({
      ...{ to: USDC.address, chainId: chain.chainId, type: 'eip1559', nonce: nonce++ },
      ...{ gas: 100_000n, maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n },
      data: encodeFunctionData({
        ...{ abi: erc20Abi, functionName: 'transfer' },
        args: [to, paidUnits],
      }),
    });
  const received = async (to: Address, units: bigint): Promise<number> =>
    Number(await chain.balanceOf(USDC, to)) / Number(units);

  return {
    currency: ON_CHAIN.currency,
    // The payer has no address for refunds.
    refunds: false,
    isScreened: false,
    payoutOf: (key) =>
      buildPayout({
        ...{ ...ON_CHAIN, reference: `chaos-${key}` },
        destination: { type: 'crypto_address', value: receiverOf(key) },
      }),
    paymentOf: (key) =>
      buildPayment({
        ...{ ...ON_CHAIN, reference: `chaos-${key}`, amount: String(PAID) },
        provider: 'onchain_provider',
      }),
    pay: async (id) => {
      const [row] = await db.query<{ address: Address }>(
        'SELECT address FROM wallet.checkout WHERE client_reference = $1',
        [id],
      );
      if (row === undefined) throw new Error('the wallet has no checkout');
      customers.push({ raw: await sign(row.address), sinceBlock: blocks });
    },
    reorganize: (depth) => chain.reorg(depth),
    readTransfers: async () => {
      const transfers = await db.query<SentTransfer>(
        `SELECT client_reference AS reference, destination AS to, units::text,
                status = 'confirmed' AS "isConfirmed"
           FROM wallet.transfer WHERE purpose = 'payout' AND units IS NOT NULL ORDER BY id`,
      );
      const receivers = [...new Set(transfers.map(({ to }) => to))];
      const totals = receivers.map(async (to) => [to, await chain.balanceOf(USDC, to)] as const);
      return countSends(transfers, new Map(await Promise.all(totals)));
    },
    readPaid: async () => {
      const checkouts = await db.query<{ reference: string; address: Address }>(
        'SELECT client_reference AS reference, address FROM wallet.checkout',
      );
      const paid = await Promise.all(
        checkouts.map(async ({ reference, address }) => {
          const times = await received(address, paidUnits);
          return [reference, times] as const;
        }),
      );
      return new Map(paid);
    },
    readRefunded: () => Promise.resolve(new Map()),
    readFaults: async () =>
      (await sums())
        .filter(({ difference, owed }) => difference !== 0n || owed !== 0n)
        .map(
          ({ asset, difference, owed }) =>
            `the wallet's sums of ${asset} differ by ${difference}, and it owes ${owed}`,
        ),
    stop: async () => {
      stopping.abort();
      await mining;
    },
  };
}

interface SentTransfer {
  reference: string;
  to: Address;
  units: string;
  isConfirmed: boolean;
}

/**
 * How often each payout was sent. The runs of a schedule pay the same receivers, so what a receiver has beyond its
 * confirmed transfers counts for the first of them.
 * @param totals what each receiver has on the chain, in units
 */
export function countSends(
  transfers: readonly SentTransfer[],
  totals: ReadonlyMap<Address, bigint>,
): Transfer[] {
  const beyond = new Map(totals);
  for (const { to, units, isConfirmed } of transfers) {
    if (isConfirmed) beyond.set(to, (beyond.get(to) ?? 0n) - BigInt(units));
  }
  return transfers.map(({ reference, to, units, isConfirmed }) => {
    const more = Number(beyond.get(to) ?? 0n) / Number(units);
    beyond.delete(to);
    const times_sent = (isConfirmed ? 1 : 0) + more;
    return { client_reference: reference, scenario: '', times_sent };
  });
}

/** The same for the same key, and of no other payout. */
function receiverOf(key: string): Address {
  return getAddress(`0x${createHash('sha256').update(key).digest('hex').slice(0, 40)}`);
}
