/** Nodes without the state of old blocks: what is final is known from headers and receipts alone. */
import { type Address, type Hex, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { amount } from '../../src/domain/money';
import { createAlarms } from '../../src/rails/wallet/alarms';
import { createChain } from '../../src/rails/wallet/chain/chain';
import type { Log } from '../../src/rails/wallet/config';
import { decideUnknown } from '../../src/rails/wallet/sender/decide-unknown';
import { SumsCheck } from '../../src/rails/wallet/sums';
import { planSweep } from '../../src/rails/wallet/sweep/plan';
import { findOutcome } from '../../src/rails/wallet/sweep/run';
import { waitThroughFaults } from '../support/wait-for';
import { createOperator } from './operator';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { startForgetfulNode } from './forgetful-node';
import type { NodeAnswer, NodeCall, NodeProxy } from '../support/wallet/node-proxy';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  DEPOSIT_ACCOUNT,
  fillFloat,
  testNetwork,
} from '../support/wallet/wallet';
import {
  createDepositsWorld,
  type DepositsWorld,
  entriesOf,
  factsOf,
  openTestCheckout,
  pay,
} from './deposits-world';
import { type PayoutsWorld, startPayoutsWorld } from './payouts-world';

const ETH = 10n ** 18n;

describeWithChain('nodes without old state', () => {
  let chain: TestChain;
  let node: NodeProxy;
  let lie: (call: NodeCall) => NodeAnswer | Promise<NodeAnswer>;

  beforeAll(async () => {
    chain = await startChain();
    await chain.mine(20);
    node = await startForgetfulNode(chain, (call) => lie(call));
  });
  afterAll(async () => {
    await node.stop();
    await chain.stop();
  });
  beforeEach(() => {
    lie = () => undefined;
  });

  describe('a payout', () => {
    let database: WalletDatabase;
    let signer: ReturnType<typeof createTestSigner>;
    let receiver: Address;
    let world: PayoutsWorld;

    beforeEach(async () => {
      signer = createTestSigner();
      receiver = createTestSigner().address;
      database = await createWalletDatabase();
      await fillFloat(chain, signer.address);
      await start();
    });
    afterEach(async () => {
      await world.wallet.stop();
      await chain.setAutomine(true);
      await database.drop();
    });

    const start = async (payouts: Parameters<typeof testNetwork>[1] = {}) => {
      const network = testNetwork(chain, { rpcUrls: [node.url], ...payouts });
      world = await startPayoutsWorld(chain, receiver, { network, signer, database });
    };
    /** The key in another program uses nonce 0. */
    const useElsewhere = async (): Promise<Hex> => {
      await chain.drop('all');
      const raw = await signer.sign({
        ...{ type: 'eip1559', chainId: chain.chainId, nonce: 0, to: receiver, value: 1n },
        ...{ gas: 21_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n },
      });
      return chain.rpc<Hex>('eth_sendRawTransaction', [raw]);
    };

    it('is confirmed by its receipt in a final block', async () => {
      await world.pay('po_1');
      await world.broadcastOf(1);
      expect(await world.find('po_1')).toMatchObject({ status: 'pending' });
      expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
      expect(await world.received()).toBe(5_000_000n);
      await world.noAlarm('outcome_in_doubt');
    });

    it('waits for an operator when somebody else used its nonce, and is then sent once', async () => {
      await chain.setAutomine(false);
      await world.pay('po_1');
      await world.broadcastOf(1);
      const hash = await useElsewhere();
      await chain.mine(3);
      const network = testNetwork(chain, { rpcUrls: [node.url] });
      const operator = createOperator(
        () => network,
        () => world.wallet.db,
      );
      const decide = () =>
        decideUnknown(world.wallet.db, createChain(network), signer.address, {
          ...{ by: 'alice', reason: 'sent by hand', foreign: [hash] },
        });
      await chain.finalize();
      await world.alarm('signer_stopped');
      await operator.cancel();
      await expect(decide()).rejects.toThrow(/before every node/);
      await waitThroughFaults('the unknown transaction', async () => {
        await chain.finalize();
        return (await operator.unknown()).includes(hash);
      });
      await decide();
      await chain.setAutomine(true);
      expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
      expect(await world.received()).toBe(5_000_000n);
    });

    it('waits with an alarm while no node shows what has used its nonce', async () => {
      await world.wallet.stop();
      await start({ payouts: { replaceAfterMs: 500 } });
      await chain.setAutomine(false);
      await world.pay('po_1');
      await world.broadcastOf(1);
      lie = async ({ method, params }) => {
        if (/BySenderAndNonce|txpool/.test(method)) {
          return { error: { code: -32601, message: 'the method does not exist' } };
        }
        if (method !== 'eth_getBlockByNumber' || params[1] !== true) return undefined;
        const block = await chain.rpc<object | null>(method, params);
        return { result: block && { ...block, transactions: [] } };
      };
      await useElsewhere();
      await chain.mine(3);
      await chain.finalize();
      const { detail } = await world.alarm('outcome_in_doubt');
      expect(detail).toMatch(/Nonce 0 .* no node shows by which transaction/);
      expect(await world.find('po_1')).toMatchObject({ status: 'pending' });
      lie = () => undefined;
      await world.alarm('signer_stopped');
    });

    it('waits while its receipt is of a block that the chain does not have', async () => {
      let isLying = true;
      lie = async ({ method, params }) => {
        if (!isLying || method !== 'eth_getTransactionReceipt') return undefined;
        const receipt = await chain.rpc<{ blockHash: Hex } | null>(method, params);
        return { result: receipt && { ...receipt, blockHash: `0x${'1'.repeat(64)}` } };
      };
      await world.pay('po_1');
      await world.broadcastOf(1);
      await chain.finalize();
      await world.alarm('outcome_in_doubt');
      expect(await world.find('po_1')).toMatchObject({ status: 'pending' });
      isLying = false;
      expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
      await world.noAlarm('outcome_in_doubt');
    });
  });

  describe('deposits', () => {
    let world: DepositsWorld;

    beforeAll(async () => {
      lie = () => undefined;
      world = await createDepositsWorld(chain, { rpcUrls: [node.url] });
    });
    afterAll(() => world.close());

    const settle = async (): Promise<void> => {
      await world.follow();
      await chain.finalize();
      await world.follow();
    };
    const openAlarms = async (): Promise<string[]> =>
      (
        await world.db.query<{ kind: string }>(
          'SELECT kind FROM wallet.alarm WHERE cleared_at IS NULL ORDER BY kind',
        )
      ).map(({ kind }) => kind);

    it('coins of contracts are found by balances at the head, and booked when that block is final', async () => {
      const { id, address } = await openTestCheckout(world, { asset: 'ETH', amount: amount('2') });
      await pay(chain, null, address, ETH);
      await chain.call('Forwarder', chain.forwarder, 'forward', [address], { value: ETH });
      await world.follow();
      expect(await entriesOf(world, id)).toEqual(['1. detected']);
      await settle();
      expect(await entriesOf(world, id)).toEqual(['1. final', '1. final']);
      await settle();
      expect(await entriesOf(world, id)).toEqual(['1. final', '1. final']);
      expect(await openAlarms()).toEqual([]);
    });

    it('the sums are compared at a block that was the newest, once it is final', async () => {
      const log: Log = () => undefined;
      const walletChain = createChain(world.network);
      const sums = new SumsCheck(world.db, walletChain, createAlarms(world.db, walletChain, log));
      const compare = async (): Promise<string[]> => {
        await world.follow();
        await sums.check();
        await settle();
        await sums.check();
        return openAlarms();
      };
      const tokens = await openTestCheckout(world);
      const coins = await openTestCheckout(world, { asset: 'ETH', amount: amount('1') });
      await pay(chain, chain.tokens.USDC, tokens.address, 10_000_000n);
      await chain.call('Forwarder', chain.forwarder, 'forward', [coins.address], { value: ETH });
      expect(await compare()).toEqual([]);
      // Nobody looks for coins of contracts at a checkout that is paid in tokens.
      await chain.call('Forwarder', chain.forwarder, 'forward', [tokens.address], { value: 7n });
      expect(await compare()).toEqual(['sums_differ']);
      await chain.setBalance(tokens.address, 0n);
      await chain.mine();
      expect(await compare()).toEqual([]);
    });

    it('a sweep is planned from the newest balances, and its end is known', async () => {
      const { id, address } = await openTestCheckout(world, { asset: 'ETH', amount: amount('1') });
      await pay(chain, null, address, ETH);
      await settle();
      const order = { chain: createChain(world.network), asset: 'ETH', minimum: null };
      const to = createTestSigner().address;
      const plan = await planSweep(world.db, { ...order, to });
      const item = plan.items.find((one) => one.address === address)!;
      const key = DEPOSIT_ACCOUNT.deriveChild(0).deriveChild(item.addressIndex).privateKey;
      const raw = await privateKeyToAccount(toHex(key!)).signTransaction(item.transaction);
      const sweep = { address, nonce: 0, raw };
      expect(await findOutcome(order.chain, sweep)).toBeNull();
      await chain.rpc('eth_sendRawTransaction', [raw]);
      expect(await findOutcome(order.chain, sweep)).toBeNull();
      await settle();
      expect(await findOutcome(order.chain, sweep)).toBe('moved');
      expect(await chain.balanceOf(null, to)).toBe(item.units);
      expect(await entriesOf(world, id)).toEqual(['1. final']);
      expect(await openAlarms()).toEqual([]);
    });

    it('coins that a reorganization takes away again are not booked', async () => {
      const { id, address } = await openTestCheckout(world, { asset: 'ETH', amount: amount('1') });
      await world.follow();
      await chain.call('Forwarder', chain.forwarder, 'forward', [address], { value: ETH });
      await world.follow();
      await chain.reorg(1);
      // Balances are read again at a later block, so that those of the replaced one are still kept.
      await chain.mine();
      await settle();
      expect((await factsOf(world.db, id)).deposits).toEqual([]);
      await settle();
      expect((await factsOf(world.db, id)).deposits).toEqual([]);
      expect(await openAlarms()).toEqual([]);
    });

    it('deposits are confirmed while no balance can be read, and an alarm says so until it can', async () => {
      lie = ({ method }) =>
        method === 'eth_getBalance'
          ? { error: { code: -32000, message: 'historical state is not available' } }
          : undefined;
      const coins = await openTestCheckout(world, { asset: 'ETH', amount: amount('1') });
      const { id, address } = await openTestCheckout(world);
      await pay(chain, null, coins.address, ETH);
      await pay(chain, chain.tokens.USDC, address, 10_000_000n);
      await settle();
      expect(await entriesOf(world, id)).toEqual(['10. final']);
      expect(await entriesOf(world, coins.id)).toEqual(['1. final']);
      expect(await openAlarms()).toEqual(['balances_unreadable']);
      lie = () => undefined;
      await chain.mine();
      await world.follow();
      expect(await openAlarms()).toEqual([]);
    });
  });
});
