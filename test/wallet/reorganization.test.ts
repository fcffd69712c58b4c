/** A reorganization below the final block, and an operator who accepts the chain that the nodes have. */
import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { amount } from '../../src/domain/money';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { acceptChain } from '../../src/rails/wallet/follower/accept-chain';
import { findPlace } from '../../src/rails/wallet/follower/place';
import type { Network } from '../../src/rails/wallet/networks';
import { readSums } from '../../src/rails/wallet/sums';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { startNodeProxy } from '../support/wallet/node-proxy';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import { createTestSigner, fillFloat, testNetwork } from '../support/wallet/wallet';
import {
  createDepositsWorld,
  type DepositsWorld,
  entriesOf,
  factsOf,
  openTestCheckout,
  pay,
} from './deposits-world';
import { type PayoutsWorld, startPayoutsWorld } from './payouts-world';
import { waitThroughFaults } from '../support/wait-for';

const ALICE = { by: 'alice', reason: 'both nodes and an explorer have this chain', resend: false };

describeWithChain('a reorganization below the final block', () => {
  let chain: TestChain;

  beforeAll(async () => {
    chain = await startChain();
  });
  afterAll(() => chain.stop());

  /** Replaces all blocks above this one. */
  const replaceAbove = async (block: number, raws: readonly Hex[] = []): Promise<void> => {
    const depth = (await chain.blockNumber()) - block;
    await chain.reorg(
      depth,
      raws.map((transaction) => ({ transaction, block: 1 })),
    );
  };

  describe.each([
    ['a network', true],
    ['a network that takes no deposits', false],
  ])('of %s: a payout that the gateway was told of', (_name, hasDeposits) => {
    let database: WalletDatabase;
    let signer: ReturnType<typeof createTestSigner>;
    let receiver: Address;
    let network: Network;
    let world: PayoutsWorld;
    /** Newer than where the wallet began. */
    let fork: number;

    beforeEach(async () => {
      signer = createTestSigner();
      receiver = createTestSigner().address;
      database = await createWalletDatabase();
      await fillFloat(chain, signer.address);
      network = testNetwork(chain, { finality: 2 });
      const options = { network, signer, database, hasDeposits };
      world = await startPayoutsWorld(chain, receiver, options);
      await chain.mine(5);
      fork = await chain.blockNumber();
      await waitThroughFaults(
        'the fork',
        async () => ((await findPlace(world.wallet.db, chain.chainId))?.headNumber ?? 0) >= fork,
      );
    });
    afterEach(async () => {
      await world.wallet.stop();
      await chain.setAutomine(true);
      await database.drop();
    });

    const reorganize = async (): Promise<void> => {
      const head = await chain.blockNumber();
      await waitThroughFaults('a final block above the fork', async () => {
        const place = await findPlace(world.wallet.db, chain.chainId);
        return (place?.finalNumber ?? 0) >= head - 2;
      });
      await replaceAbove(fork);
      await chain.mine();
      await world.alarm('reorganization_below_final');
      await waitThroughFaults('the pause', async () => {
        const place = await findPlace(world.wallet.db, chain.chainId);
        return place?.pausedReason ?? undefined;
      });
    };
    const accept = (resend = true) =>
      acceptChain(world.wallet.db, createChain(network), { ...ALICE, resend });
    const states = () =>
      world.wallet.db.query(
        'SELECT nonce, state, freed_at IS NOT NULL AS is_freed FROM wallet.slot ORDER BY nonce',
      );

    it('is broadcast again when the accepted chain does not have it, and arrives once', async () => {
      await world.pay('po_1');
      // In the first block above the fork: empty ones would be the same after the reorganization.
      await world.broadcastOf(1);
      expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
      await reorganize();
      expect(await world.received()).toBe(0n);
      // A person has to see which payouts they are.
      await expect(accept(false)).rejects.toThrow(/1 payouts .* now: po_1\./);
      expect((await findPlace(world.wallet.db, chain.chainId))?.pausedReason).not.toBeNull();
      expect(await accept()).toMatchObject({ fork, reopened: 1, missing: 0, gaps: [] });
      await waitThroughFaults('the payout', async () => (await world.received()) === 5_000_000n);
      await waitThroughFaults('the end of its slot', async () => {
        await chain.finalize();
        return (await world.inFlight()) === 0;
      });
      expect(await world.received()).toBe(5_000_000n);
      expect(await world.attempts()).toHaveLength(1);
      expect(await world.find('po_1')).toMatchObject({ status: 'sent' });
      const callbacks = await world.wallet.db.query('SELECT 1 FROM wallet.callback');
      expect(callbacks).toHaveLength(1);
      const open = 'SELECT kind FROM wallet.alarm WHERE cleared_at IS NULL';
      expect(await world.wallet.db.query(open)).toEqual([]);
      await world.pay('po_2');
      expect(await world.ended('po_2')).toMatchObject({ status: 'sent' });
      expect(await world.received()).toBe(10_000_000n);
    });

    it('is never broadcast again when it had failed: an empty transaction takes its nonce', async () => {
      const setRefusing = (on: boolean) =>
        chain.call('AwkwardReceiver', chain.awkwardReceiver, 'setRefusing', [on]);
      await setRefusing(false);
      fork = await chain.blockNumber();
      await chain.setAutomine(false);
      await world.pay('po_1', { currency: 'ETH', amount: amount('1') }, chain.awkwardReceiver);
      const [first] = await world.broadcastOf(1);
      await chain.drop('all');
      await setRefusing(true);
      await chain.mine();
      await chain.rpc('eth_sendRawTransaction', [first!.raw]);
      expect(await world.ended('po_1')).toMatchObject({ status: 'failed' });
      await world.pay('po_2');
      expect(await world.ended('po_2')).toMatchObject({ status: 'sent' });
      await reorganize();
      await chain.setAutomine(true);
      expect(await accept()).toMatchObject({ reopened: 1, gaps: [] });
      await waitThroughFaults('the end of both slots', async () => {
        await chain.finalize();
        return (await world.inFlight()) === 0;
      });
      expect(await world.received()).toBe(5_000_000n);
      expect(await chain.balanceOf(null, chain.awkwardReceiver)).toBe(0n);
      expect(await states()).toEqual([
        { nonce: '0', state: 'foreign', is_freed: true },
        { nonce: '1', state: 'sent', is_freed: false },
      ]);
      expect(await world.find('po_1')).toMatchObject({ status: 'failed' });
    });
  });

  describe('deposits', () => {
    let world: DepositsWorld;
    const payer = privateKeyToAccount(`0x${'6'.repeat(64)}`);

    beforeAll(async () => {
      await chain.setBalance(payer.address, 10n ** 18n);
      await chain.mint(chain.tokens.USDC, payer.address, 1_000_000_000n);
      await chain.finalize();
      world = await createDepositsWorld(chain);
      await chain.mine(3);
      await world.follow();
    });
    afterAll(() => world.close());

    const alarms = () =>
      world.db.query<{ kind: string; subject: string }>(
        'SELECT kind, subject FROM wallet.alarm WHERE cleared_at IS NULL ORDER BY kind',
      );
    const sign = (nonce: number, to: Address) =>
      payer.signTransaction({
        ...{ chainId: chain.chainId, type: 'eip1559', nonce, to: chain.tokens.USDC.address },
        ...{ gas: 100_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n },
        data: encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transfer',
          args: [to, 10_000_000n],
        }),
      });
    const send = (raw: Hex) => chain.rpc('eth_sendRawTransaction', [raw]);

    it('that were credited stay, those that were not vanish, and what is mined again is credited once', async () => {
      const fork = await chain.blockNumber();
      const checkouts = [
        await openTestCheckout(world, { amount: amount('200') }),
        await openTestCheckout(world, { amount: amount('200') }),
        await openTestCheckout(world, { amount: amount('200') }),
      ] as const;
      const [again, gone, detected] = checkouts;
      const raws = await Promise.all(checkouts.map(({ address }, nonce) => sign(nonce, address)));
      await send(raws[0]!);
      await send(raws[1]!);
      await chain.finalize();
      await world.follow();
      await send(raws[2]!);
      await world.follow();
      expect(await entriesOf(world, gone.id)).toEqual(['10. final']);
      expect(await entriesOf(world, detected.id)).toEqual(['10. detected']);

      await replaceAbove(fork, [raws[0]!]);
      await chain.mine();
      await world.follow();
      expect(await alarms()).toMatchObject([{ kind: 'reorganization_below_final' }]);
      const walletChain = createChain(world.network);
      expect(await acceptChain(world.db, walletChain, ALICE)).toMatchObject({ fork, missing: 2 });
      await world.follow();
      expect(await entriesOf(world, again.id)).toEqual(['10. final']);
      expect(await entriesOf(world, gone.id)).toEqual(['10. final']);
      expect(await entriesOf(world, detected.id)).toEqual(['10. vanished']);
      const [deposit] = (await factsOf(world.db, gone.id)).deposits;
      expect(await alarms()).toEqual([{ kind: 'credited_deposit_gone', subject: deposit!.id }]);

      await send(raws[1]!);
      await send(raws[2]!);
      await world.follow();
      await chain.finalize();
      await world.follow();
      for (const { id } of checkouts) expect(await entriesOf(world, id)).toEqual(['10. final']);
      expect(await alarms()).toEqual([]);
      const sums = (await readSums(world.db, walletChain))!;
      expect(sums.find(({ asset }) => asset === 'USDC')).toMatchObject({
        ...{ received: 30_000_000n, difference: 0n },
      });
    });

    it('are credited on a chain that parts before the wallet began', async () => {
      const fork = await chain.blockNumber();
      // Empty blocks of the same time would be the same blocks after the reorganization.
      await chain.mint(chain.tokens.USDC, payer.address, 1n);
      await chain.finalize();
      await chain.mine(3);
      const young = await createDepositsWorld(chain);
      try {
        // The other database has given out the first addresses of the same key.
        for (let used = 0; used < 5; used += 1) await openTestCheckout(young);
        const { id, address } = await openTestCheckout(young);
        await replaceAbove(fork);
        await chain.mine();
        await young.follow();
        const accepted = await acceptChain(young.db, createChain(young.network), ALICE);
        expect(accepted.missing).toBe(0);
        await pay(chain, chain.tokens.USDC, address, 10_000_000n);
        await chain.finalize();
        await young.follow();
        expect(await entriesOf(young, id)).toEqual(['10. final']);
      } finally {
        await young.close();
      }
    });

    it('are not touched while the chain is not paused, or the nodes do not agree', async () => {
      const walletChain = createChain(world.network);
      await expect(acceptChain(world.db, walletChain, ALICE)).rejects.toThrow('is not paused');
      const fork = await chain.blockNumber();
      // Empty blocks of the same time would be the same blocks after the reorganization.
      await chain.mint(chain.tokens.USDC, payer.address, 1n);
      await chain.finalize();
      await chain.mine(3);
      await world.follow();
      await replaceAbove(fork);
      await world.follow();
      const before = await findPlace(world.db, chain.chainId);
      const other = await startNodeProxy(chain.url, async ({ method, params }) => {
        if (method !== 'eth_getBlockByNumber') return undefined;
        const block = await chain.rpc<{ number: Hex; hash: Hex }>(method, params);
        const hash = Number(block.number) > fork ? `0x${'2'.repeat(64)}` : block.hash;
        return { result: { ...block, hash } };
      });
      try {
        const rpcUrls = [chain.url, other.url];
        const both = createChain({ ...world.network, rpcUrls });
        await expect(acceptChain(world.db, both, ALICE)).rejects.toThrow(/same block/);
        expect(await findPlace(world.db, chain.chainId)).toEqual(before);
      } finally {
        await other.stop();
      }
      const silent = createChain({
        ...{ ...world.network, rpcUrls: [chain.url, 'http://127.0.0.1:9'] },
      });
      await expect(acceptChain(world.db, silent, ALICE)).rejects.toThrow(/does not answer/);
      await acceptChain(world.db, walletChain, ALICE);
      await world.follow();
      expect((await findPlace(world.db, chain.chainId))!.pausedReason).toBeNull();
    });
  });
});
