/**
 * Payments on a chain as customers, attackers and nodes make them: in parts, twice, in tokens of the
 * same name, with nothing and with dust, by contracts, in blocks that are replaced, while the wallet
 * is killed. Each is credited with exactly what arrived for good. TEST_SEED repeats a run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describeWithChain } from '../support/wallet/chain';
import { brokenInvariants } from '../support/servers/gateway';
import { type GatewayWithWallet, startGatewayWithWallet } from '../support/wallet/gateway-wallet';
import type { MerchantClient } from '../support/merchant/merchant-client';
import { openedPayment } from '../support/payment/payment-steps';
import { openMerchant } from '../support/payout/payout-steps';
import { scaled } from '../support/scale';
import { chooseSeed, createDice } from '../support/seeded-random';
import { waitThroughFaults } from '../support/wait-for';

const PAYMENTS = scaled(30, 1_000);
const AT_ONCE = 10;
const KILLS = scaled(2, 20);
const CENT = 10_000n;
/** No reorganization reaches the `safe` block, which is 4 behind the head. */
const REORG_DEPTH_MAX = 4;

interface Payment {
  id: string;
  address: Address;
  currency: 'USDC' | 'ETH';
  /** In the smallest unit. */
  units: bigint;
}

/** How the money comes. @returns what arrives for good, in the smallest unit */
type Way = (payment: Payment) => Promise<bigint>;

describeWithChain('payments on a chain', () => {
  const seed = chooseSeed();
  const dice = createDice(seed);
  const payer = privateKeyToAccount(`0x${'5'.repeat(64)}`);
  let world: GatewayWithWallet;
  let client: MerchantClient;

  beforeAll(async () => {
    world = await startGatewayWithWallet();
    ({ client } = await openMerchant(world.gateway, { mode: 'test', funds: {} }));
    const { chain } = world;
    await chain.setBalance(payer.address, 10n ** 24n);
    for (const token of [chain.tokens.USDC, chain.tokens.FAKE]) {
      await chain.mint(token, payer.address, 10n ** 18n);
      await chain.mint(token, chain.accounts[5]!, 10n ** 18n);
    }
    await chain.mint(chain.tokens.USDC, chain.forwarder, 10n ** 18n);
  });
  afterAll(async () => {
    await world.stop();
  });

  /** Signed by the test, so that the same transaction can be mined again. */
  const sign = async ({ currency, address, units }: Payment): Promise<Hex> => {
    const { chain } = world;
    const count = await chain.rpc<Hex>('eth_getTransactionCount', [payer.address, 'latest']);
    const data = encodeFunctionData({
      ...{ abi: erc20Abi, functionName: 'transfer' },
      args: [address, units],
    });
    const pays =
      currency === 'ETH'
        ? { to: address, value: units }
        : { to: chain.tokens.USDC.address, data, value: 0n };
    return payer.signTransaction({
      ...{ ...pays, chainId: chain.chainId, type: 'eip1559', nonce: Number(BigInt(count)) },
      ...{ gas: 100_000n, maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n },
    });
  };
  const send = async (raw: Hex): Promise<void> => {
    await world.chain.rpc('eth_sendRawTransaction', [raw]);
  };
  const transfer = async (payment: Payment, units: bigint): Promise<void> => {
    const { chain } = world;
    const from = chain.accounts[5]!;
    if (payment.currency === 'ETH') await chain.send(payment.address, units, from);
    else await chain.transferToken(chain.tokens.USDC, from, payment.address, units);
  };
  const whenDeposit = (id: string, state: 'detected' | 'vanished'): Promise<true> =>
    waitThroughFaults(`a deposit of ${id} to be ${state}`, async () => {
      const found = await world.db.query(
        `SELECT 1 FROM wallet.deposit JOIN wallet.checkout ON checkout.id = checkout_id
         WHERE client_reference = $1 AND deposit.state = $2`,
        [id, state],
      );
      return found.length > 0;
    });
  /** The wallet sees it in a block that is replaced. @param again mined in the new blocks */
  const replaced = async (payment: Payment, again: boolean): Promise<Hex> => {
    const { chain } = world;
    // Nobody else's transaction is in these blocks.
    await chain.mine(REORG_DEPTH_MAX);
    const raw = await sign(payment);
    await send(raw);
    await whenDeposit(payment.id, 'detected');
    const depth = 1 + dice.roll(REORG_DEPTH_MAX);
    await chain.reorg(depth, again ? [{ transaction: raw, block: dice.roll(depth) }] : []);
    await chain.mine();
    return raw;
  };

  const inFull: Way = async (payment) => {
    await transfer(payment, payment.units);
    return payment.units;
  };
  const WAYS: Record<string, Way> = {
    'in full': inFull,
    'in parts': async (payment) => {
      await transfer(payment, payment.units / 2n);
      await transfer(payment, payment.units / 2n);
      return payment.units;
    },
    twice: async (payment) => {
      await transfer(payment, payment.units);
      await transfer(payment, payment.units);
      return 2n * payment.units;
    },
    never: () => Promise.resolve(0n),
    'with another token of the same name': async ({ address, units }) => {
      const { FAKE } = world.chain.tokens;
      await world.chain.transferToken(FAKE, world.chain.accounts[5]!, address, units);
      return 0n;
    },
    'with nothing and dust before': async (payment) => {
      await transfer(payment, 0n);
      if (payment.currency === 'USDC') await transfer(payment, 1n);
      return inFull(payment);
    },
    'by a contract, several at once': async (payment) => {
      const { chain } = world;
      const { currency, address, units } = payment;
      if (currency === 'ETH') {
        await chain.call('Forwarder', chain.forwarder, 'forward', [address], { value: units });
        return units;
      }
      const args = [chain.tokens.USDC.address, [address, address, address], units];
      await chain.call('Forwarder', chain.forwarder, 'splitToken', args);
      return 3n * units;
    },
    'in a block that is replaced': async (payment) => {
      await replaced(payment, true);
      return payment.units;
    },
    'in a block that is replaced, and later again': async (payment) => {
      const raw = await replaced(payment, false);
      await whenDeposit(payment.id, 'vanished');
      await send(raw);
      return payment.units;
    },
    'in a block that is replaced for ever': async (payment) => {
      await replaced(payment, false);
      return 0n;
    },
  };

  const open = async (index: number): Promise<Payment> => {
    const currency = index % 3 === 2 ? 'ETH' : 'USDC';
    // Each has an amount of its own, so that one that is taken for another shows.
    const cents = BigInt(index + 150);
    const amount = `${String(cents / 100n)}.${String(cents % 100n).padStart(2, '0')}`;
    const id = await openedPayment(client, {
      ...{ currency, amount, network: 'ethereum', provider: 'onchain_provider' },
      // Blocks that are mined faster than one a second have times in the future.
      expires_in: 86_400,
    });
    const [row] = await world.db.query<{ address: Address }>(
      'SELECT address FROM wallet.checkout WHERE client_reference = $1',
      [id],
    );
    const units = currency === 'ETH' ? cents * 10n ** 16n : cents * CENT;
    return { id, address: row!.address, currency, units };
  };

  /** Payment → what the gateway has credited, in hundred-millionths. */
  const readCredits = async (): Promise<Map<string, bigint>> => {
    const found = await world.gateway.db.query<{ id: string; units: string }>(
      `SELECT payment_id AS id, trunc(sum(amount) * 1e8)::text AS units
       FROM payment_credits GROUP BY payment_id`,
    );
    return new Map(found.map(({ id, units }) => [id, BigInt(units)]));
  };

  test(
    `${String(PAYMENTS)} payments are credited with what arrived (seed ${String(seed)})`,
    async () => {
      const { chain, wallet, gateway } = world;
      const expected: { payment: Payment; way: string; arrived: bigint }[] = [];
      const killEvery = Math.ceil(PAYMENTS / KILLS);
      let kills = 0;
      const names = Object.keys(WAYS);
      for (let from = 0; from < PAYMENTS; from += AT_ONCE) {
        const many = Math.min(AT_ONCE, PAYMENTS - from);
        const opened = await Promise.all(
          Array.from({ length: many }, (_, index) => open(from + index)),
        );
        for (const [index, payment] of opened.entries()) {
          // Each way in both currencies, and then by chance.
          const turn = from + index;
          const way = turn < 3 * names.length ? names[turn % names.length]! : dice.pick(names);
          expected.push({ payment, way, arrived: await WAYS[way]!(payment) });
          if (expected.length % killEvery !== 0 || kills >= KILLS - 1) continue;
          kills += 1;
          await wallet.kill();
          await wallet.start();
        }
      }
      // What contracts send in coins is looked for when a process begins, and then once a minute.
      await chain.finalize();
      kills += 1;
      await wallet.kill();
      await wallet.start();
      const wrong = async (): Promise<string[]> => {
        const credits = await readCredits();
        return expected.flatMap(({ payment: { id, currency }, way, arrived }) => {
          const wanted = currency === 'ETH' ? arrived / 10n ** 10n : arrived * 100n;
          const credited = credits.get(id) ?? 0n;
          if (credited === wanted) return [];
          return [`${id} ${currency} ${way}: ${String(credited)} of ${String(wanted)}`];
        });
      };
      await waitThroughFaults(
        'the credits',
        async () => {
          await chain.finalize();
          await sleep(1_000);
          return (await wrong()).length === 0;
        },
        scaled(300_000, 600_000),
      ).catch(() => undefined);
      expect(await wrong()).toEqual([]);
      expect(kills).toBe(KILLS);

      const statuses = await gateway.db.query<{ id: string; status: string }>(
        'SELECT id, status FROM payments',
      );
      const status = new Map(statuses.map((one) => [one.id, one.status]));
      const unfinished = expected.filter(
        ({ payment, arrived }) => (status.get(payment.id) === 'completed') !== arrived > 0n,
      );
      expect(unfinished.map(({ payment: { id }, way }) => [id, way, status.get(id)])).toEqual([]);
      expect(await brokenInvariants(gateway)).toEqual([]);
      expect(await world.sums()).toMatchObject([
        { asset: 'ETH', swept: 0n, owed: 0n, difference: 0n },
        { asset: 'USDC', swept: 0n, owed: 0n, difference: 0n },
      ]);
      await chain.finalize();
      await sleep(1_000);
      expect(await wrong()).toEqual([]);
      const [moves] = await world.db.query<{ deposits: number }>(
        "SELECT count(*)::int AS deposits FROM wallet.deposit WHERE state = 'final'",
      );
      console.log(
        `${String(PAYMENTS)} payments, ${String(moves!.deposits)} deposits, ${String(kills)} kills, seed ${String(seed)}`,
      );
    },
    scaled(300_000, 2_400_000),
  );
});
