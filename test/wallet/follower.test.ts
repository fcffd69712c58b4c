/** What the chain can do to a deposit, each on a real node. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Address, encodeFunctionData, erc20Abi, type Hex, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { amount } from '../../src/domain/money';
import { listAlarms, resolveAlarm } from '../../src/rails/wallet/alarm-decisions';
import { createAlarms } from '../../src/rails/wallet/alarms';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { isPaid, missingAmount } from '../../src/rails/wallet/checkouts/checkout';
import { takeStep } from '../../src/rails/wallet/checkouts/steps';
import { resume } from '../../src/rails/wallet/chain/pause';
import { errorText } from '../../src/platform/lib/command-line';
import type { Log } from '../../src/rails/wallet/config';
import { findPlace } from '../../src/rails/wallet/follower/place';
import { allowAddress, denyAddress } from '../../src/rails/wallet/sender/denylist';
import { readSums, SumsCheck } from '../../src/rails/wallet/sums';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { DEPOSIT_ACCOUNT } from '../support/wallet/wallet';
import {
  createDepositsWorld,
  type DepositsWorld,
  entriesOf,
  factsOf,
  openTestCheckout,
  pay,
  when,
} from './deposits-world';

const ETH = 10n ** 18n;
const JSON_BODY = { 'content-type': 'application/json' };

describeWithChain('deposits', () => {
  let chain: TestChain;
  let world: DepositsWorld;

  beforeAll(async () => {
    chain = await startChain();
    await chain.finalize();
    world = await createDepositsWorld(chain);
  });

  afterAll(async () => {
    await world.close();
    await chain.stop();
  });

  const alarms = async (kind: string): Promise<string[]> => {
    const rows = await world.db.query<{ detail: string }>(
      'SELECT detail FROM wallet.alarm WHERE kind = $1 ORDER BY id',
      [kind],
    );
    return rows.map(({ detail }) => detail);
  };

  const settle = async (): Promise<void> => {
    await world.follow();
    await chain.finalize();
    await world.follow();
  };

  test('several transfers add up: too little, enough, too much', async () => {
    const { id, address } = await openTestCheckout(world);
    await pay(chain, chain.tokens.USDC, address, 4_000_000n);
    await settle();
    const part = await factsOf(world.db, id);
    expect(missingAmount(part)).toBe(amount('6'));
    expect(isPaid(part)).toBe(false);
    await pay(chain, chain.tokens.USDC, address, 7_500_000n);
    await settle();
    expect(await entriesOf(world, id)).toEqual(['4. final', '7.5 final']);
    expect(isPaid(await factsOf(world.db, id))).toBe(true);
    const { deposits } = await factsOf(world.db, id);
    const block = await chain.rpc<{ timestamp: Hex }>('eth_getBlockByNumber', [
      `0x${deposits[0]!.blockNumber.toString(16)}`,
      false,
    ]);
    expect(deposits[0]!.seenAt.getTime()).toBe(Number(block.timestamp) * 1000);
  });

  test('another listed token at the address is kept apart, and an operator is told', async () => {
    const { id, address } = await openTestCheckout(world);
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await pay(chain, chain.tokens.DAI, address, 3n * ETH);
    await settle();
    expect(await entriesOf(world, id)).toEqual(['10. final']);
    expect(await alarms('unexpected_deposit')).toEqual([
      `3 DAI arrived at the address of checkout ${id}, which is for another asset or network.`,
    ]);
  });

  test('what anybody can send without end is one alarm of each checkout, and hides no other', async () => {
    const told = async (): Promise<string[]> =>
      (await listAlarms(world.db)).flatMap(({ kind, detail }) =>
        kind === 'unexpected_deposit' && (detail.includes(one.id) || detail.includes(other.id))
          ? [detail]
          : [],
      );
    const one = await openTestCheckout(world);
    const other = await openTestCheckout(world);
    for (const { address } of [one, other]) {
      for (let time = 1; time <= 3; time += 1) {
        await pay(chain, chain.tokens.DAI, address, 3_000_000_000_000n);
      }
    }
    await settle();
    expect(await told()).toEqual([]);
    await pay(chain, chain.tokens.DAI, one.address, ETH);
    await settle();
    for (let time = 1; time <= 2; time += 1) await pay(chain, chain.tokens.DAI, one.address, ETH);
    await settle();
    expect(await told()).toEqual([
      `3 DAI arrived at the address of checkout ${one.id}, which is for another asset or network.`,
    ]);
    await world.db.query(
      `INSERT INTO wallet.alarm (chain_id, kind, subject, detail)
       VALUES ($1, 'signer_stopped', 'the hot wallet', 'It is stopped.')`,
      [chain.chainId],
    );
    const open = await listAlarms(world.db);
    expect(open[0]!.kind).toBe('signer_stopped');
    expect(open.at(-1)!.kind).toBe('unexpected_deposit');
    const reason = { by: 'alice', reason: 'agreed' };
    for (const { id, kind } of open) {
      if (kind === 'unexpected_deposit' || kind === 'signer_stopped')
        await resolveAlarm(world.db, id, reason);
    }
    await settle();
    expect(await told()).toEqual([]);
    await pay(chain, chain.tokens.DAI, one.address, ETH);
    await settle();
    expect(await told()).toEqual([
      `4 DAI arrived at the address of checkout ${one.id}, which is for another asset or network.`,
    ]);
  });

  test('tokens that are not listed and transfers of nothing are no deposits', async () => {
    const { id, address } = await openTestCheckout(world);
    await pay(chain, chain.tokens.FAKE, address, 10_000_000n);
    await pay(chain, chain.tokens.USDC, address, 0n);
    await pay(chain, chain.tokens.FALSE, address, 10_000_000n);
    await settle();
    expect((await factsOf(world.db, id)).deposits).toEqual([]);
  });

  test('a token that keeps a fee: what arrived is credited', async () => {
    const { USDT } = chain.tokens;
    const { id, address } = await openTestCheckout(world, { asset: 'USDT' });
    await chain.call('TetherLikeToken', USDT.address, 'setFee', [100n]);
    await pay(chain, USDT, address, 10_000_000n);
    await chain.call('TetherLikeToken', USDT.address, 'setFee', [0n]);
    await settle();
    expect(await entriesOf(world, id)).toEqual(['9.9 final']);
    expect(await chain.balanceOf(USDT, address)).toBe(9_900_000n);
  });

  test('one transaction pays two checkouts, and one of them twice', async () => {
    const { USDC } = chain.tokens;
    const [first, second] = [await openTestCheckout(world), await openTestCheckout(world)];
    await chain.mint(USDC, chain.forwarder, 15_000_000n);
    await chain.call('Forwarder', chain.forwarder, 'splitToken', [
      ...[USDC.address, [first.address, second.address, first.address], 5_000_000n],
    ]);
    await settle();
    expect(await entriesOf(world, first.id)).toEqual(['5. final', '5. final']);
    expect(await entriesOf(world, second.id)).toEqual(['5. final']);
  });

  test('coins come by transactions and by contracts', async () => {
    const { id, address } = await openTestCheckout(world, { asset: 'ETH', amount: amount('2') });
    await pay(chain, null, address, ETH);
    await settle();
    await chain.call('Forwarder', chain.forwarder, 'forward', [address], { value: ETH });
    const paidIn = await chain.blockNumber();
    await settle();
    expect(await entriesOf(world, id)).toEqual(['1. final', '1. final']);
    const internal = (await factsOf(world.db, id)).deposits.at(-1)!;
    // The time of the block that it came with, however late it was found.
    expect(internal).toMatchObject({ txHash: null, sender: null, blockNumber: paidIn });
    await chain.mine(30);
    await settle();
    expect(await entriesOf(world, id)).toHaveLength(2);
  });

  test('small orders are confirmed when safe, large ones and large sums when finalized', async () => {
    const small = await openTestCheckout(world);
    const large = await openTestCheckout(world, { amount: amount('100') });
    const split = await openTestCheckout(world);
    const { USDC } = chain.tokens;
    const payer = chain.accounts[5]!;
    await chain.mint(USDC, payer, 210_000_000n);
    for (const to of [split, split]) {
      await chain.transferToken(USDC, payer, to.address, 50_000_000n);
    }
    await chain.transferToken(USDC, payer, large.address, 100_000_000n);
    await chain.transferToken(USDC, payer, small.address, 10_000_000n);
    await chain.mine(4);
    await world.follow();
    expect(await entriesOf(world, small.id)).toEqual(['10. final']);
    expect(await entriesOf(world, large.id)).toEqual(['100. detected']);
    expect(await entriesOf(world, split.id)).toEqual(['50. detected', '50. detected']);
    await chain.mine(4);
    await world.follow();
    expect(await entriesOf(world, large.id)).toEqual(['100. final']);
    expect(await entriesOf(world, split.id)).toEqual(['50. final', '50. final']);
  });

  test('a reorganization takes deposits back, and one that is mined again has the same id', async () => {
    const { USDC } = chain.tokens;
    const [first, second] = [await openTestCheckout(world), await openTestCheckout(world)];
    const payer = privateKeyToAccount(`0x${'5'.repeat(64)}`);
    await chain.setBalance(payer.address, ETH);
    await chain.mint(USDC, payer.address, 20_000_000n);
    const sign = (nonce: number, to: Address) =>
      payer.signTransaction({
        ...{ chainId: chain.chainId, type: 'eip1559', nonce, to: USDC.address, gas: 100_000n },
        ...{ maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n },
        data: encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transfer',
          args: [to, 10_000_000n],
        }),
      });
    const raws = [await sign(0, first.address), await sign(1, second.address)] as const;
    for (const raw of raws) await chain.rpc('eth_sendRawTransaction', [raw]);
    await chain.mine(4);
    await world.follow();
    const before = (await factsOf(world.db, first.id)).deposits[0]!;
    expect(before.state).toBe('final');

    await chain.reorg(6, [{ transaction: raws[0], block: 3 }]);
    await world.follow();
    const [back] = (await factsOf(world.db, first.id)).deposits;
    expect(back).toMatchObject({ id: before.id, amount: amount('10') });
    expect(back!.blockNumber).not.toBe(before.blockNumber);
    expect(await entriesOf(world, second.id)).toEqual(['10. vanished']);
    await settle();
    expect(await entriesOf(world, first.id)).toEqual(['10. final']);

    await chain.rpc('eth_sendRawTransaction', [raws[1]]);
    await settle();
    expect(await entriesOf(world, second.id)).toEqual(['10. final']);
  });

  test('hundreds of small deposits become few entries that add up', async () => {
    const { id, address } = await openTestCheckout(world, { amount: amount('1') });
    const { USDC } = chain.tokens;
    await chain.mint(USDC, chain.forwarder, 130_000_000n);
    const split = (times: number, units: bigint) =>
      chain.call('Forwarder', chain.forwarder, 'splitToken', [
        ...[USDC.address, Array.from({ length: times }, () => address), units],
      ]);
    await split(60, 5_000n);
    await settle();
    // 60 × 0.005 is below the floor one by one, and worth an entry together.
    expect(await entriesOf(world, id)).toEqual(['0.3 final']);
    await split(1, 5_000n);
    await settle();
    expect(await entriesOf(world, id)).toEqual(['0.3 final']);
    for (let round = 0; round < 3; round += 1) await split(40, 20_000n);
    await settle();
    const entries = await entriesOf(world, id);
    expect(entries).toHaveLength(102);
    expect(missingAmount(await factsOf(world.db, id))).toBe(amount('0'));
  });

  test('a denied sender holds the checkout; a release confirms, a rejection waits for an address', async () => {
    const [kept, rejected, empty] = [
      await openTestCheckout(world),
      await openTestCheckout(world),
      await openTestCheckout(world),
    ];
    world.screenWith(({ from }) =>
      Promise.resolve(
        from?.toLowerCase() === chain.accounts[5] ? ('hold' as const) : ('clear' as const),
      ),
    );
    await pay(chain, chain.tokens.USDC, kept.address, 10_000_000n);
    await pay(chain, chain.tokens.USDC, rejected.address, 10_000_000n);
    await settle();
    world.screenWith(null);
    for (const { id } of [kept, rejected]) {
      expect((await factsOf(world.db, id)).checkout.isHeld).toBe(true);
    }
    await takeStep(world.parts, kept.id, { do: 'release' });
    expect(await takeStep(world.parts, kept.id, { do: 'reject' })).toEqual({
      ...{ kind: 'refused', reason: 'not_on_hold' },
    });
    expect(isPaid(await factsOf(world.db, kept.id))).toBe(true);
    await takeStep(world.parts, rejected.id, { do: 'reject' });
    await takeStep(world.parts, rejected.id, { do: 'reject' });
    expect((await factsOf(world.db, rejected.id)).refunds).toMatchObject([
      { amount: amount('10'), state: 'needs_address', address: null },
    ]);
    expect(await takeStep(world.parts, empty.id, { do: 'reject' })).toMatchObject({
      kind: 'refused',
    });
  });

  test('a deposit from an address of the denylist is held', async () => {
    const { id, address } = await openTestCheckout(world);
    const payer = chain.accounts[5]!;
    await denyAddress(world.db, payer, { by: 'alice', reason: 'test' });
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await settle();
    await allowAddress(world.db, payer, 'bob');
    expect((await factsOf(world.db, id)).checkout.isHeld).toBe(true);
  });

  test('two followers of one chain record each deposit once', async () => {
    const { id, address } = await openTestCheckout(world);
    const first = world.follower;
    world.restart();
    for (let round = 0; round < 5; round += 1) {
      await pay(chain, chain.tokens.USDC, address, 1_000_000n);
      await Promise.all([first.step(), world.follower.step(), first.step(), world.follower.step()]);
    }
    await settle();
    expect(await entriesOf(world, id)).toHaveLength(5);
  });

  test('after an outage the blocks are read in ranges, and nothing is late', async () => {
    const { id, address } = await openTestCheckout(world);
    await world.follow();
    await pay(chain, chain.tokens.USDC, address, 4_000_000n);
    const paidAt = await chain.blockNumber();
    await chain.mine(700);
    await pay(chain, chain.tokens.USDC, address, 6_000_000n);
    await chain.finalize();
    world.restart();
    await world.follow();
    expect(await entriesOf(world, id)).toEqual(['4. final', '6. final']);
    expect((await factsOf(world.db, id)).deposits[0]!.blockNumber).toBe(paidAt);
  });

  // The last one: it leaves the chain paused.
  test('coins that the scan cannot explain raise an alarm of the sums, until they are explained', async () => {
    const walletChain = createChain(world.network);
    const log: Log = () => undefined;
    // Without what an alarm remembers: each check looks for itself.
    const check = () =>
      new SumsCheck(world.db, walletChain, createAlarms(world.db, walletChain, log)).check();
    const open = () =>
      world.db.query<{ subject: string; detail: string }>(
        "SELECT subject, detail FROM wallet.alarm WHERE kind = 'sums_differ' AND cleared_at IS NULL",
      );
    const { address } = await openTestCheckout(world);
    await settle();
    await check();
    expect(await open()).toEqual([]);
    // A checkout that is paid in tokens: nobody looks for coins of contracts there.
    await chain.call('Forwarder', chain.forwarder, 'forward', [address], { value: 7n });
    await settle();
    await check();
    const [alarm] = await open();
    expect(alarm).toMatchObject({ subject: 'ETH' });
    expect(alarm!.detail).toContain('differs by 0.000000000000000007');
    await chain.setBalance(address, 0n);
    await settle();
    await check();
    expect(await open()).toEqual([]);
  });

  test('what sweeps take from the addresses, with its network fees, is in the sums', async () => {
    const walletChain = createChain(world.network);
    const sumsOf = async (asset: string) =>
      (await readSums(world.db, walletChain))!.find((one) => one.asset === asset)!;
    const before = { coins: await sumsOf('ETH'), tokens: await sumsOf('USDC') };
    const { id, address } = await openTestCheckout(world, { asset: 'ETH', amount: amount('1') });
    await chain.send(address, 2n * ETH);
    await pay(chain, chain.tokens.USDC, address, 5_000_000n);
    const { checkout } = await factsOf(world.db, id);
    const { privateKey } = DEPOSIT_ACCOUNT.deriveChild(0).deriveChild(checkout.addressIndex);
    const owner = privateKeyToAccount(toHex(privateKey!));
    const fees = { gas: 100_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n };
    const treasury = chain.accounts[8]!;
    const spend = async (nonce: number, to: Address, value: bigint, data: Hex = '0x') => {
      const order = { ...fees, chainId: chain.chainId, nonce, to, value, data };
      const raw = await owner.signTransaction({ type: 'eip1559', ...order });
      await chain.rpc('eth_sendRawTransaction', [raw]);
    };
    await spend(0, treasury, ETH);
    const args = [treasury, 5_000_000n] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
    await spend(1, chain.tokens.USDC.address, 0n, data);
    await settle();
    const coins = await sumsOf('ETH');
    expect(coins.swept - before.coins.swept).toBe(ETH);
    const left = await chain.balanceOf(null, address);
    expect(coins.fees - before.coins.fees).toBe(ETH - left);
    expect(coins.difference).toBe(before.coins.difference);
    const tokens = await sumsOf('USDC');
    expect(tokens.swept - before.tokens.swept).toBe(5_000_000n);
    expect(tokens.difference).toBe(before.tokens.difference);
  });

  const untilDeposited = (other: DepositsWorld, id: string, failures: string[]): Promise<true> =>
    when('the deposit', async () => {
      await other.follow().catch((error: unknown) => failures.push(errorText(error)));
      return (await entriesOf(other, id))[0] === '10. final' ? true : null;
    });

  test('a node that lacks a block: another node is asked, and the log says why', async () => {
    const node = await startFaultyNode(chain.url);
    const other = await createDepositsWorld(chain, { rpcUrls: [node.url, chain.url] });
    try {
      const { id, address } = await openTestCheckout(other);
      await pay(chain, chain.tokens.USDC, address, 10_000_000n);
      node.lacking = await chain.blockNumber();
      await chain.finalize();
      const failures: string[] = [];
      await untilDeposited(other, id, failures);
      expect(failures).toEqual([
        "a node's answers do not fit together: the node does not have the block",
      ]);
    } finally {
      await other.close();
      await node.close();
    }
  });

  test('a node that gets no new blocks: another node is asked', async () => {
    const node = await startFaultyNode(chain.url);
    const other = await createDepositsWorld(chain, { rpcUrls: [node.url, chain.url] });
    try {
      node.newest = await chain.blockNumber();
      const { id, address } = await openTestCheckout(other);
      await pay(chain, chain.tokens.USDC, address, 10_000_000n);
      await chain.finalize();
      await when('the deposit', async () => {
        await other.follow();
        return (await entriesOf(other, id))[0] === '10. detected' ? true : null;
      });
      // Two nodes must call the block final.
      node.newest = null;
      const failures: string[] = [];
      await untilDeposited(other, id, failures);
      expect(failures).toEqual([]);
    } finally {
      await other.close();
      await node.close();
    }
  });

  test('a reorganization below final changes nothing, pauses the chain and raises an alarm', async () => {
    const { id, address } = await openTestCheckout(world);
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await settle();
    const before = await findPlace(world.db, chain.chainId);
    await chain.reorg(12);
    await world.follow();
    expect(await entriesOf(world, id)).toEqual(['10. final']);
    const after = await findPlace(world.db, chain.chainId);
    expect(after).toMatchObject({ headHash: before!.headHash, finalHash: before!.finalHash });
    expect(after!.pausedReason).toContain('was final');
    expect(await alarms('reorganization_below_final')).toHaveLength(1);
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await world.follow();
    expect(await entriesOf(world, id)).toEqual(['10. final']);
    // Resumed without another chain, it pauses again.
    expect(await resume(world.db, chain.chainId, 'chain', 'bob')).toBe(true);
    await world.follow();
    expect((await findPlace(world.db, chain.chainId))!.pausedReason).not.toBeNull();
  });
});

interface FaultyNode {
  url: string;
  /** A block that it does not know. */
  lacking: number | null;
  /** It has no newer blocks. */
  newest: number | null;
  close: () => Promise<void>;
}

type Answer = { result?: { number?: Hex } | null };

/** In front of a chain's node. */
async function startFaultyNode(url: string): Promise<FaultyNode> {
  const server = createServer((request, response) => {
    void text(request)
      .then((asked) => {
        const body =
          node.newest === null ? asked : asked.replaceAll('"latest"', `"${toHex(node.newest)}"`);
        return fetch(url, { method: 'POST', headers: JSON_BODY, body });
      })
      .then((answer) => answer.json())
      .then((answers: Answer | Answer[]) => {
        for (const one of [answers].flat()) {
          const { number } = one.result ?? {};
          if (number === undefined) continue;
          const isNewer = node.newest !== null && Number(number) > node.newest;
          if (isNewer || Number(number) === node.lacking) one.result = null;
        }
        response.setHeader('content-type', 'application/json').end(JSON.stringify(answers));
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const node: FaultyNode = {
    url: `http://127.0.0.1:${String(port)}`,
    ...{ lacking: null, newest: null },
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
  return node;
}
