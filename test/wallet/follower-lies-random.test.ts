/**
 * Deposits by chance while two nodes lie by omission and by addition: logs that are left out or invented, heads
 * that lag, 429, another fork for a while. In the end just what is on the chain is credited, once.
 * TEST_SEED repeats a run.
 */
import { type Address, numberToHex } from 'viem';
import { amount } from '../../src/domain/money';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import {
  type NodeCall,
  type NodeAnswer,
  type NodeProxy,
  startNodeProxy,
} from '../support/wallet/node-proxy';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { rescan } from '../../src/rails/wallet/follower/rescan';
import { scaled } from '../support/scale';
import { chooseSeed, createDice, type Dice } from '../support/seeded-random';
import {
  createDepositsWorld,
  type DepositsWorld,
  factsOf,
  openTestCheckout,
} from './deposits-world';

const DEPOSITS = scaled(60, 1_500);
jest.setTimeout(scaled(300_000, 1_200_000));
const CHECKOUTS = 6;
/** More than the blocks that are read one by one, so that ranges are read as well. */
const OUTAGE_BLOCKS = 45;
/** Fewer than from the newest to the final block. */
const FORK_BLOCKS = 5;
const NO_LOGS = `0x${'0'.repeat(512)}`;
const EVERY_LOG = `0x${'f'.repeat(512)}`;

type Lie = 'honest' | 'left_out' | 'invented' | 'lagging' | 'rate' | 'final' | 'fork';
const LIES: readonly Lie[] = ['honest', 'left_out', 'invented', 'lagging', 'rate', 'final', 'fork'];

describeWithChain('deposits by chance from nodes that lie', () => {
  const seed = chooseSeed();
  console.log(`seed ${String(seed)}`);
  const dice = createDice(seed);
  const told = new Map<Lie, number>();
  let chain: TestChain;
  let nodes: LyingNode[];
  let world: DepositsWorld;

  beforeAll(async () => {
    chain = await startChain();
    await chain.finalize();
    nodes = [await startLyingNode(chain, dice), await startLyingNode(chain, dice)];
    const rpcUrls = nodes.map(({ proxy }) => proxy.url);
    world = await createDepositsWorld(chain, { rpcUrls });
  });
  afterAll(async () => {
    await world.close();
    for (const { proxy } of nodes) await proxy.stop();
    await chain.stop();
  });

  /** What fails is tried again, as by the loop. */
  const follow = () => world.follow().catch(() => undefined);

  test(`every deposit is credited once (seed ${String(seed)})`, async () => {
    const { USDC, DAI, USDT } = chain.tokens;
    const payer = chain.accounts[5]!;
    const checkouts: { id: string; address: Address; asset: string }[] = [];
    for (let index = 0; index < CHECKOUTS; index += 1) {
      const asset = dice.pick(['USDC', 'ETH', 'DAI', 'USDT']);
      checkouts.push({ ...(await openTestCheckout(world, { asset, amount: amount('3') })), asset });
    }
    for (const token of [USDC, DAI, USDT]) await chain.mint(token, payer, 10n ** 24n);
    await chain.mint(USDC, chain.forwarder, 10n ** 24n);
    const paid = new Map<string, bigint>();
    const anybody = () => dice.pick(checkouts);
    const book = (id: string, asset: string, units: bigint): void => {
      paid.set(`${id} ${asset}`, (paid.get(`${id} ${asset}`) ?? 0n) + units);
    };
    let deposits = 0;
    const payToken = async (): Promise<void> => {
      const { id, address } = anybody();
      const asset = dice.pick(['USDC', 'USDT', 'DAI'] as const);
      const units = BigInt(1 + dice.roll(9)) * 1_000_000n;
      await chain.transferToken(chain.tokens[asset], payer, address, units);
      book(id, asset, units);
      deposits += 1;
    };
    const payCoins = async (): Promise<void> => {
      const { id, address } = anybody();
      const wei = BigInt(1 + dice.roll(9)) * 10n ** 17n;
      await chain.send(address, wei, payer);
      book(id, 'ETH', wei);
      deposits += 1;
    };
    const lie = async (): Promise<void> => {
      const node = dice.pick(nodes);
      await node.become(dice.pick(LIES));
      told.set(node.lie, (told.get(node.lie) ?? 0) + 1);
    };
    const actions: (() => unknown)[] = [
      ...[payToken, payToken, payToken, payCoins, payCoins, lie, lie],
      ...[follow, follow, follow],
      () => chain.mine(1 + dice.roll(3)),
      () => world.restart(),
      async () => {
        // The wallet was away; meanwhile somebody pays.
        await payToken();
        await chain.mine(OUTAGE_BLOCKS);
        await payCoins();
        await follow();
      },
    ];
    while (deposits < DEPOSITS) await dice.pick(actions)();
    for (const node of nodes) await node.become('honest');
    for (let round = 0; round < 6; round += 1) {
      world.restart();
      await chain.finalize();
      await follow();
    }
    const parts = { db: world.db, chain: createChain(world.network) };
    await rescan(parts, { from: 0, to: null, transaction: null, by: 'alice', reason: 'liars' });
    world.restart();
    await follow();
    console.log(`${String(deposits)} deposits, lies ${JSON.stringify(Object.fromEntries(told))}`);
    for (const { id } of checkouts) {
      const facts = await factsOf(world.db, id);
      // What a node invented is never credited, and a rescan takes it away.
      expect(facts.deposits.filter(({ state }) => state === 'detected')).toEqual([]);
      for (const asset of ['USDC', 'USDT', 'DAI', 'ETH']) {
        const credited = facts.deposits
          .filter((one) => one.asset === asset && one.state === 'final')
          .reduce((sum, { units }) => sum + units, 0n);
        const key = `${id} ${asset}`;
        expect({ key, credited }).toEqual({ key, credited: paid.get(key) ?? 0n });
      }
    }
  });
});

interface LyingNode {
  proxy: NodeProxy;
  lie: Lie;
  become: (lie: Lie) => Promise<void>;
}

interface Receipt {
  logs: { data: string; logIndex: string }[];
}

interface Block {
  number: string;
  hash: string;
  parentHash: string;
}

/** Lies are told in about half of the answers that they concern, as behind a balancer. */
async function startLyingNode(chain: TestChain, dice: Dice): Promise<LyingNode> {
  const proxy = await startNodeProxy(chain.url);
  const isTold = (): boolean => dice.roll(2) === 0;
  /** What a node that lags, or is on another fork, has: its newest blocks of each kind. */
  let known = { latest: 0, safe: 0, finalized: 0 };
  const node: LyingNode = {
    proxy,
    lie: 'honest',
    become: async (lie) => {
      node.lie = lie;
      const [latest, safe, finalized] = await Promise.all([
        chain.blockNumber('latest'),
        chain.blockNumber('safe'),
        chain.blockNumber('finalized'),
      ]);
      known = { latest: latest - dice.roll(3), safe, finalized };
    },
  };
  const blockAt = (number: number, isFull: boolean): Promise<Block | null> =>
    chain.rpc<Block | null>('eth_getBlockByNumber', [numberToHex(number), isFull]);
  const lag = async ({ method, params: [first, isFull] }: NodeCall): Promise<NodeAnswer> => {
    if (method === 'eth_getBlockReceipts') return isTold() ? { result: null } : null;
    if (method !== 'eth_getBlockByNumber') return null;
    if (first === 'latest') return { result: await blockAt(known.latest, isFull === true) };
    return Number(first) > known.latest ? { result: null } : null;
  };
  /** Above `known.latest` the blocks have other hashes, and nothing is in them. */
  const onFork = (block: Block): Block => {
    const number = Number(block.number);
    if (number <= known.latest) return block;
    const parentHash = number === known.latest + 1 ? block.parentHash : flip(block.parentHash);
    const hash = flip(block.hash);
    return { ...block, hash, parentHash, ...{ transactions: [], logsBloom: NO_LOGS } };
  };
  const fork = async ({ method, params: [first, isFull] }: NodeCall): Promise<NodeAnswer> => {
    const full = isFull === true;
    if (method === 'eth_getBlockByNumber') {
      if (first === 'safe' || first === 'finalized') {
        return { result: await blockAt(known[first], full) };
      }
      const at = first === 'latest' ? await chain.blockNumber() : Number(first);
      const block = await blockAt(at, full);
      return { result: block === null ? null : onFork(block) };
    }
    if (method !== 'eth_getBlockReceipts') return null;
    return Number(first) > known.latest ? { result: [] } : null;
  };
  /** A transfer to a checkout, beside one that is there, with the bloom filter of every log. */
  const invent = ({ method }: NodeCall, result: unknown): unknown => {
    if (method === 'eth_getBlockByNumber' && result !== null) {
      return { ...(result as Block), logsBloom: EVERY_LOG };
    }
    if (!/Receipt/.test(method) || result === null) return result;
    const all = ([result].flat() as Receipt[]).map((one) => ({
      ...one,
      logs: one.logs.flatMap((log) => {
        const units = (1_000_000n * BigInt(100 + dice.roll(900))).toString(16);
        return [log, { ...log, data: `0x${units.padStart(64, '0')}`, logIndex: '0xff' }];
      }),
    }));
    return Array.isArray(result) ? all : all[0];
  };
  proxy.alter = (call, result) => {
    if (node.lie === 'invented') return invent(call, result);
    const isLeftOut = node.lie === 'left_out' && call.method === 'eth_getBlockReceipts';
    if (!isLeftOut || !Array.isArray(result) || !isTold()) return result;
    return (result as Receipt[]).map((one) => ({ ...one, logs: one.logs.slice(1) }));
  };
  proxy.answer = async (call: NodeCall): Promise<NodeAnswer> => {
    switch (node.lie) {
      case 'honest':
      case 'left_out':
      case 'invented':
        return null;
      case 'rate':
        return isTold() ? { status: 429 } : null;
      case 'final': {
        const [tag] = call.params;
        const isSure = tag === 'safe' || tag === 'finalized';
        return isSure ? { result: await blockAt(await chain.blockNumber(), false) } : null;
      }
      case 'lagging':
        return lag(call);
      case 'fork':
        // Such a node comes back before its fork is deeper than what is final.
        if ((await chain.blockNumber()) - known.latest > FORK_BLOCKS) node.lie = 'honest';
        return node.lie === 'fork' ? fork(call) : null;
    }
  };
  return node;
}

/** The hash of the same block on the other fork, and back. */
function flip(hash: string): string {
  const other = (15 - Number.parseInt(hash.charAt(2), 16)).toString(16);
  return `0x${other}${hash.slice(3)}`;
}
