/** Nodes that leave things out, each lie by itself: no deposit is missed. */
import type { Address } from 'viem';
import { errorText } from '../../src/lib/command-line';
import { amount } from '../../src/domain/money';
import { listAlarms } from '../../src/wallet/alarm-decisions';
import { createChain, verifyChain } from '../../src/wallet/chain/chain';
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
  const askedRanges = (): number =>
    node.asked.filter(
      ({ method, params }) => method === 'eth_getLogs' && 'fromBlock' in (params[0] as object),
    ).length;
  const fullBlocks = (): number =>
    node.asked.filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[1])
      .length;

  it('credits a deposit whose block has a bloom filter, when the answer about its logs is empty once', async () => {
    await begin([node.url]);
    const { id, address } = await openTestCheckout(world);
    let lies = 1;
    node.answer = ({ method }) => (method === 'eth_getLogs' && lies-- > 0 ? { result: [] } : null);
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await world.follow();
    await chain.finalize();
    await deposited(id);
  });

  it('reads the receipts when a node has no logs of a block at all', async () => {
    await begin([node.url]);
    const { id, address } = await openTestCheckout(world);
    node.answer = ({ method }) => (method === 'eth_getLogs' ? { result: [] } : null);
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await world.follow();
    await chain.finalize();
    await deposited(id);
  });

  it('reads the receipts one by one where a node has no eth_getBlockReceipts', async () => {
    await begin([node.url]);
    const { id, address } = await openTestCheckout(world);
    node.answer = ({ method }) => {
      if (method === 'eth_getLogs') return { result: [] };
      if (method !== 'eth_getBlockReceipts') return null;
      return { error: { code: -32601, message: 'the method does not exist' } };
    };
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await world.follow();
    await chain.finalize();
    await deposited(id);
  });

  it('books nothing while logs and receipts do not explain the header, and asks another node', async () => {
    await begin([node.url, chain.url]);
    const { id, address } = await openTestCheckout(world);
    node.answer = ({ method }) => (method === 'eth_getLogs' ? { result: [] } : null);
    node.alter = ({ method }, result) =>
      method === 'eth_getBlockReceipts'
        ? (result as { logs: unknown[] }[]).map((receipt) => ({ ...receipt, logs: [] }))
        : result;
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await world.follow();
    expect(await entriesOf(world, id)).toEqual([]);
    await chain.finalize();
    const failures: string[] = [];
    await deposited(id, failures);
    expect(failures[0]).toMatch(/the logs of block \d+ are not those of its header/);
  });

  it('does not believe a node that lacks the last block of a range about its logs', async () => {
    const behind = await startNodeProxy(chain.url);
    await begin([node.url, behind.url]);
    try {
      const { id, address } = await openTestCheckout(world);
      const newest = await chain.blockNumber();
      await pay(chain, chain.tokens.USDC, address, 10_000_000n);
      await chain.mine(BLOCKS_TO_CATCH_UP);
      let isLimited = true;
      node.answer = ({ method }) =>
        isLimited && method === 'eth_getLogs' ? { status: 429 } : null;
      behind.answer = ({ method, params: [first] }) => {
        if (method === 'eth_getLogs') return { result: [] };
        if (method !== 'eth_getBlockByNumber') return null;
        return Number(first) > newest ? { result: null } : null;
      };
      // The balancer in front of the second node has the blocks, but not for the logs.
      for (let round = 0; round < 5; round += 1) await world.follow().catch(() => undefined);
      expect(await entriesOf(world, id)).toEqual([]);
      isLimited = false;
      world.restart();
      await deposited(id);
    } finally {
      await behind.stop();
    }
  });

  it('finds a deposit in a range whose logs a node left out, by the bloom filters of the headers', async () => {
    await begin([node.url]);
    const { id, address } = await openTestCheckout(world);
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await chain.mine(BLOCKS_TO_CATCH_UP);
    node.answer = ({ method, params }) =>
      method === 'eth_getLogs' && 'fromBlock' in (params[0] as object) ? { result: [] } : null;
    await deposited(id);
  });

  it('finds the deposits that one of several questions about a range left out', async () => {
    await begin([node.url]);
    const { id, address } = await openTestCheckout(world);
    // More addresses than one question holds; some of them are paid.
    const others = await world.db.query<{ address: Address; isPaid: boolean }>(
      `INSERT INTO wallet.checkout (id, mode, client_reference, network, chain_id, asset, decimals,
         amount, address, address_index, expires_at)
       SELECT 'many_' || n, mode, 'many_' || n, network, chain_id, asset, decimals, amount,
         '0x' || lpad(to_hex(n + 4096), 40, 'a'), 100000 + n, expires_at
       FROM wallet.checkout, generate_series(1, 1500) AS n
       RETURNING address, address_index % 75 = 0 AS "isPaid"`,
    );
    const paid = others.filter(({ isPaid }) => isPaid).map((one) => one.address);
    await chain.mint(chain.tokens.USDC, chain.forwarder, 10n ** 12n);
    await chain.call('Forwarder', chain.forwarder, 'splitToken', [
      ...[chain.tokens.USDC.address, [address, ...paid], 10_000_000n],
    ]);
    await chain.mine(BLOCKS_TO_CATCH_UP);
    const topic = address.slice(2).toLowerCase();
    let lies = 0;
    node.answer = ({ method, params }) => {
      const text = JSON.stringify(params).toLowerCase();
      if (method !== 'eth_getLogs' || !text.includes('fromblock') || text.includes(topic)) return;
      lies += 1;
      return { result: [] };
    };
    await deposited(id);
    expect(lies).toBeGreaterThan(0);
    const deposits = await world.db.query('SELECT 1 FROM wallet.deposit');
    expect(deposits).toHaveLength(1 + paid.length);
  });

  it.each([
    [
      -32600,
      'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
    ],
    [-32614, 'eth_getLogs is limited to a 10 range'],
  ])('learns that a node answers about 10 blocks at once (%s)', async (code, message) => {
    await begin([node.url]);
    const { id, address } = await openTestCheckout(world);
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await chain.mine(BLOCKS_TO_CATCH_UP);
    node.answer = ({ method, params: [first] }) => {
      const { fromBlock, toBlock } = (first ?? {}) as Record<string, string>;
      if (method !== 'eth_getLogs' || fromBlock === undefined) return null;
      return Number(toBlock) - Number(fromBlock) >= 10 ? { error: { code, message } } : null;
    };
    await deposited(id);
    expect(fullBlocks()).toBeLessThanOrEqual(BLOCKS_TO_CATCH_UP);
    expect(askedRanges()).toBeLessThanOrEqual(8);
  });

  it.each([['query returned more than 10000 results'], ['query timeout exceeded']])(
    'asks about fewer blocks after -32005 “%s”',
    async (message) => {
      await begin([node.url]);
      const { id, address } = await openTestCheckout(world);
      await pay(chain, chain.tokens.USDC, address, 10_000_000n);
      await chain.mine(BLOCKS_TO_CATCH_UP);
      node.answer = ({ method, params: [first] }) => {
        const { fromBlock, toBlock } = (first ?? {}) as Record<string, string>;
        if (method !== 'eth_getLogs' || fromBlock === undefined) return null;
        return Number(toBlock) - Number(fromBlock) >= 20
          ? { error: { code: -32005, message } }
          : null;
      };
      await deposited(id);
      expect(askedRanges()).toBeLessThanOrEqual(8);
    },
  );

  describe('raises an alarm while no block is read, which ends with the next one', () => {
    const STALLED_AFTER_MS = 400;
    const openAlarms = async (): Promise<{ kind: string; detail: string }[]> =>
      (await listAlarms(world.db)).map(({ kind, detail }) => ({ kind, detail }));
    const stalled = () =>
      when('the alarm', async () => {
        await world.follow().catch(() => undefined);
        return (await openAlarms()).find(({ kind }) => kind === 'follower_stalled') ?? null;
      });

    beforeEach(async () => {
      world = await createDepositsWorld(
        chain,
        { rpcUrls: [node.url] },
        { stalledAfterMs: STALLED_AFTER_MS },
      );
      await openTestCheckout(world);
    });

    it('because the blocks cannot be read', async () => {
      node.answer = ({ method }) => (method === 'eth_getBlockByHash' ? { status: 429 } : null);
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
      await new Promise((resolve) => setTimeout(resolve, 2 * STALLED_AFTER_MS));
      await world.follow();
      expect(await openAlarms()).toEqual([]);
    });
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
