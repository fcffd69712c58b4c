/** Which addresses the follower watches. */
import { randomBytes } from 'node:crypto';
import { WatchList } from '../../src/rails/wallet/follower/watch-list';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { createDepositsWorld, type DepositsWorld, openTestCheckout, pay } from './deposits-world';

const SILENT_MS = 300_000;

describeWithChain('the addresses that a follower watches', () => {
  let chain: TestChain;
  let world: DepositsWorld;

  beforeAll(async () => {
    chain = await startChain();
    await chain.finalize();
    world = await createDepositsWorld(chain);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await world.close();
    await chain.stop();
  });

  it('contain one that was given out while the chain had no blocks for minutes', async () => {
    const watched = new WatchList(world.db, 'test');
    await watched.refresh();
    const { id, address } = await openTestCheckout(world);
    // Four of the five minutes ago.
    await world.db.query(
      "UPDATE wallet.checkout SET created_at = now() - interval '4 minutes' WHERE id = $1",
      [id],
    );
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + SILENT_MS);
    await watched.refresh();
    expect(watched.checkoutOf(address.toLowerCase())).toBe(id);
  });

  it('contain an old one again while it is swept, so that what leaves it is booked', async () => {
    const { id, address } = await openTestCheckout(world);
    await pay(chain, null, address, 10n ** 18n);
    await chain.finalize();
    await world.follow();
    await world.db.query(
      `UPDATE wallet.checkout SET expires_at = now() - interval '100 days',
         created_at = now() - interval '101 days' WHERE id = $1`,
      [id],
    );
    world.restart();
    const sweep = randomBytes(8).toString('hex');
    await world.db.query(
      `INSERT INTO wallet.sweep (id, chain_id, asset, destination, cost_wei, funding_wei)
       VALUES ($1, $2, 'ETH', $3, 0, 0)`,
      [sweep, chain.chainId, chain.accounts[1]!.toLowerCase()],
    );
    await world.db.query(
      `INSERT INTO wallet.sweep_transaction (sweep_id, address, nonce, amount, raw)
       VALUES ($1, $2, 0, 1, '0x')`,
      [sweep, address.toLowerCase()],
    );
    await chain.rpc('anvil_impersonateAccount', [address]);
    await chain.send(chain.accounts[1]!, 10n ** 17n, address);
    await chain.finalize();
    await world.follow();
    expect(
      await world.db.query('SELECT units FROM wallet.address_spend WHERE address = $1', [
        address.toLowerCase(),
      ]),
    ).toEqual([{ units: '100000000000000000' }]);
  });
});
