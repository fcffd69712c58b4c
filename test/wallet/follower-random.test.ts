/**
 * Deposits by chance: tokens, coins, coins by contracts, dust, nothing, tokens that are not listed,
 * transactions that pay many, and reorganizations that take some of it back. In the end the wallet
 * has credited exactly what the chain has on its addresses. TEST_SEED repeats a run.
 */
import type { Address } from 'viem';
import { amount } from '../../src/domain/money';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { readSums } from '../../src/rails/wallet/sums';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { scaled } from '../support/scale';
import { chooseSeed, createDice } from '../support/seeded-random';
import {
  createDepositsWorld,
  type DepositsWorld,
  factsOf,
  openTestCheckout,
} from './deposits-world';

/** Credited in the end; what reorganizations took back for ever is not counted. */
const DEPOSITS = scaled(100, 1_000);
const ROUNDS_BETWEEN_COUNTS = 20;
const CHECKOUTS = 12;

describeWithChain('deposits by chance', () => {
  const seed = chooseSeed();
  const dice = createDice(seed);
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

  test(`what is credited is what the chain has (seed ${String(seed)})`, async () => {
    const { USDC, DAI, FAKE, USDT } = chain.tokens;
    const payer = chain.accounts[5]!;
    const checkouts: { id: string; address: Address; asset: string }[] = [];
    for (let index = 0; index < CHECKOUTS; index += 1) {
      const asset = dice.pick(['USDC', 'ETH', 'DAI', 'USDT']);
      const opened = await openTestCheckout(world, { asset, amount: amount('3') });
      checkouts.push({ ...opened, asset });
    }
    for (const token of [USDC, DAI, FAKE, USDT]) await chain.mint(token, payer, 10n ** 24n);
    for (const token of [USDC, DAI]) await chain.mint(token, chain.forwarder, 10n ** 24n);

    const units = (): bigint => dice.pick([0n, 1n, 9_999n, 500_000n, 3_000_000n]);
    const anybody = (): Address => dice.pick(checkouts).address;
    const actions: (() => Promise<unknown>)[] = [
      () => chain.transferToken(dice.pick([USDC, USDT, DAI]), payer, anybody(), units()),
      () => chain.transferToken(dice.pick([USDC, USDT, DAI]), payer, anybody(), units()),
      () => chain.transferToken(FAKE, payer, anybody(), units()),
      () => chain.send(anybody(), units() * 10n ** 11n, payer),
      () =>
        chain.call('Forwarder', chain.forwarder, 'splitToken', [
          ...[dice.pick([USDC, DAI]).address, [anybody(), anybody(), anybody()], 70_000n],
        ]),
      // Only to checkouts in coins: what contracts send elsewhere shows in the sums alone.
      () => {
        const paidInCoins = checkouts.filter(({ asset }) => asset === 'ETH');
        return paidInCoins.length === 0
          ? Promise.resolve()
          : chain.call('Forwarder', chain.forwarder, 'forward', [dice.pick(paidInCoins).address], {
              value: units() * 10n ** 11n + 1n,
            });
      },
      () => chain.mine(1 + dice.roll(3)),
      () => world.follow(),
      () => world.follow(),
      async () => {
        // Some transfers that were taken back come again in another block.
        const fields = { from: payer, to: anybody(), value: '0x2540be400' };
        const again = Array.from({ length: dice.roll(3) }, () => ({
          ...{ transaction: fields, block: 0 },
        }));
        await chain.reorg(1 + dice.roll(4), again);
      },
      async () => {
        world.restart();
        await Promise.all([world.follower.step(), world.follower.step()]);
      },
    ];
    const settleAll = async (): Promise<void> => {
      for (let times = 0; times < 2; times += 1) {
        await chain.finalize();
        await world.follow();
      }
    };
    const countFinal = async (): Promise<number> => {
      const [row] = await world.db.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM wallet.deposit WHERE state = 'final'",
      );
      return row!.count;
    };
    let rounds = 0;
    while ((await countFinal()) < DEPOSITS) {
      for (let round = 0; round < ROUNDS_BETWEEN_COUNTS; round += 1) await dice.pick(actions)();
      rounds += ROUNDS_BETWEEN_COUNTS;
    }
    await settleAll();
    const reorganizations = world.logged.filter(({ message }) => message === 'reorganization');
    console.log(
      `${String(await countFinal())} deposits credited, ${String(rounds)} rounds, ${String(reorganizations.length)} reorganizations, seed ${String(seed)}`,
    );

    for (const { id, address } of checkouts) {
      const { deposits } = await factsOf(world.db, id);
      expect(deposits.filter(({ state }) => state === 'detected')).toEqual([]);
      const assets = [
        ...[
          { asset: 'USDC', token: USDC },
          { asset: 'USDT', token: USDT },
        ],
        ...[
          { asset: 'DAI', token: DAI },
          { asset: 'ETH', token: null },
        ],
      ];
      for (const { asset, token } of assets) {
        const credited = deposits
          .filter((one) => one.asset === asset && one.state === 'final')
          .reduce((sum, one) => sum + one.units, 0n);
        const credit = { id, asset, credited };
        expect(credit).toEqual({ id, asset, credited: await chain.balanceOf(token, address) });
      }
    }
    const sums = await readSums(world.db, createChain(world.network));
    expect(sums?.map(({ asset, difference }) => ({ asset, difference }))).toEqual(
      ['ETH', 'USDC', 'USDT', 'DAI', 'FALSE'].map((asset) => ({ asset, difference: 0n })),
    );
  });
});
