/** Nodes that leave things out, each lie by itself: no deposit is missed. */
import type { Address } from 'viem';
import { errorText } from '../../src/platform/lib/command-line';
import { amount } from '../../src/domain/money';
import { listAlarms } from '../../src/rails/wallet/alarm-decisions';
import { createChain, verifyChain } from '../../src/rails/wallet/chain/chain';
import { TRANSFER_TOPIC } from '../../src/rails/wallet/chain/erc20';
import { ensurePlace } from '../../src/rails/wallet/follower/follower';
import { findPlace } from '../../src/rails/wallet/follower/place';
import type { Patience } from '../../src/rails/wallet/follower/progress';
import { rescan } from '../../src/rails/wallet/follower/rescan';
import { Database } from '../../src/rails/wallet/db/database';
import { createWalletDatabase } from '../support/servers/database';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { type NodeProxy, startNodeProxy } from '../support/wallet/node-proxy';
import { testNetwork } from '../support/wallet/wallet';
import {
  createDepositsWorld,
  type DepositsWorld,
  entriesOf,
  openTestCheckout,
  pay,
  when,
} from './deposits-world';

const BLOCKS_TO_CATCH_UP = 70;

describeWithChain('a follower with nodes that lie', () => {
  let chain: TestChain;
  let node: NodeProxy;
  let world: DepositsWorld;

  beforeAll(async () => {
    chain = await startChain();
    await chain.finalize();
  });
  afterAll(() => chain.stop());
  beforeEach(async () => {
    node = await startNodeProxy(chain.url);
  });
  afterEach(async () => {
    await world.close();
    await node.stop();
  });

  const begin = async (rpcUrls: string[]): Promise<void> => {
    world = await createDepositsWorld(chain, { rpcUrls });
  };
  const deposited = (id: string, failures: string[] = []): Promise<true> =>
    when('the deposit', async () => {
      await world.follow().catch((error: unknown) => failures.push(errorText(error)));
      return (await entriesOf(world, id))[0] === '10. final' ? true : null;
    });
  const USDC = () => chain.tokens.USDC;
  const pad = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;

  it.each([['live'], ['in a range']])(
    'credits two deposits of one block although a node leaves the log of one out (%s)',
    async (when) => {
      await begin([node.url]);
      const one = await openTestCheckout(world);
      const other = await openTestCheckout(world);
      let lies = 3;
      node.alter = ({ method }, result) =>
        method === 'eth_getBlockReceipts' && lies-- > 0
          ? withLogs(result, (logs) => logs.slice(0, 1))
          : result;
      await chain.mint(USDC(), chain.forwarder, 20_000_000n);
      const both = [one.address, other.address];
      const split = [USDC().address, both, 10_000_000n];
      await chain.call('Forwarder', chain.forwarder, 'splitToken', split);
      if (when === 'in a range') await chain.mine(BLOCKS_TO_CATCH_UP);
      else await world.follow();
      await chain.finalize();
      await deposited(one.id);
      await deposited(other.id);
    },
  );

  it('reads the receipts one by one where a node has no eth_getBlockReceipts', async () => {
    await begin([node.url]);
    const { id, address } = await openTestCheckout(world);
    node.answer = ({ method }) =>
      method === 'eth_getBlockReceipts'
        ? { error: { code: -32601, message: 'the method does not exist' } }
        : null;
    await pay(chain, USDC(), address, 10_000_000n);
    await world.follow();
    await chain.finalize();
    await deposited(id);
  });

  it('books nothing while receipts do not explain the header, and asks another node', async () => {
    await begin([node.url, chain.url]);
    const { id, address } = await openTestCheckout(world);
    node.alter = ({ method }, result) =>
      method === 'eth_getBlockReceipts' ? withLogs(result, () => []) : result;
    await pay(chain, USDC(), address, 10_000_000n);
    await world.follow();
    expect(await entriesOf(world, id)).toEqual([]);
    await chain.finalize();
    const failures: string[] = [];
    await deposited(id, failures);
    expect(failures[0]).toMatch(/the logs of block \d+ are not those of its header/);
  });

  it('does not believe a node that lacks the last block of a range', async () => {
    const behind = await startNodeProxy(chain.url);
    await begin([node.url, behind.url]);
    try {
      const { id, address } = await openTestCheckout(world);
      const newest = await chain.blockNumber();
      await pay(chain, USDC(), address, 10_000_000n);
      await chain.mine(BLOCKS_TO_CATCH_UP);
      let isLimited = true;
      node.answer = ({ method }) =>
        isLimited && method === 'eth_getBlockReceipts' ? { status: 429 } : null;
      // The balancer in front of the second node has the heads, but not the blocks.
      behind.answer = ({ method, params: [first] }) => {
        if (!isLimited || !/Block/.test(method)) return null;
        return Number(first) > newest ? { result: null } : null;
      };
      for (let round = 0; round < 5; round += 1) await world.follow().catch(() => undefined);
      expect(await entriesOf(world, id)).toEqual([]);
      isLimited = false;
      world.restart();
      await deposited(id);
    } finally {
      await behind.stop();
    }
  });

  describe('what one node alone says is no money:', () => {
    let second: NodeProxy;
    const alarms = async (): Promise<string[]> =>
      (await listAlarms(world.db)).map(({ kind }) => kind);
    const settle = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        await chain.finalize();
        await world.follow().catch(() => undefined);
      }
    };

    beforeEach(async () => {
      second = await startNodeProxy(chain.url);
      world = await createDepositsWorld(
        chain,
        { rpcUrls: [node.url, second.url] },
        { doubtAfterMs: 0 },
      );
    });
    afterEach(() => second.stop());

    /** Adds a transfer of 1,000,000 USDC to the first receipt of each block. */
    const inventLogs = (address: Address, isBloomForged: boolean): void => {
      node.alter = ({ method }, result) => {
        if (method === 'eth_getBlockReceipts') {
          return withLogs(result, (logs, receipt) => [...logs, inventedLog(address, receipt)]);
        }
        if (method === 'eth_getTransactionReceipt' && result !== null) {
          return withLogs([result], (logs, own) => [...logs, inventedLog(address, own)])[0];
        }
        return isBloomForged ? withFullBloom(result) : result;
      };
    };
    const inventedLog = (address: Address, receipt: Receipt): object => ({
      ...{ address: USDC().address, data: `0x${(10n ** 12n).toString(16).padStart(64, '0')}` },
      topics: [TRANSFER_TOPIC, pad(chain.accounts[5]!), pad(address)],
      blockNumber: receipt.blockNumber,
      blockHash: receipt.blockHash,
      transactionHash: receipt.transactionHash,
      logIndex: '0xff',
    });

    it('a log that the bloom filter of the block does not have is not even read', async () => {
      const { id, address } = await openTestCheckout(world);
      inventLogs(address, false);
      await chain.send(chain.accounts[6]!, 1n, chain.accounts[5]);
      await world.follow().catch(() => undefined);
      expect(await entriesOf(world, id)).toEqual([]);
    });

    it('a log with a bloom filter of its own is seen and not credited, and a rescan takes it away', async () => {
      const { id, address } = await openTestCheckout(world);
      const honest = await openTestCheckout(world);
      const from = (await chain.blockNumber()) + 1;
      inventLogs(address, true);
      await pay(chain, USDC(), honest.address, 10_000_000n);
      await world.follow();
      await settle();
      expect(await entriesOf(world, honest.id)).toEqual(['10. final']);
      expect(await entriesOf(world, id)).toContain('1000000. detected');
      expect(await entriesOf(world, id)).not.toContain('1000000. final');
      expect(await alarms()).toContain('deposit_in_doubt');
      node.alter = (_call, result) => result;
      const parts = { db: world.db, chain: createChain(world.network) };
      await rescan(parts, { from, to: null, transaction: null, by: 'alice', reason: 'a liar' });
      const left = (await entriesOf(world, id)).filter((one) => !one.endsWith(' vanished'));
      expect(left).toEqual([]);
      await world.follow();
      expect(await alarms()).toEqual([]);
      expect(await entriesOf(world, honest.id)).toEqual(['10. final']);
    });

    it('another amount for a deposit is not credited, and a rescan stores the right one', async () => {
      const { id, address } = await openTestCheckout(world);
      const from = (await chain.blockNumber()) + 1;
      node.alter = ({ method }, result) => {
        if (!/Receipt/.test(method) || result === null) return result;
        const all = withLogs([result].flat(), (logs) =>
          logs.map((log) => ({ ...log, data: `0x${(10n ** 12n).toString(16).padStart(64, '0')}` })),
        );
        return Array.isArray(result) ? all : all[0];
      };
      await pay(chain, USDC(), address, 10_000_000n);
      await world.follow();
      await settle();
      expect(await entriesOf(world, id)).toEqual(['1000000. detected']);
      node.alter = (_call, result) => result;
      const parts = { db: world.db, chain: createChain(world.network) };
      await rescan(parts, { from, to: null, transaction: null, by: 'alice', reason: 'a liar' });
      await deposited(id);
    });

    it('coins of a transaction', async () => {
      const { id, address } = await openTestCheckout(world, { asset: 'ETH', amount: amount('1') });
      node.alter = (_call, result) => withValues(result, address, 10n ** 18n);
      await chain.send(address, 1n, chain.accounts[5]);
      await world.follow();
      await settle();
      expect(await entriesOf(world, id)).toEqual(['1. detected']);
      expect(await alarms()).toContain('deposit_in_doubt');
    });

    it('coins that only a balance shows', async () => {
      const { id } = await openTestCheckout(world, { asset: 'ETH', amount: amount('1') });
      node.alter = ({ method }, result) =>
        method === 'eth_getBalance' ? '0xde0b6b3a7640000' : result;
      await chain.mine();
      await world.follow();
      await settle();
      expect(await entriesOf(world, id)).toEqual([]);
      expect(await alarms()).toEqual(['balances_unreadable']);
    });

    it('a final block', async () => {
      const { id, address } = await openTestCheckout(world);
      node.answer = async ({ method, params: [tag, isFull] }) => {
        const isSure = tag === 'finalized' || tag === 'safe';
        if (method !== 'eth_getBlockByNumber' || !isSure) return null;
        return { result: await chain.rpc('eth_getBlockByNumber', ['latest', isFull]) };
      };
      await pay(chain, USDC(), address, 10_000_000n);
      await world.follow();
      expect(await entriesOf(world, id)).toEqual(['10. detected']);
      await chain.finalize();
      await deposited(id);
    });

    it('a deposit is credited when the second node has it, and not before', async () => {
      const { id, address } = await openTestCheckout(world);
      second.answer = ({ method }) =>
        method === 'eth_getTransactionReceipt' ? { status: 503 } : null;
      await pay(chain, USDC(), address, 10_000_000n);
      await world.follow();
      await settle();
      expect(await entriesOf(world, id)).toEqual(['10. detected']);
      second.answer = () => null;
      world.restart();
      await deposited(id);
      expect(await alarms()).toEqual([]);
    });
  });

  describe('raises an alarm while no block is read, which ends with the next one', () => {
    const STALLED_AFTER_MS = 400;
    const patience: Patience = { stalledAfterMs: STALLED_AFTER_MS };
    const openAlarms = async (): Promise<{ kind: string; detail: string }[]> =>
      (await listAlarms(world.db)).map(({ kind, detail }) => ({ kind, detail }));
    const stalled = () =>
      when('the alarm', async () => {
        await world.follow().catch(() => undefined);
        return (await openAlarms()).find(({ kind }) => kind === 'follower_stalled') ?? null;
      });

    beforeEach(async () => {
      world = await createDepositsWorld(chain, { rpcUrls: [node.url] }, patience);
      await openTestCheckout(world);
    });

    it('because the blocks cannot be read', async () => {
      node.answer = ({ method }) => (method === 'eth_getBlockReceipts' ? { status: 429 } : null);
      await chain.mine();
      const head = await chain.blockNumber();
      const { detail } = await stalled();
      expect(detail).toMatch(
        new RegExp(`was at block ${head - 1}: the newest block of a node is ${head}.*status 429`),
      );
      node.answer = () => null;
      await world.follow();
      expect(await openAlarms()).toEqual([]);
    });

    it('because no node tells its newest block', async () => {
      node.answer = () => ({ status: 503 });
      expect((await stalled()).detail).toMatch(/no node tells its newest block/);
      node.answer = () => null;
      await world.follow();
      expect(await openAlarms()).toEqual([]);
    });

    it('but not while the chain has no new blocks', async () => {
      await world.follow();
      patience.unfinalAfterMs = STALLED_AFTER_MS;
      world.restart();
      await world.follow();
      await new Promise((resolve) => setTimeout(resolve, 2 * STALLED_AFTER_MS));
      await world.follow();
      expect(await openAlarms()).toEqual([]);
    });
  });

  it.each([
    ['refuses to tell one', { error: { code: -39001, message: 'finalized block not found' } }],
    ['tells the same one for ever', null],
  ])('raises an alarm while no block becomes final: a node %s', async (_what, refusal) => {
    const frozen = await chain.rpc('eth_getBlockByNumber', ['finalized', false]);
    node.answer = ({ method, params: [tag] }) =>
      method === 'eth_getBlockByNumber' && tag === 'finalized'
        ? (refusal ?? { result: frozen })
        : null;
    world = await createDepositsWorld(chain, { rpcUrls: [node.url] }, { unfinalAfterMs: 300 });
    const kinds = async (): Promise<string[]> =>
      (await listAlarms(world.db)).map(({ kind }) => kind);
    await when('the alarm', async () => {
      await chain.mine();
      await world.follow();
      return (await kinds()).includes('finality_stalled') ? true : null;
    });
    node.answer = () => null;
    await world.follow();
    expect(await kinds()).toEqual([]);
  });

  it('does not begin at the first block of an old chain whose node tells no final block', async () => {
    world = await createDepositsWorld(chain);
    const database = await createWalletDatabase();
    const db = new Database(database.url, { size: 1 });
    node.answer = ({ method, params: [tag] }) =>
      method === 'eth_getBlockByNumber' && tag === 'finalized' ? { result: null } : null;
    node.alter = ({ params: [tag] }, result) =>
      tag === 'latest' ? { ...(result as object), number: '0x1312d00' } : result;
    const one = createChain(testNetwork(chain, { rpcUrls: [node.url] }));
    await expect(ensurePlace(db, one)).rejects.toThrow(/no final block/);
    node.alter = (_call, result) => result;
    await ensurePlace(db, one);
    expect(await findPlace(db, chain.chainId)).toMatchObject({ headNumber: 0 });
    await db.destroy();
    await database.drop();
  });

  it('does not start on a chain whose node refuses the tag "finalized", and names finality', async () => {
    world = await createDepositsWorld(chain);
    node.answer = ({ method, params: [tag] }) =>
      method === 'eth_getBlockByNumber' && (tag === 'finalized' || tag === 'safe')
        ? { error: { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' } }
        : null;
    const network = testNetwork(chain, { rpcUrls: [node.url] });
    await expect(verifyChain(createChain(network))).rejects.toThrow(
      /rpc_urls\[0\] does not know the block tag "finalized".*Set finality to a number/,
    );
    const counted = testNetwork(chain, { rpcUrls: [node.url], finality: 3 });
    expect(await verifyChain(createChain(counted))).toBe(true);
  });

  it('starts on a chain where nothing is final yet', async () => {
    world = await createDepositsWorld(chain);
    node.answer = ({ method, params: [tag] }) =>
      method === 'eth_getBlockByNumber' && tag === 'finalized'
        ? { error: { code: -39001, message: 'finalized block not found' } }
        : null;
    const network = testNetwork(chain, { rpcUrls: [node.url] });
    expect(await verifyChain(createChain(network))).toBe(true);
  });

  it('confirms small orders when they are finalized, where a node has no safe block', async () => {
    node.answer = ({ method, params: [tag] }) =>
      method === 'eth_getBlockByNumber' && tag === 'safe'
        ? { error: { code: -32602, message: 'unknown tag' } }
        : null;
    await begin([node.url]);
    const { id, address } = await openTestCheckout(world, { amount: amount('10') });
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await chain.finalize();
    await deposited(id);
  });
});

interface Receipt {
  blockNumber: string;
  blockHash: string;
  transactionHash: string;
  logs: object[];
}

/** The receipts with other logs. */
function withLogs(
  receipts: unknown,
  change: (logs: object[], receipt: Receipt) => object[],
): Receipt[] {
  return (receipts as Receipt[]).map((one) => ({ ...one, logs: change(one.logs, one) }));
}

function withFullBloom(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('logsBloom' in result)) return result;
  return { ...result, logsBloom: `0x${'f'.repeat(512)}` };
}

/** Every transaction to the address has this value, alone or in a block. */
function withValues(result: unknown, to: string, wei: bigint): unknown {
  if (typeof result !== 'object' || result === null) return result;
  if ('transactions' in result) {
    const all = result.transactions as unknown[];
    return { ...result, transactions: all.map((one) => withValues(one, to, wei)) };
  }
  const isPaid = 'value' in result && 'to' in result && String(result.to) === to.toLowerCase();
  return isPaid ? { ...result, value: `0x${wei.toString(16)}` } : result;
}
