/**
 * Payouts by chance while the wallet is killed and its database goes back to any earlier moment, or to
 * a copy that is behind. The chain and the pool keep what was sent. As the gateway does, the client submits
 * its open orders again after each start, and says which transactions have paid those that have ended. Where
 * the wallet stops, an operator follows the runbook. In the end every order was paid once. TEST_SEED repeats a run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from 'viem';
import { withClient } from '../../src/db/provision';
import { amount } from '../../src/domain/money';
import type { PayoutOrder } from '../../src/adapters/providers/port';
import { ChainUnavailable } from '../../src/rails/wallet/chain/rpc';
import { hasMark } from '../../src/rails/wallet/sender/fingerprint';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { type NodeProxy, startNodeProxy } from '../support/wallet/node-proxy';
import { scaled } from '../support/scale';
import { chooseSeed, createDice } from '../support/seeded-random';
import {
  copyWalletDatabase,
  createWalletDatabase,
  type WalletDatabase,
} from '../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  testSigner,
  type TestWallet,
} from '../support/wallet/wallet';
import { createOperator } from './operator';
import { waitThroughFaults } from '../support/wait-for';

const PAYOUTS = scaled(40, 300);
const BACKUPS_KEPT = 6;
const GWEI = 10n ** 9n;
const KILLED_WITHIN_MS = 120;
/** How often the operator looks before a stop is one that does not end by itself. */
const LOOKS = 10;

// A payout takes about five seconds with the kills and restores beside it.
jest.setTimeout(scaled(900_000, 3_600_000));
/** After so many payouts the run says how far it is. */
const REPORTED_EVERY = 25;

interface Order {
  reference: string;
  to: Address;
  units: bigint;
  /** What the client was told first; it never changes. */
  end: { status: string; txHash: string | null } | null;
}

describeWithChain('payouts by chance on databases that go back', () => {
  const seed = chooseSeed();
  const dice = createDice(seed);
  const signers = Array.from({ length: 1 + dice.roll(3) }, createTestSigner);
  const receivers = Array.from({ length: 4 }, () => createTestSigner().address);
  const orders: Order[] = [];
  const did = {
    hotWallets: signers.length,
    kills: 0,
    restores: 0,
    failovers: 0,
    bumps: 0,
    claims: 0,
    stops: 0,
  };
  let chain: TestChain;
  /** Between the wallet and the node. */
  let line: NodeProxy;
  let wallet: TestWallet | undefined;
  let database: WalletDatabase;
  let backups: WalletDatabase[];

  beforeAll(async () => {
    chain = await startChain();
    line = await startNodeProxy(chain.url);
    for (const { address } of signers) await fillFloat(chain, address);
    await chain.finalize();
    await chain.setAutomine(false);
    database = await createWalletDatabase();
    backups = [];
  });
  afterAll(async () => {
    await wallet?.stop();
    for (const one of [database, ...backups]) await one.drop();
    await line.stop();
    await chain.stop();
  });

  const network = () =>
    testNetwork(chain, {
      rpcUrls: [line.url],
      payouts: {
        signers: signers.map((_, place) => testSigner(place)),
        ...{ replaceAfterMs: 300, resendAfterMs: 300 },
      },
    });
  const start = async (): Promise<void> => {
    wallet = await startTestWallet({
      networks: [network()],
      signer: signers[0]!,
      signers,
      database,
    });
    const registered = () => wallet!.db.query('SELECT 1 FROM wallet.signer');
    await waitThroughFaults(
      'the hot wallets',
      async () => (await registered()).length === signers.length,
    );
    for (const order of orders) if (order.end === null) await submit(order);
  };
  const orderOf = ({ reference, to, units }: Order): PayoutOrder => ({
    reference,
    amount: amount(`${String(units / 1_000_000n)}.${String(units % 1_000_000n).padStart(6, '0')}`),
    currency: 'USDC',
    network: 'ethereum',
    destination: { type: 'crypto_address', value: to, memo: null },
  });
  const submit = async (order: Order): Promise<void> => {
    const result = await wallet!.provider.submitPayout(orderOf(order));
    expect(result).toMatchObject({ kind: 'accepted' });
  };
  /** The client learns what has ended. */
  const read = async (): Promise<void> => {
    for (const order of orders.filter(({ end }) => end === null)) {
      const found = await wallet!.provider.findPayout(order.reference);
      if (found.kind !== 'found' || found.transfer.status === 'pending') continue;
      const { status, txHash } = found.transfer;
      order.end = { status, txHash };
    }
  };
  /**
   * As by SIGKILL, in the middle of whatever it does: from one moment on, nothing of it reaches the node
   * or the database, and what was not committed is gone.
   */
  const kill = async (): Promise<void> => {
    await sleep(dice.roll(KILLED_WITHIN_MS));
    line.answer = () => {
      throw new Error('the process is dead');
    };
    const name = new URL(database.ownerUrl).pathname.slice(1);
    const onServer = (sql: string) =>
      withClient(process.env['TEST_POSTGRES_URL'] ?? '', (client) => client.query(sql));
    await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await onServer(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    await wallet!.stop();
    wallet = undefined;
    await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    line.answer = () => null;
    did.kills += 1;
  };
  const backUp = async (): Promise<void> => {
    await kill();
    backups.push(await copyWalletDatabase(database));
    if (backups.length > BACKUPS_KEPT)
      await backups.splice(dice.roll(backups.length), 1)[0]!.drop();
    await start();
  };
  /** The copy itself is kept, so that the wallet can go back to it again. */
  const restore = async (backup: WalletDatabase | undefined): Promise<void> => {
    if (backup === undefined) return;
    await kill();
    const gone = database;
    database = await copyWalletDatabase(backup);
    await gone.drop();
    // A backup is old, and a standby that takes over is not.
    const isOld = dice.roll(2) === 1;
    if (isOld) {
      await withClient(database.ownerUrl, (client) =>
        client.query(
          "UPDATE wallet.followed_chain SET updated_at = updated_at - interval '1 hour'",
        ),
      );
    }
    did[isOld ? 'restores' : 'failovers'] += 1;
    await start();
  };
  /** An order that has ended is not submitted again: the client says by its hash what has paid it. */
  const claim = async (): Promise<void> => {
    await read();
    const unknown = await wallet!.provider.listUnknownTransactions();
    if (unknown.kind !== 'transactions') return;
    for (const order of orders) {
      const txHash = order.end?.txHash ?? '';
      if (!unknown.hashes.includes(txHash)) continue;
      const { kind } = await wallet!.provider.claimTransaction(orderOf(order), txHash);
      if (kind === 'found') did.claims += 1;
    }
  };
  const operator = createOperator(network, () => wallet!.db);
  /** @returns false when a node did not answer in time, and the command asks to be run again */
  const cancel = async (): Promise<boolean> => {
    try {
      await operator.cancel();
      return true;
    } catch (error) {
      const isSilent = error instanceof ChainUnavailable;
      if (!isSilent && !String(error).includes('run the command again')) throw error;
      return false;
    }
  };
  /** The runbook: wait for what ends by itself, else cancel; then wait for the gateway. */
  const operate = async (): Promise<void> => {
    if (!(await operator.isStopped())) return;
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const stopped = (await operator.look()).filter((one) => one.stopped_reason !== null);
      if (stopped.length === 0) return;
      const isDue = stopped.some(({ explain_to: to }) => to === null) || looks === LOOKS - 1;
      if (isDue && stopped.some(({ is_restoring: isRestoring }) => !isRestoring)) {
        if (!(await cancel())) continue;
        did.stops += 1;
        return;
      }
      await chain.finalize();
      await claim();
      await sleep(100);
    }
  };
  const balanceOfAll = async (): Promise<bigint> => {
    const each = signers.map(({ address }) => chain.balanceOf(chain.tokens.USDC, address));
    return (await Promise.all(each)).reduce((all, one) => all + one, 0n);
  };
  const order = async (): Promise<void> => {
    const units = dice.pick([1_000_000n, 1_000_000n, 2_500_000n, 7_000_001n]);
    const reference = `po_${String(orders.length)}`;
    const one: Order = { reference, to: dice.pick(receivers), units, end: null };
    orders.push(one);
    if (orders.length % REPORTED_EVERY === 0) {
      process.stderr.write(
        `${String(orders.length)} of ${String(PAYOUTS)} payouts, ${JSON.stringify(did)}\n`,
      );
    }
    await submit(one);
  };
  const bump = async (): Promise<void> => {
    await chain.setNextBaseFee(BigInt(20 + dice.roll(30)) * GWEI);
    await chain.mine();
    await sleep(500);
    did.bumps += 1;
  };
  /** What the wallet shows of orders that do not end, and which orders the marks of unknown transactions name. */
  const readOpen = async () => ({
    open: orders.filter(({ end }) => end === null).map(({ reference }) => reference),
    signers: await wallet!.db.query(
      'SELECT address, next_nonce, stopped_reason FROM wallet.signer',
    ),
    unknown: (
      await wallet!.db.query<Record<'signer' | 'nonce' | 'hash' | 'gas' | 'fee', string>>(
        `SELECT signer, nonce, hash, gas, max_fee_per_gas AS fee FROM wallet.found_transaction
         WHERE state = 'open' ORDER BY signer, nonce`,
      )
    ).map(({ signer, nonce, hash, gas, fee }) => ({
      ...{ signer, nonce, hash },
      marks: orders
        .filter(({ reference }) =>
          hasMark({ gas: BigInt(gas), maxFeePerGas: BigInt(fee) }, reference),
        )
        .map(({ reference, end }) => ({ reference, end })),
    })),
    slots: await wallet!.db.query(
      `SELECT signer, nonce, client_reference, is_signed, freed_at FROM wallet.slot
       JOIN wallet.transfer ON transfer.id = transfer_id WHERE state = 'open' ORDER BY signer, nonce`,
    ),
  });
  const actions: (() => Promise<unknown>)[] = [
    order,
    order,
    order,
    order,
    order,
    order,
    () => chain.mine(1 + dice.roll(2)),
    () => chain.mine(1 + dice.roll(2)),
    async () => {
      await chain.finalize();
      await read();
    },
    bump,
    async () => {
      await kill();
      await start();
    },
    backUp,
    backUp,
    () => restore(backups.length === 0 ? undefined : dice.pick(backups)),
    () => restore(backups.at(-1)),
    () => claim(),
    operate,
    operate,
  ];

  test(`each order is paid once (seed ${String(seed)})`, async () => {
    const before = await balanceOfAll();
    await start();
    while (orders.length < PAYOUTS) await dice.pick(actions)();
    await chain.setNextBaseFee(GWEI);
    await waitThroughFaults('the end of all orders', async () => {
      await chain.finalize();
      await claim();
      await operate();
      return orders.every(({ end }) => end !== null);
    }).catch(async (error: unknown) => {
      console.log(JSON.stringify({ ...did, seed, ...(await readOpen()) }, null, 1));
      throw error;
    });
    await chain.finalize();
    console.log(`${String(orders.length)} payouts, ${JSON.stringify(did)}, seed ${String(seed)}`);
    expect(orders.filter(({ end }) => end?.status !== 'sent')).toEqual([]);
    expect(new Set(orders.map(({ end }) => end?.txHash)).size).toBe(orders.length);
    const sum = (some: readonly Order[]): bigint =>
      some.reduce((all, { units }) => all + units, 0n);
    for (const receiver of receivers) {
      const received = await chain.balanceOf(chain.tokens.USDC, receiver);
      expect(received).toBe(sum(orders.filter(({ to }) => to === receiver)));
    }
    expect(before - (await balanceOfAll())).toBe(sum(orders));
  });
});
