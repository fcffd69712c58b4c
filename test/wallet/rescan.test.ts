/** Deposits that the wallet missed, and what reads them again: each is credited once. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient } from '../../src/db/provision';
import { amount } from '../../src/domain/money';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { pause } from '../../src/rails/wallet/chain/pause';
import { storeArrivals } from '../../src/rails/wallet/checkouts/deposits';
import { lockCheckout } from '../../src/rails/wallet/checkouts/store';
import { runWalletCommand } from '../../src/rails/wallet/commands';
import { listDecisions } from '../../src/rails/wallet/decisions';
import { bookMissing } from '../../src/rails/wallet/follower/booking';
import { rescan, type RescanOrder } from '../../src/rails/wallet/follower/rescan';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { type NodeProxy, startNodeProxy } from '../support/wallet/node-proxy';
import {
  createDepositsWorld,
  type DepositsWorld,
  entriesOf,
  openTestCheckout,
  pay,
  when,
} from './deposits-world';

const WEI = 10n ** 18n;
const NO_LOGS = `0x${'0'.repeat(512)}`;

interface FullBlock {
  transactions: unknown[];
}

describeWithChain('a rescan', () => {
  let chain: TestChain;
  let node: NodeProxy;
  let world: DepositsWorld;
  let honest: NodeProxy['alter'];
  let used = 0;

  beforeAll(async () => {
    chain = await startChain();
    await chain.finalize();
  });
  afterAll(() => chain.stop());
  beforeEach(async () => {
    node = await startNodeProxy(chain.url);
    honest = node.alter;
    world = await createDepositsWorld(chain, { rpcUrls: [node.url] });
    // Addresses that have nothing from the tests before.
    used += 10;
    await world.db.query(
      "SELECT nextval('wallet.address_index_test_evm') FROM generate_series(1, $1)",
      [used],
    );
  });
  afterEach(async () => {
    await world.close();
    await node.stop();
  });

  /** The wallet reads the blocks as if there was nothing in them. */
  const hide = (): void => {
    node.alter = ({ method }, result) => {
      if (method === 'eth_getBlockReceipts') return [];
      const isBlock = Array.isArray((result as FullBlock | null)?.transactions);
      return isBlock ? { ...(result as object), logsBloom: NO_LOGS, transactions: [] } : result;
    };
  };
  const missing = async (
    happens: () => Promise<unknown>,
  ): Promise<{ from: number; to: number }> => {
    const from = (await chain.blockNumber()) + 1;
    hide();
    await happens();
    const to = await chain.blockNumber();
    // Coins are found at the newest block, and booked when that is final.
    for (let round = 0; round < 2; round += 1) {
      await chain.finalize();
      await world.follow();
    }
    node.alter = honest;
    return { from, to };
  };
  const again = async (order: Partial<RescanOrder>) => {
    const parts = { db: world.db, chain: createChain(world.network) };
    const whole = { from: 0, to: null, transaction: null, by: 'alice', reason: 'a test' };
    const { found } = await rescan(parts, { ...whole, ...order });
    return found.map(
      ({ arrival, outcome }) => `${String(arrival.units)} ${arrival.asset} ${outcome}`,
    );
  };
  const blockOf = async (hash: string): Promise<number> => {
    const method = 'eth_getTransactionReceipt';
    return Number((await chain.rpc<{ blockNumber: string }>(method, [hash])).blockNumber);
  };
  const openInCoins = () => openTestCheckout(world, { asset: 'ETH', amount: amount('1') });

  it('credits tokens and coins that were missed, once', async () => {
    const tokens = await openTestCheckout(world);
    const coins = await openInCoins();
    const blocks = await missing(async () => {
      await pay(chain, chain.tokens.USDC, tokens.address, 10_000_000n);
      await world.follow();
    });
    const withCoins = await missing(() => pay(chain, null, coins.address, WEI));
    // Coins that nobody has found by the balance yet.
    await withClient(world.database.ownerUrl, (client) =>
      client.query('DELETE FROM wallet.deposit'),
    );
    expect(await again({ from: blocks.from, to: withCoins.to })).toEqual([
      '10000000 USDC credited',
      '1000000000000000000 ETH credited',
    ]);
    await world.follow();
    expect(await entriesOf(world, tokens.id)).toEqual(['10. final']);
    expect(await entriesOf(world, coins.id)).toEqual(['1. final']);
    expect(await again({ from: blocks.from })).toEqual([
      '10000000 USDC known',
      '1000000000000000000 ETH known',
    ]);
    expect(await entriesOf(world, tokens.id)).toEqual(['10. final']);
  });

  it('credits no coins that were found by the balance', async () => {
    const { id, address } = await openInCoins();
    const { from, to } = await missing(() => pay(chain, null, address, WEI));
    expect(await entriesOf(world, id)).toEqual(['1. final']);
    expect(await again({ from, to })).toEqual(['1000000000000000000 ETH explained']);
    expect(await entriesOf(world, id)).toEqual(['1. final']);
  });

  it('credits coins once while the wallet finds them by the balance at the same moment', async () => {
    const { id, address } = await openInCoins();
    hide();
    const txHash = await pay(chain, null, address, WEI);
    await world.follow();
    node.alter = honest;
    await chain.finalize();
    // As a rescan does: the checkout is locked when the wallet has found the coins, and has not booked them.
    const { following } = await world.db.transaction(async (tx) => {
      const { checkout } = await lockCheckout(tx, id);
      const work = world.follow();
      await when('the wallet that waits for the checkout', async () => {
        const waiting = await world.db.query(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return waiting.length > 0 ? true : null;
      });
      await storeArrivals(tx, { chainId: chain.chainId, rules: world.network.deposits }, [
        {
          ...{ token: null, from: chain.accounts[5]!, to: checkout.address, units: WEI, txHash },
          ...{ ordinal: 0, checkoutId: id, asset: 'ETH', decimals: 18, isInternal: false },
          ...{ blockNumber: await blockOf(txHash), blockTime: new Date() },
        },
      ]);
      return { following: work };
    });
    await following;
    for (let round = 0; round < 3; round += 1) {
      await chain.finalize();
      await world.follow();
    }
    expect(await entriesOf(world, id)).toEqual(['1. final']);
  });

  it('reads one transaction, and leaves the others of its block', async () => {
    const { address } = await openTestCheckout(world);
    let hash = '';
    await missing(async () => {
      await pay(chain, chain.tokens.USDC, address, 10_000_000n);
      hash = await pay(chain, chain.tokens.USDC, address, 3_000_000n);
    });
    const output = await run('rescan', 'ethereum', '--transaction', hash);
    expect(output).toMatch(
      /^3 USDC to 0x.*: credited\.\n.*1 deposits found, 1 credited, 0 already known/,
    );
    expect(await run('rescan', 'ethereum', '--transaction', hash)).toMatch(/already known\./);
  });

  it('finds what was paid to an address that is no longer watched', async () => {
    const { id, address } = await openTestCheckout(world);
    await world.db.query(
      `UPDATE wallet.checkout SET expires_at = now() - interval '100 days',
         created_at = now() - interval '101 days'`,
    );
    world.restart();
    const from = await chain.blockNumber();
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await chain.finalize();
    await world.follow();
    expect(await entriesOf(world, id)).toEqual([]);
    expect(await again({ from })).toEqual(['10000000 USDC credited']);
  });

  it('refuses blocks that are not final, and a chain that is paused', async () => {
    const head = await chain.blockNumber();
    await chain.mine();
    await expect(again({ from: 0, to: head + 1 })).rejects.toThrow(/is not final yet/);
    await pause(world.db, chain.chainId, 'chain', { by: 'alice', reason: 'nodes are upgraded.' });
    await expect(again({})).rejects.toThrow(/ethereum is paused: nodes are upgraded/);
  });

  it('books nothing when its block is no longer final', async () => {
    const { address } = await openTestCheckout(world);
    const last = { number: (await chain.blockNumber()) + 1 };
    const money = { token: null, units: 1n, feeUnits: 1n };
    const spend = { ...money, txHash: '0x1', address, blockNumber: last.number };
    const booking = { arrivals: [], spends: [spend], first: last, last, transaction: null };
    const parts = { db: world.db, chain: createChain(world.network) };
    await expect(bookMissing(parts, booking)).rejects.toThrow(/is not final any more/);
    expect(await world.db.query('SELECT 1 FROM wallet.address_spend')).toEqual([]);
  });

  it('credits nothing while the nodes have different final blocks', async () => {
    const { address } = await openTestCheckout(world);
    const { from, to } = await missing(() => pay(chain, chain.tokens.USDC, address, 10_000_000n));
    const other = await startNodeProxy(chain.url);
    other.alter = (call, result) =>
      call.method === 'eth_getBlockByNumber' && Number(call.params[0]) === to
        ? { ...(result as object), hash: `0x${'1'.repeat(64)}` }
        : result;
    world.network = { ...world.network, rpcUrls: [node.url, other.url] };
    await expect(again({ from, to })).rejects.toThrow(/the nodes have different blocks/);
    await other.stop();
    expect(await again({ from, to }).catch(() => [])).toEqual(['10000000 USDC credited']);
  });

  it('leaves a transaction alone of which another amount is stored', async () => {
    const { address } = await openTestCheckout(world);
    const from = await chain.blockNumber();
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await chain.finalize();
    await world.follow();
    await world.db.query('UPDATE wallet.deposit SET units = units - 1');
    expect(await again({ from })).toEqual(['10000000 USDC differs']);
  });

  it('is an entry among the decisions', async () => {
    const order = { from: 1, to: 3, by: 'alice', reason: 'a node had no logs' };
    await again(order);
    expect(await listDecisions(world.db, 1)).toMatchObject([
      { kind: 'rescan', subject: 'blocks 1 to 3', by: 'alice', reason: 'a node had no logs' },
    ]);
    expect(await run('decisions')).toMatch(
      /rescan +blocks 1 to 3 on the chain \d+ by alice: a node/,
    );
  });

  it('says to run the command again when no node answers', async () => {
    const { address } = await openTestCheckout(world);
    node.answer = () => ({ status: 503 });
    const plan = ['sweep', '--chain-id', String(chain.chainId), '--asset', 'USDC', '--plan'];
    expect(await run(...plan, '--to', address)).toMatch(
      /^No node of the network answered \(.*\). Run the command again\./,
    );
  });

  /** The command with a file of networks. @returns what it prints */
  const run = async (...args: string[]): Promise<string> => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-rescan-'));
    const file = join(folder, 'networks.json');
    const { name, mode, chainId, native, tokens } = world.network;
    const network = { name, mode, chain_id: chainId, native, tokens, rpc_urls: [node.url] };
    writeFileSync(file, JSON.stringify({ networks: [network] }));
    const env = {
      ...{ WALLET_DATABASE_URL: world.database.url, WALLET_NETWORKS_FILE: file },
      GATEWAY_ENV: 'development',
    };
    let output = '';
    const write = (text: string): void => void (output += text);
    const named = args[0] === 'rescan' ? ['--by', 'alice', '--reason', 'a test'] : [];
    try {
      await runWalletCommand([...args, ...named], { env, out: write, err: write });
    } finally {
      rmSync(folder, { recursive: true });
    }
    return output;
  };
});
