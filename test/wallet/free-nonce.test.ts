/** A freed nonce: the payout is sent once, by its own transaction or after the empty one is final. */
import { type Address, type Hex, parseTransaction } from 'viem';
import { freeNonce } from '../../src/rails/wallet/sender/free-nonce';
import { readStatus } from '../../src/rails/wallet/status';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { startNodeProxy } from '../support/wallet/node-proxy';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import { createTestSigner, fillFloat, testNetwork } from '../support/wallet/wallet';
import { type PayoutsWorld, startPayoutsWorld } from './payouts-world';
import { waitThroughFaults } from '../support/wait-for';

describeWithChain('a nonce that an operator frees', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let signer: ReturnType<typeof createTestSigner>;
  let receiver: Address;
  let world: PayoutsWorld;

  beforeAll(async () => {
    chain = await startChain();
  });
  afterAll(() => chain.stop());
  beforeEach(async () => {
    signer = createTestSigner();
    receiver = createTestSigner().address;
    database = await createWalletDatabase();
    await fillFloat(chain, signer.address);
    await chain.setAutomine(false);
    await start();
    await world.pay('po_1');
    await world.broadcastOf(1);
  });
  afterEach(async () => {
    await world.wallet.stop();
    await chain.drop('all');
    await chain.setAutomine(true);
    await database.drop();
  });

  const start = async (rpcUrls = [chain.url]) => {
    const network = testNetwork(chain, { rpcUrls, payouts: { resendAfterMs: 300 } });
    world = await startPayoutsWorld(chain, receiver, { network, signer, database });
  };
  const free = () =>
    freeNonce(world.wallet.db, {
      ...{ chainId: chain.chainId, nonce: 0n, address: null, by: 'alice', reason: 'stuck' },
    });
  const slots = () =>
    world.wallet.db.query<{ nonce: string; state: string }>(
      'SELECT nonce, state FROM wallet.slot ORDER BY nonce',
    );

  it('gives its payout another one when the empty transaction is final, and not before', async () => {
    expect(await free()).toBe(true);
    expect(await free()).toBe(false);
    const [status] = await readStatus(world.wallet.db, [testNetwork(chain)]);
    expect(status!.hot_wallets).toMatchObject([{ freeing: ['0'] }]);
    const [own, empty] = (await world.broadcastOf(2)).map(({ raw }) => parseTransaction(raw));
    // The same limit as the payout's: some chains count data on the first layer as gas.
    expect(empty).toMatchObject({ nonce: 0, gas: own!.gas });
    expect(empty!.to?.toLowerCase()).toBe(signer.address.toLowerCase());
    expect([empty!.value ?? 0n, empty!.data ?? '0x']).toEqual([0n, '0x']);
    expect(8n * empty!.maxFeePerGas!).toBeGreaterThanOrEqual(9n * own!.maxFeePerGas!);
    await chain.mine();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await slots()).toEqual([{ nonce: '0', state: 'open' }]);
    expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
    expect(await slots()).toEqual([
      { nonce: '0', state: 'foreign' },
      { nonce: '1', state: 'sent' },
    ]);
    expect(await world.received()).toBe(5_000_000n);
    const decisions = await world.wallet.db.query('SELECT kind, reason FROM wallet.decision');
    expect(decisions).toEqual([{ kind: 'free_nonce', reason: 'nonce 0: stuck' }]);
  });

  it('does not give its payout another one on the word of one node', async () => {
    const second = await startNodeProxy(chain.url);
    try {
      // It lags, or is on another branch: the payout's own transaction may be mined there.
      second.alter = ({ method }, result) =>
        method === 'eth_getTransactionReceipt' ? null : result;
      await world.wallet.stop();
      await start([chain.url, second.url]);
      await free();
      await world.broadcastOf(2);
      await chain.mine();
      await chain.finalize();
      await world.alarm('outcome_in_doubt');
      expect(await slots()).toEqual([{ nonce: '0', state: 'open' }]);
      second.alter = (_call, result) => result;
      expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
      expect(await world.received()).toBe(5_000_000n);
      await world.noAlarm('outcome_in_doubt');
    } finally {
      await world.wallet.stop();
      await second.stop();
      await start();
    }
  });

  it('is its payout’s after all when the first transaction is mined', async () => {
    await free();
    const [own] = await world.broadcastOf(2);
    await world.wallet.stop();
    await chain.drop('all');
    await chain.rpc<Hex>('eth_sendRawTransaction', [own!.raw]);
    await chain.mine();
    await start();
    expect(await world.ended('po_1')).toMatchObject({ status: 'sent', txHash: own!.hash });
    expect(await slots()).toEqual([{ nonce: '0', state: 'sent' }]);
    expect(await world.received()).toBe(5_000_000n);
  });

  it('is freed by the next start when the wallet stops at any step', async () => {
    await world.wallet.stop();
    await start();
    await free();
    await world.wallet.stop();
    await start();
    await world.broadcastOf(2);
    await world.wallet.stop();
    await chain.mine();
    await start();
    expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
    await waitThroughFaults('nothing in flight', async () => (await world.inFlight()) === 0);
    expect(await world.received()).toBe(5_000_000n);
  });
});
