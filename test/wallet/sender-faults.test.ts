/** What goes wrong on a chain while the wallet pays, and that each payout is sent once or not at all. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { type Address, getAddress, type Hex, parseTransaction } from 'viem';
import { amount } from '../../src/domain/money';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { pause, resume } from '../../src/rails/wallet/chain/pause';
import { Database } from '../../src/rails/wallet/db/database';
import { allowAddress, denyAddress } from '../../src/rails/wallet/sender/denylist';
import { decideUnknown } from '../../src/rails/wallet/sender/decide-unknown';
import { lockSigner, readSigner, stopSigner } from '../../src/rails/wallet/sender/slots';
import { readStatus } from '../../src/rails/wallet/status';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../support/wallet/wallet';
import { createOperator } from './operator';
import { waitThroughFaults } from '../support/wait-for';
import { payoutsOf } from './payouts-world';

const GWEI = 10n ** 9n;

describeWithChain('a payout of the wallet', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let signer: ReturnType<typeof createTestSigner>;
  let wallet: TestWallet | undefined;
  let receiver: Address;

  beforeAll(async () => {
    chain = await startChain();
  });
  afterAll(() => chain.stop());
  beforeEach(async () => {
    signer = createTestSigner();
    receiver = createTestSigner().address;
    database = await createWalletDatabase();
    await chain.setAutomine(true);
    await fillFloat(chain, signer.address);
  });
  afterEach(async () => {
    await wallet?.stop();
    wallet = undefined;
    await database.drop();
  });

  type Changes = Parameters<typeof testNetwork>[1];
  const start = async (changes: Changes = {}): Promise<TestWallet> => {
    const networks = [testNetwork(chain, changes)];
    wallet = await startTestWallet({ networks, signer, database });
    return wallet;
  };
  const { find, ended, sent, attempts, broadcastOf, kindsOfAlarms, alarm, noAlarm, received, pay } =
    payoutsOf(() => ({ chain, wallet: wallet!, receiver }));
  const operator = createOperator(
    () => testNetwork(chain),
    () => wallet!.db,
  );

  it('is not broadcast before its bytes are stored', async () => {
    await chain.setAutomine(false);
    await start();
    const other = new Database(database.url, { size: 1 });
    const store = async (): Promise<void> =>
      other.transaction(async (tx) => {
        // The wallet can sign, and has to wait with the bytes.
        await tx.query('LOCK TABLE wallet.attempt IN SHARE MODE');
        await pay('po_1');
        await waitThroughFaults('the bytes that wait', async () => {
          const waiting = await wallet!.db.query(
            `SELECT 1 FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          return waiting.length > 0;
        });
        const count = ['eth_getTransactionCount', [signer.address, 'pending']] as const;
        expect(await chain.rpc<Hex>(...count)).toBe('0x0');
      });
    await store().finally(() => other.destroy());
    expect(await broadcastOf(1)).toHaveLength(1);
  });

  it('has one slot that can move money, whatever the program does', async () => {
    await chain.setAutomine(false);
    await start();
    await pay('po_1');
    await broadcastOf(1);
    const columns = `transfer_id, asset, units, recipient, data, value_wei, gas, max_fee_per_gas,
      max_priority_fee_per_gas`;
    const again = `INSERT INTO wallet.slot (chain_id, signer, nonce, ${columns})
      SELECT chain_id, signer, nonce + 1, ${columns} FROM wallet.slot`;
    await expect(wallet!.db.query(again)).rejects.toThrow(/slot_transfer/);
  });

  it('is broadcast again when the node has it already', async () => {
    await chain.setAutomine(false);
    await start();
    await pay('po_1');
    const [first] = await broadcastOf(1);
    await wallet!.db.query('UPDATE wallet.attempt SET broadcast_at = NULL');
    expect((await broadcastOf(1)).map(({ hash }) => hash)).toEqual([first?.hash]);
    expect(await ended()).toMatchObject({ status: 'sent', txHash: first?.hash });
    expect(await received()).toBe(5_000_000n);
    expect(await kindsOfAlarms()).toEqual([]);
  });

  it('waits for an operator when somebody else used its nonce, and is then sent once', async () => {
    await chain.setAutomine(false);
    await start();
    await pay('po_1');
    await broadcastOf(1);
    await chain.drop('all');
    // The same key in another program.
    const raw = await signer.sign({
      ...{
        type: 'eip1559',
        chainId: chain.chainId,
        nonce: 0,
        to: receiver,
        value: 1n,
        gas: 21_000n,
      },
      ...{ maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: GWEI },
    });
    const hash = await chain.rpc<Hex>('eth_sendRawTransaction', [raw]);
    await chain.mine();
    await chain.finalize();
    await alarm('signer_stopped');
    await pay('po_2');
    await chain.mine(3);
    expect(await find()).toMatchObject({ status: 'pending' });
    expect(await attempts()).toHaveLength(1);

    await operator.cancelUntilUnknown(() => chain.finalize());
    const decision = { by: 'alice', reason: 'sent by hand', foreign: [hash] };
    await decideUnknown(wallet!.db, createChain(testNetwork(chain)), signer.address, decision);
    await chain.setAutomine(true);
    await sent('po_1', 'po_2');
    expect(await received()).toBe(10_000_000n);
    expect(await kindsOfAlarms()).toEqual([]);
  });

  it('is not stopped for a nonce of somebody else that an operator has dealt with meanwhile', async () => {
    await chain.setAutomine(false);
    await start();
    await pay('po_1');
    await broadcastOf(1);
    const key = { chainId: chain.chainId, signer: signer.address.toLowerCase() };
    const other = new Database(database.url, { size: 2 });
    let stopping: Promise<boolean> | undefined;
    // What a restore does, while the sender is about to stop the signer.
    await wallet!.db.transaction(async (tx) => {
      await lockSigner(tx, key);
      await tx.query("UPDATE wallet.slot SET state = 'foreign' WHERE signer = $1", [key.signer]);
      stopping = other.transaction((later) =>
        stopSigner(later, key, 'an old reason', { openNonce: 0n }),
      );
      await waitThroughFaults('the stop that waits', async () => {
        const waiting = await other.query(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
    });
    expect(await stopping).toBe(false);
    expect((await readSigner(other, key)).stoppedReason).toBeNull();
    await other.destroy();
  });

  it('gets higher fees in the same slot when the base fee jumps', async () => {
    await chain.setAutomine(false);
    await start({ payouts: { replaceAfterMs: 200 } });
    await pay('po_1');
    const [first] = await broadcastOf(1);
    await chain.setNextBaseFee(50n * GWEI);
    await chain.mine();
    await broadcastOf(2);
    await sent('po_1');
    const [before, after] = (await attempts()).map(({ raw }) => parseTransaction(raw));
    expect(after?.nonce).toBe(before?.nonce);
    expect(after?.data).toBe(before?.data);
    for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
      expect(8n * (after?.[fee] ?? 0n)).toBeGreaterThanOrEqual(9n * (before?.[fee] ?? 0n));
    }
    expect((await find()).txHash).not.toBe(first?.hash);
    expect(await received()).toBe(5_000_000n);
    await chain.setNextBaseFee(GWEI);
    await chain.mine();
  });

  it('gets no higher fees than the maximum, and an alarm is raised', async () => {
    await chain.setAutomine(false);
    await start({ payouts: { replaceAfterMs: 100, maxFeePerGasWei: 3n * GWEI } });
    await pay('po_1');
    await waitThroughFaults('the alarm, with blocks that do not take the payout', async () => {
      await chain.setNextBaseFee(20n * GWEI);
      await chain.mine();
      return (await kindsOfAlarms()).includes('fee_cap_reached');
    });
    for (const { raw } of await attempts()) {
      expect(parseTransaction(raw).maxFeePerGas).toBeLessThanOrEqual(3n * GWEI);
    }
    await chain.setNextBaseFee(GWEI);
    await sent('po_1');
    expect(await received()).toBe(5_000_000n);
  });

  it('is broadcast again when the pool lost it, the lowest nonce first', async () => {
    await chain.setAutomine(false);
    await start({ payouts: { resendAfterMs: 300 } });
    for (const reference of ['po_1', 'po_2', 'po_3']) await pay(reference);
    await broadcastOf(3);
    await chain.drop('all');
    await sent('po_1', 'po_2', 'po_3');
    expect(await attempts()).toHaveLength(3);
    expect(await received()).toBe(15_000_000n);
  });

  it('waits without money for network fees, and goes on after a refill', async () => {
    await chain.setBalance(signer.address, 0n);
    await start();
    await pay('po_1');
    await alarm('gas_money_low');
    const told = { kind: 'gas_money_low', network: 'ethereum', detail: expect.any(String) };
    const listed = await wallet!.provider.listAlarms();
    expect(listed).toMatchObject({ kind: 'alarms', alarms: [told] });
    expect(await attempts()).toHaveLength(0);
    await chain.setBalance(signer.address, 10n ** 18n);
    await sent('po_1');
    await noAlarm('gas_money_low');
    expect(await wallet!.provider.listAlarms()).toEqual({ kind: 'alarms', alarms: [] });
  });

  it('waits while the coins do not cover the fee for data on the first layer', async () => {
    const oracle = '0x420000000000000000000000000000000000000F';
    // Returns the fee for any question.
    const charge = (wei: bigint) =>
      chain.rpc('anvil_setCode', [
        oracle,
        `0x7f${wei.toString(16).padStart(64, '0')}60005260206000f3`,
      ]);
    await charge(60n * 10n ** 18n);
    await start();
    await pay('po_1');
    await alarm('gas_money_low');
    expect(await attempts()).toHaveLength(0);
    await charge(1n);
    await sent('po_1');
    await noAlarm('gas_money_low');
    await chain.rpc('anvil_setCode', [oracle, '0x']);
  });

  it('waits for the float of its own token, without holding up others', async () => {
    await start({ payouts: { floatMinimum: { USDC: amount('2000000') } } });
    await alarm('float_below_minimum');
    await pay('po_1', { amount: amount('1500000') });
    await alarm('float_low');
    await pay('po_2', { currency: 'USDT' });
    await sent('po_2');
    expect(await find()).toMatchObject({ status: 'pending' });
    await chain.mint(chain.tokens.USDC, signer.address, 10n ** 13n);
    await sent('po_1');
    await noAlarm('float_below_minimum');
  });

  it('fails without using a nonce when the receiver refuses it', async () => {
    await start();
    await pay('po_1', { currency: 'ETH' }, chain.awkwardReceiver);
    expect(await ended()).toMatchObject({ status: 'failed', txHash: null });
    expect(await attempts()).toHaveLength(0);
  });

  it('fails with its nonce used when the receiver refuses it later', async () => {
    const setRefusing = (on: boolean) =>
      chain.call('AwkwardReceiver', chain.awkwardReceiver, 'setRefusing', [on]);
    await setRefusing(false);
    await chain.setAutomine(false);
    await start({ payouts: { resendAfterMs: 300 } });
    await pay('po_1', { currency: 'ETH' }, chain.awkwardReceiver);
    await broadcastOf(1);
    await chain.drop('all');
    await setRefusing(true);
    await chain.mine();
    expect(await ended()).toMatchObject({ status: 'failed', txHash: expect.any(String) });
    const count = await chain.rpc<Hex>('eth_getTransactionCount', [signer.address, 'latest']);
    expect(BigInt(count)).toBe(1n);
  });

  it('reaches a receiver that needs more gas than a plain transfer', async () => {
    await chain.call('AwkwardReceiver', chain.awkwardReceiver, 'setRefusing', [false]);
    await start();
    await pay('po_1', { currency: 'ETH' }, chain.awkwardReceiver);
    await sent('po_1');
  });

  it('fails without using a nonce when the receiver takes more gas than gas_max', async () => {
    await chain.call('AwkwardReceiver', chain.awkwardReceiver, 'setRefusing', [false]);
    await start({ payouts: { gasMax: 21_000n } });
    await pay('po_1', { currency: 'ETH' }, chain.awkwardReceiver);
    expect(await ended()).toMatchObject({ status: 'failed', txHash: null });
    expect(await attempts()).toHaveLength(0);
    await pay('po_2', { currency: 'ETH' });
    await sent('po_2');
  });

  it('is not sent when the token reports success and transfers nothing', async () => {
    await start();
    await pay('po_1', { currency: 'FALSE' });
    await broadcastOf(1);
    await chain.finalize();
    await alarm('not_transferred');
    expect(await find()).toMatchObject({ status: 'pending', txHash: null });
    expect(await kindsOfAlarms()).toEqual(['not_transferred']);
  });

  it('is sent with an alarm when the token keeps a part', async () => {
    const setFee = (points: bigint) =>
      chain.call('TetherLikeToken', chain.tokens.USDT.address, 'setFee', [points]);
    await setFee(100n);
    await start();
    await pay('po_1', { currency: 'USDT' });
    await sent('po_1');
    expect(await received('USDT')).toBe(4_950_000n);
    expect(await kindsOfAlarms()).toEqual(['not_transferred']);
    await setFee(0n);
  });

  it('is sent again after a reorganisation, and is pending until then', async () => {
    await start({ payouts: { resendAfterMs: 300 } });
    await chain.mine(3);
    await pay('po_1');
    await broadcastOf(1);
    expect(await received()).toBe(5_000_000n);
    await chain.setAutomine(false);
    await chain.reorg(2);
    expect(await received()).toBe(0n);
    expect(await find()).toMatchObject({ status: 'pending' });
    await sent('po_1');
    expect(await received()).toBe(5_000_000n);
    expect(await attempts()).toHaveLength(1);
  });

  it('is sent by the second node when the first one hangs', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const rpcUrls = [`http://127.0.0.1:${String(port)}`, chain.url];
    await start({ rpcUrls, rpcTimeoutMs: 300 });
    await pay('po_1');
    await sent('po_1');
    silent.close();
  });

  it('waits while no node answers, and goes on afterwards', async () => {
    await start({ rpcTimeoutMs: 300 });
    await chain.suspend();
    await pay('po_1');
    await alarm('chain_unavailable');
    expect(await find()).toMatchObject({ status: 'pending' });
    chain.resume();
    await sent('po_1');
    expect(await kindsOfAlarms()).toEqual([]);
    expect(await received()).toBe(5_000_000n);
  });

  it('waits for the limits of the hour and the day', async () => {
    const limits = { USDC: { hour: amount('8'), day: amount('12') } };
    await start({ payouts: { limits } });
    await pay('po_1');
    await pay('po_2');
    await alarm('limit_reached');
    await sent('po_1');
    expect(await find('po_2')).toMatchObject({ status: 'pending' });
    const age = async (hours: number) =>
      wallet!.db.query(
        `UPDATE wallet.slot SET created_at = created_at - make_interval(hours => ${String(hours)})`,
      );
    await age(2);
    await sent('po_2');
    await age(2);
    await pay('po_3');
    await alarm('limit_reached');
    await age(24);
    await sent('po_3');
    await noAlarm('limit_reached');
  });

  it('waits while the chain is paused, and fails when its address is denied meanwhile', async () => {
    await start({
      payouts: { floatMinimum: { USDC: amount('2000000'), USDT: amount('2000000') } },
    });
    const lowFloats = (count: number) =>
      waitThroughFaults(`${String(count)} low floats`, async () => {
        const low = (await kindsOfAlarms()).filter((kind) => kind === 'float_below_minimum');
        return low.length === count;
      });
    await lowFloats(2);
    await pause(wallet!.db, chain.chainId, 'payouts', { by: 'alice', reason: 'test' });
    await pay('po_1');
    await pay('po_2', {}, chain.accounts[5]);
    // Each is noticed in another round of the sender, so that one with the orders is over.
    await chain.mint(chain.tokens.USDC, signer.address, 10n ** 13n);
    await lowFloats(1);
    await chain.mint(chain.tokens.USDT, signer.address, 10n ** 13n);
    await lowFloats(0);
    expect(await attempts()).toHaveLength(0);
    await denyAddress(wallet!.db, receiver, { by: 'alice', reason: 'test' });
    await resume(wallet!.db, chain.chainId, 'payouts', 'alice');
    expect(await ended()).toMatchObject({ status: 'failed', txHash: null });
    await sent('po_2');
    const refused = await wallet!.provider.submitPayout({
      ...{ reference: 'po_3', amount: amount('1'), currency: 'USDC', network: 'ethereum' },
      destination: { type: 'crypto_address', value: getAddress(receiver), memo: null },
    });
    expect(refused).toMatchObject({ kind: 'refused' });
    await allowAddress(wallet!.db, receiver, 'bob');
  });

  it('stops the signer when the chain knows more of its transactions than the database', async () => {
    await start();
    await pay('po_1');
    await ended();
    await chain.setNonce(signer.address, 5);
    await alarm('signer_stopped');
    await pay('po_2');
    const network = createChain(testNetwork(chain));
    await operator.cancel();
    await waitThroughFaults('the nonces that no node shows', async () => {
      await chain.finalize();
      return (await operator.look())[0]!.unseen_nonces.length === 4;
    });
    const decide = (unseen: bigint[]) =>
      decideUnknown(wallet!.db, network, signer.address, {
        by: 'alice',
        reason: 'by hand',
        unseen,
      });
    await expect(decide([7n])).rejects.toThrow(/Nonce 7 is not among/);
    await decide([1n, 2n, 3n, 4n]);
    await sent('po_2');
    const decisions = await wallet!.db.query(
      'SELECT decided_by, reason FROM wallet.decision WHERE address = $1 ORDER BY id',
      [signer.address.toLowerCase()],
    );
    // The refused attempt has decided nothing.
    expect(decisions).toEqual([
      { decided_by: 'alice', reason: expect.stringContaining('nonces 5 to 68: the runbook') },
      {
        decided_by: 'alice',
        reason: expect.stringMatching(/nonce 4 has paid no payout: by hand$/),
      },
    ]);
  });

  it('is sent with a new key that takes the place of the hot wallet’s', async () => {
    const changes = { payouts: { floatMinimum: { ETH: amount('1') } } };
    const hotWallets = async () => {
      const [status] = await readStatus(wallet!.db, [testNetwork(chain, changes)]);
      return status!.hot_wallets.map(({ address, replaced_at: at, floats }) => ({
        address: getAddress(address),
        isReplaced: at !== null,
        isLow: floats.some(({ is_low: isLow }) => isLow),
      }));
    };
    const { chainId } = chain;
    await start(changes);
    await pay('po_1');
    await ended();
    await pause(wallet!.db, chainId, 'payouts', { by: 'alice', reason: 'a new key' });
    await pay('po_2');
    const earlier = signer;
    await wallet!.stop();
    signer = createTestSigner();
    await fillFloat(chain, signer.address);
    await chain.setBalance(earlier.address, 0n);
    await start(changes);
    await resume(wallet!.db, chainId, 'payouts', 'alice');
    await sent('po_2');
    expect(await received()).toBe(10_000_000n);
    const left = await chain.balanceOf(chain.tokens.USDC, signer.address);
    expect(left).toBe(1_000_000_000_000n - 5_000_000n);
    const both = await hotWallets();
    expect(both).toHaveLength(2);
    expect(both).toContainEqual({ address: earlier.address, isReplaced: true, isLow: false });
    expect(both).toContainEqual({ address: signer.address, isReplaced: false, isLow: false });
    // The first key is used again: what it has counts again.
    await wallet!.stop();
    signer = earlier;
    await start(changes);
    await alarm('float_below_minimum');
    expect(await hotWallets()).toContainEqual({
      ...{ address: earlier.address, isReplaced: false, isLow: true },
    });
  });

  it('is never more than 16 in flight', async () => {
    await chain.setAutomine(false);
    await start();
    for (let i = 0; i < 20; i++) await pay(`po_${String(i)}`);
    await broadcastOf(16);
    expect(await attempts()).toHaveLength(16);
    await chain.mine();
    await broadcastOf(20);
    await sent('po_19');
    expect(await received()).toBe(100_000_000n);
  });

  describe('the start of the wallet', () => {
    it.each([
      ['a wrong chain', () => ({ chainId: 1 }), /serves the chain 31337, but chain_id is 1/],
      [
        'wrong decimals',
        () => ({ tokens: [{ asset: 'USDC', address: chain.tokens.USDC.address, decimals: 18 }] }),
        /has 6 decimals, but decimals is 18/,
      ],
      [
        'a token without a contract',
        () => ({ tokens: [{ asset: 'USDC', address: receiver, decimals: 6 }] }),
        /has no contract/,
      ],
    ] as const)('refuses %s', async (_what, changes, error) => {
      await expect(start(changes())).rejects.toThrow(error);
    });
  });
});
