/** A pause of payouts stops new transfers and nothing else, so that what is in flight ends. */
import { type Address, type Hex, parseTransaction } from 'viem';
import { withClient } from '../../src/db/provision';
import { amount } from '../../src/domain/money';
import { pause, resume } from '../../src/rails/wallet/chain/pause';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import { createTestSigner, fillFloat, testNetwork } from '../support/wallet/wallet';
import { type PayoutsWorld, startPayoutsWorld } from './payouts-world';
import { waitThroughFaults } from '../support/wait-for';

const GWEI = 10n ** 9n;
const DECISION = { by: 'alice', reason: 'a new key' } as const;

describeWithChain('a pause of payouts, and a new key', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let signer: ReturnType<typeof createTestSigner>;
  /** Takes the place of the signer where a test wants it. */
  let later: typeof signer;
  let receiver: Address;
  let world: PayoutsWorld;

  beforeAll(async () => {
    chain = await startChain();
  });
  afterAll(() => chain.stop());
  beforeEach(async () => {
    [signer, later] = [createTestSigner(), createTestSigner()];
    receiver = createTestSigner().address;
    database = await createWalletDatabase();
    await chain.setNextBaseFee(GWEI);
    await chain.mine();
    for (const { address } of [signer, later]) await fillFloat(chain, address);
    await chain.setAutomine(false);
  });
  afterEach(async () => {
    await world.wallet.stop();
    await chain.drop('all');
    await chain.setAutomine(true);
    await database.drop();
  });

  const start = async (payouts: NonNullable<Parameters<typeof testNetwork>[1]>['payouts'] = {}) => {
    const network = testNetwork(chain, { payouts });
    world = await startPayoutsWorld(chain, receiver, { network, signer, database });
  };
  const pausePayouts = () => pause(world.wallet.db, chain.chainId, 'payouts', DECISION);
  const poolHas = (count: number) =>
    waitThroughFaults(`${String(count)} transactions in the pool`, async () => {
      const pool = await chain.rpc<{ pending: Hex }>('txpool_status', []);
      return Number(pool.pending) === count;
    });

  it('broadcasts what was dropped again, so that nothing is in flight at its end', async () => {
    await start({ resendAfterMs: 300 });
    await world.pay('po_1');
    await world.broadcastOf(1);
    await pausePayouts();
    await chain.drop('all');
    await world.pay('po_2');
    expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
    expect(await world.inFlight()).toBe(0);
    expect(await world.attempts()).toHaveLength(1);
    await resume(world.wallet.db, chain.chainId, 'payouts', 'alice');
    expect(await world.ended('po_2')).toMatchObject({ status: 'sent' });
    expect(await world.received()).toBe(10_000_000n);
  });

  it('raises the fees of what is stuck', async () => {
    await start({ replaceAfterMs: 500 });
    await world.pay('po_1');
    await world.broadcastOf(1);
    await pausePayouts();
    await chain.setNextBaseFee(50n * GWEI);
    await chain.mine();
    expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
    expect((await world.attempts()).length).toBeGreaterThan(1);
    expect(await world.inFlight()).toBe(0);
  });

  it('signs what has a nonce already, because later nonces wait for it', async () => {
    await start();
    await world.pay('po_1');
    await world.broadcastOf(1);
    await pausePayouts();
    await world.wallet.stop();
    // A kill between the nonce and its bytes leaves this.
    await chain.drop('all');
    await withClient(database.ownerUrl, async (client) => {
      await client.query('DELETE FROM wallet.attempt');
      await client.query('UPDATE wallet.slot SET is_signed = false');
    });
    await start();
    expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
    expect(await world.received()).toBe(5_000_000n);
  });

  it('of the whole chain stops every signature and broadcast', async () => {
    await start({ resendAfterMs: 100, replaceAfterMs: 100 });
    await world.pay('po_1');
    await world.broadcastOf(1);
    await pause(world.wallet.db, chain.chainId, 'chain', DECISION);
    await waitThroughFaults('the end of the step', async () => {
      const before = await world.attempts();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return JSON.stringify(before) === JSON.stringify(await world.attempts());
    });
    await chain.drop('all');
    await chain.setNextBaseFee(50n * GWEI);
    await chain.mine(2);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await poolHas(0);
  });

  it('follows the transactions of a replaced key to their end', async () => {
    await start();
    await world.pay('po_1');
    await world.broadcastOf(1);
    const earlier = signer;
    await world.wallet.stop();
    signer = later;
    await chain.drop('all');
    await start({ resendAfterMs: 300 });
    await world.pay('po_2');
    for (const reference of ['po_1', 'po_2']) {
      expect(await world.ended(reference)).toMatchObject({ status: 'sent' });
    }
    expect((await world.attempts()).map((one) => one.signer)).toEqual([
      earlier.address.toLowerCase(),
      signer.address.toLowerCase(),
    ]);
    expect(await world.received()).toBe(10_000_000n);
  });

  it('raises an alarm when a transaction of a replaced key cannot end', async () => {
    await start();
    await world.pay('po_1');
    await world.broadcastOf(1);
    const earlier = signer;
    await world.wallet.stop();
    signer = later;
    await chain.drop('all');
    await chain.setNextBaseFee(50n * GWEI);
    await chain.mine();
    await start({ resendAfterMs: 300, replaceAfterMs: 500 });
    const { subject } = await world.alarm('replaced_signer_stuck');
    expect(subject).toBe(earlier.address.toLowerCase());
    // With the key again, its fees are raised.
    await world.wallet.stop();
    signer = earlier;
    await start({ resendAfterMs: 300, replaceAfterMs: 500 });
    expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
    await world.noAlarm('replaced_signer_stuck');
    expect(await world.received()).toBe(5_000_000n);
  });

  it('estimates the gas again when it raises fees', async () => {
    await start({ replaceAfterMs: 500 });
    await world.pay('po_1', { currency: 'ETH', amount: amount('0.5') });
    await world.broadcastOf(1);
    await chain.setNextBaseFee(50n * GWEI);
    await chain.mine();
    // The recipient becomes a contract that needs more.
    const code = await chain.rpc<Hex>('eth_getCode', [chain.awkwardReceiver, 'latest']);
    await chain.rpc('anvil_setCode', [receiver, code]);
    expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
    const gas = (await world.attempts()).map(({ raw }) => parseTransaction(raw).gas ?? 0n);
    expect(gas.at(-1)).toBeGreaterThan(gas[0]!);
  });
});
