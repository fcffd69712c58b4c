/** The sums ask about the addresses that changed, and about the others in turn. */
import type { Address } from 'viem';
import { amount } from '../../src/domain/money';
import { listAlarms } from '../../src/rails/wallet/alarm-decisions';
import { createAlarms } from '../../src/rails/wallet/alarms';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { dropArrivalsAbove } from '../../src/rails/wallet/checkouts/deposits';
import { readSums, SumsCheck } from '../../src/rails/wallet/sums';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { type NodeProxy, startNodeProxy } from '../support/wallet/node-proxy';
import { createDepositsWorld, type DepositsWorld, openTestCheckout, pay } from './deposits-world';

const ADDRESSES = 1_000;
const IN_TURN = 100;
/** ETH, USDC, USDT, DAI and FALSE. */
const ASSETS = 5;

describeWithChain('the sums', () => {
  let chain: TestChain;
  let node: NodeProxy;
  let world: DepositsWorld;

  beforeAll(async () => {
    chain = await startChain();
    await chain.finalize();
    node = await startNodeProxy(chain.url);
    world = await createDepositsWorld(chain, { rpcUrls: [node.url] });
  });
  afterAll(async () => {
    await world.close();
    await node.stop();
    await chain.stop();
  });

  /** One round. @returns how many balances the node was asked for */
  const compare = async (): Promise<number> => {
    const walletChain = createChain(world.network);
    node.calls.clear();
    const alarms = createAlarms(world.db, walletChain, () => undefined);
    await new SumsCheck(world.db, walletChain, alarms, IN_TURN).check();
    return (node.calls.get('eth_getBalance') ?? 0) + (node.calls.get('eth_call') ?? 0);
  };
  const received = async (asset: string): Promise<bigint | undefined> =>
    (await readSums(world.db, createChain(world.network)))?.find((one) => one.asset === asset)
      ?.on_addresses;
  const settle = async (): Promise<void> => {
    // Coins are compared at the block up to which contracts' coins were looked for.
    for (let round = 0; round < 2; round += 1) {
      await chain.finalize();
      await world.follow();
    }
  };
  const alarms = async (): Promise<string[]> =>
    (await listAlarms(world.db)).map(({ kind, subject }) => `${kind} ${subject}`);

  it('ask a node about what changed and a bounded number of others, however many addresses there are', async () => {
    const { address } = await openTestCheckout(world);
    // Given out, and never paid.
    await world.db.query(
      `INSERT INTO wallet.checkout (id, mode, client_reference, network, chain_id, asset, decimals,
         amount, address, address_index, expires_at)
       SELECT 'many_' || n, mode, 'many_' || n, network, chain_id, asset, decimals, amount,
         '0x' || lpad(to_hex(n + 4096), 40, 'a'), 100000 + n, expires_at
       FROM wallet.checkout, generate_series(1, $1) AS n`,
      [ADDRESSES],
    );
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await settle();
    expect(await compare()).toBeLessThanOrEqual(ASSETS * (IN_TURN + 1));
    expect(await compare()).toBe(ASSETS * IN_TURN);
    expect(await received('USDC')).toBe(10_000_000n);
    await pay(chain, chain.tokens.USDC, address, 5_000_000n);
    await settle();
    expect(await compare()).toBe(ASSETS * IN_TURN + 1);
    expect(await received('USDC')).toBe(15_000_000n);
    expect(await alarms()).toEqual([]);
  });

  it('find coins that a contract sent to a checkout in tokens when their turn comes', async () => {
    const { address } = await openTestCheckout(world);
    await chain.call('Forwarder', chain.forwarder, 'forward', [address], { value: 5n });
    await settle();
    let rounds = 0;
    while (!(await alarms()).includes('sums_differ ETH') && rounds <= ADDRESSES / IN_TURN) {
      await compare();
      rounds += 1;
    }
    expect(await alarms()).toEqual(['sums_differ ETH']);
    expect(await received('ETH')).toBe(5n);
  });

  it('forget what was kept of blocks that a reorganization took back', async () => {
    const opened = await openTestCheckout(world, { asset: 'ETH', amount: amount('1') });
    const to: Address = opened.address;
    await pay(chain, null, to, 10n ** 18n);
    await settle();
    await compare();
    const kept = () =>
      world.db.query('SELECT 1 FROM wallet.address_balance WHERE address = $1 AND units > 0', [
        to.toLowerCase(),
      ]);
    expect(await kept()).toHaveLength(1);
    const parts = { chainId: chain.chainId, rules: world.network.deposits, pageUrl: String };
    await world.db.transaction((tx) => dropArrivalsAbove(tx, parts, 1));
    expect(await kept()).toEqual([]);
  });
});
