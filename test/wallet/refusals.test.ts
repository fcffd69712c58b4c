/**
 * What one payout cannot do stops no other, and none fails for good because of the token, the hot
 * wallet or a node.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address, Hex } from 'viem';
import { amount } from '../../src/domain/money';
import { decideTransfer } from '../../src/rails/wallet/sender/decide-transfer';
import { listWaiting } from '../../src/rails/wallet/sender/waiting-list';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { findFreePort } from '../../src/dev/ports';
import { type NodeProxy, startNodeProxy } from '../support/wallet/node-proxy';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../support/wallet/wallet';
import { waitThroughFaults } from '../support/wait-for';
import { numbered, payoutsOf } from './payouts-world';

describeWithChain('a queue of payouts', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let signer: ReturnType<typeof createTestSigner>;
  let wallet: TestWallet | undefined;
  let receiver: Address;
  let node: NodeProxy;

  beforeAll(async () => {
    chain = await startChain();
    node = await startNodeProxy(chain.url);
  });
  afterAll(() => Promise.all([node.stop(), chain.stop()]));
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
    node.answer = () => null;
    node.alter = (_call, result) => result;
    await setPaused(false);
    await database.drop();
  });

  const setPaused = (on: boolean): Promise<Hex> =>
    chain.call('TetherLikeToken', chain.tokens.USDT.address, 'setPaused', [on]);
  const freeze = (on: boolean): Promise<Hex> =>
    chain.call('TetherLikeToken', chain.tokens.USDT.address, 'setBlackListed', [
      signer.address,
      on,
    ]);
  const start = async (changes: Parameters<typeof testNetwork>[1] = {}): Promise<void> => {
    wallet = await startTestWallet({ networks: [testNetwork(chain, changes)], signer, database });
  };
  const world = payoutsOf(() => ({ chain, wallet: wallet!, receiver }));
  const { find, ended, sent, pay, attempts, alarm, noAlarms, kindsOfAlarms, received } = world;
  const waiting = (reference: string): Promise<string> =>
    waitThroughFaults(`${reference} that waits`, async () => {
      const found = await listWaiting(wallet!.db);
      return found.find((one) => one.reference === reference)?.reason;
    });
  it('pays behind sixteen that are above the limit of the hour', async () => {
    await start({ payouts: { limits: { USDC: { hour: amount('8'), day: amount('100') } } } });
    for (const reference of numbered(16)) await pay(reference, { amount: amount('9') });
    await pay('po_small');
    await sent('po_small');
    await alarm('limit_reached');
    expect(await listWaiting(wallet!.db)).toHaveLength(16);
    expect(await waiting('po_1')).toBe('limit');
  });

  it.each([
    ['an invalid instruction', '0xfe'],
    ['an endless loop', '0x5b600056'],
  ])('pays behind sixteen whose contract burns all gas by %s, which fail', async (_name, code) => {
    const burner = createTestSigner().address;
    await chain.rpc('anvil_setCode', [burner, code]);
    await start();
    const coins = { currency: 'ETH', amount: amount('0.00001') } as const;
    for (const reference of numbered(16)) await pay(reference, coins, burner);
    await pay('po_honest', coins);
    await sent('po_honest');
    for (const reference of numbered(16)) {
      expect(await ended(reference)).toMatchObject({ status: 'failed', txHash: null });
    }
    expect(await kindsOfAlarms()).toEqual([]);
  });

  it.each([
    ['the token is paused', () => setPaused(true), () => setPaused(false)],
    ['the token freezes the hot wallet', () => freeze(true), () => freeze(false)],
  ])('waits while %s, and each is then paid once', async (_name, begin, end) => {
    await begin();
    await start();
    for (const reference of numbered(3)) await pay(reference, { currency: 'USDT' });
    await alarm('asset_refused');
    await pay('po_other');
    await sent('po_other');
    for (const reference of numbered(3)) {
      expect(await waiting(reference)).toBe('asset');
      expect(await find(reference)).toMatchObject({ status: 'pending' });
    }
    await end();
    await sent(...numbered(3));
    expect(await received('USDT')).toBe(15_000_000n);
    await noAlarms();
  });

  const setRefusing = (on: boolean): Promise<Hex> =>
    chain.call('AwkwardReceiver', chain.awkwardReceiver, 'setRefusing', [on]);
  /** The newest transaction is mined while it is refused. @param count so many were made */
  const revert = async (count: number, begin: () => Promise<unknown>): Promise<void> => {
    const raw = await waitThroughFaults('the broadcast', async () => {
      const made = (await attempts()).filter(({ broadcastAt }) => broadcastAt !== null);
      return made.length === count ? made.at(-1)!.raw : undefined;
    });
    await chain.drop('all');
    await begin();
    await chain.mine();
    await chain.rpc('eth_sendRawTransaction', [raw]);
    await chain.mine();
  };
  const settled = (slots: number): Promise<true> =>
    waitThroughFaults(`the end of ${String(slots)} slots`, async () => {
      await chain.finalize();
      const found = await wallet!.db.query("SELECT 1 FROM wallet.slot WHERE state <> 'open'");
      return found.length === slots;
    });

  it.each([
    ['the token is paused', () => setPaused(true), () => setPaused(false)],
    ['the token freezes the hot wallet', () => freeze(true), () => freeze(false)],
  ])('waits when it was mined while %s, and is then paid once', async (_name, begin, end) => {
    await chain.setAutomine(false);
    await start();
    await pay('po_1', { currency: 'USDT' });
    await revert(1, begin);
    await settled(1);
    await alarm('asset_refused');
    expect(await find('po_1')).toMatchObject({ status: 'pending', txHash: null });
    await end();
    await sent('po_1');
    expect(await received('USDT')).toBe(5_000_000n);
    await noAlarms();
  });

  it('waits for a person when two transactions in a token were reverted', async () => {
    await chain.setAutomine(false);
    await start();
    await pay('po_1', { currency: 'USDT' });
    await revert(1, () => setPaused(true));
    await setPaused(false);
    await settled(1);
    await revert(2, () => setPaused(true));
    await setPaused(false);
    await settled(2);
    await alarm('not_transferred');
    expect(await waiting('po_1')).toBe('a decision');
    const decision = { mode: null, reference: 'po_1', by: 'alice', reason: 'looked' };
    await decideTransfer(wallet!.db, [testNetwork(chain)], { ...decision, outcome: 'failed' });
    expect(await find('po_1')).toMatchObject({ status: 'failed', txHash: expect.any(String) });
    expect(await received('USDT')).toBe(0n);
  });

  it('fails when two transactions in coins were reverted, which only its recipient refuses', async () => {
    await setRefusing(false);
    await chain.setAutomine(false);
    await start();
    await pay('po_1', { currency: 'ETH' }, chain.awkwardReceiver);
    await revert(1, () => setRefusing(true));
    await setRefusing(false);
    await settled(1);
    await revert(2, () => setRefusing(true));
    expect(await ended('po_1')).toMatchObject({ status: 'failed', txHash: expect.any(String) });
    await settled(2);
    expect(await kindsOfAlarms()).toEqual([]);
  });

  const LAGGING = {
    code: 3,
    message: 'execution reverted: ERC20: transfer amount exceeds balance',
  };

  it('waits for a node that lags and knows less of the float', async () => {
    node.answer = ({ method, params }) => {
      const [call] = params as [{ data?: string }];
      return method === 'eth_estimateGas' && call.data !== '0x' ? { error: LAGGING } : null;
    };
    await start({ rpcUrls: [node.url] });
    for (const reference of numbered(3)) await pay(reference);
    await alarm('asset_refused');
    expect(await find('po_1')).toMatchObject({ status: 'pending' });
    node.answer = () => null;
    await sent(...numbered(3));
    expect(await received()).toBe(15_000_000n);
    await noAlarms();
  });

  it('is paid when another node does not refuse it', async () => {
    node.answer = ({ method }) => (method === 'eth_estimateGas' ? { error: LAGGING } : null);
    await start({ rpcUrls: [node.url, chain.url] });
    await pay('po_1');
    await sent('po_1');
  });

  /** Far above gas_max, and above any price of gas. */
  const ABSURD = `0x${(10n ** 16n).toString(16)}`;
  const lie = (...methods: string[]): void => {
    node.answer = ({ method }) => (methods.includes(method) ? { result: ABSURD } : null);
  };

  it('is paid when one node estimates more than gas_max, and the next one does not', async () => {
    lie('eth_estimateGas');
    await start({ rpcUrls: [node.url, chain.url] });
    await pay('po_1');
    await sent('po_1');
  });

  it('waits while the only node estimates more than gas_max for anybody', async () => {
    lie('eth_estimateGas');
    await start({ rpcUrls: [node.url] });
    await pay('po_1');
    await alarm('estimate_refused');
    expect(await find('po_1')).toMatchObject({ status: 'pending' });
    node.answer = () => null;
    await sent('po_1');
    await noAlarms();
  });

  it('is not quoted or sent at the price of one node that asks for more than the maximum', async () => {
    lie('eth_gasPrice', 'eth_maxPriorityFeePerGas');
    const payouts = { priorityFeePerGasWei: null };
    await start({ rpcUrls: [node.url, chain.url], payouts });
    const quote = await wallet!.provider.estimateNetworkFee('USDC', 'ethereum');
    expect(Number((quote as { fee: string }).fee)).toBeLessThan(10);
    await pay('po_1');
    const { txHash } = await ended('po_1');
    const { maxPriorityFeePerGas } = await chain.rpc<{ maxPriorityFeePerGas: Hex }>(
      'eth_getTransactionByHash',
      [txHash],
    );
    expect(maxPriorityFeePerGas).toBe(await chain.rpc('eth_maxPriorityFeePerGas'));
  });

  it('waits, and the wallet can stop, while a node counts 200,000 transactions too many', async () => {
    node.alter = ({ method, params: [, tag] }, result) =>
      method === 'eth_getTransactionCount' && tag === 'pending' ? '0x30d40' : result;
    await start({ rpcUrls: [chain.url, node.url] });
    await alarm('signer_stopped');
    await pay('po_1');
    await wallet!.stop();
    node.alter = (_call, result) => result;
    await start({ rpcUrls: [chain.url, node.url] });
    await sent('po_1');
    await noAlarms();
  });

  const COINS = { currency: 'ETH', amount: amount('0.00001') } as const;

  it('counts the network fees of coins in their limits', async () => {
    const hour = amount('0.00003');
    await start({ payouts: { limits: { ETH: { hour, day: amount('100') } } } });
    await pay('po_1', COINS);
    await sent('po_1');
    await pay('po_2', COINS);
    expect(await waiting('po_2')).toBe('limit');
    await wallet!.db.query("UPDATE wallet.slot SET created_at = created_at - interval '2 hours'");
    await sent('po_2');
  });

  it('raises no fees while there is no block that could take it', async () => {
    await chain.setAutomine(false);
    await start({ payouts: { replaceAfterMs: 50 } });
    await pay('po_1');
    await waitThroughFaults('the transaction', async () => (await attempts()).length > 0);
    await sleep(1_000);
    expect(await attempts()).toHaveLength(1);
    await chain.setNextBaseFee(50n * 10n ** 9n);
    await chain.mine();
    await waitThroughFaults('higher fees', async () => (await attempts()).length > 1);
    await sent('po_1');
  });

  it('raises one alarm with its cause and no fees while nodes take no transaction of a delegated hot wallet', async () => {
    await chain.setAutomine(false);
    node.answer = ({ method }) =>
      method === 'eth_sendRawTransaction'
        ? {
            error: {
              code: -32000,
              message: 'in-flight transaction limit reached for delegated accounts',
            },
          }
        : null;
    await start({ rpcUrls: [node.url], payouts: { resendAfterMs: 50, replaceAfterMs: 2_000 } });
    for (const reference of numbered(3)) await pay(reference);
    await waitThroughFaults('the transactions', async () => (await attempts()).length === 3);
    // Blocks that could have taken them, for longer than the age at which fees are raised.
    const before = node.calls.get('eth_sendRawTransaction') ?? 0;
    const [at] = await wallet!.db.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    await waitThroughFaults('an age beyond that of a replacement', async () => {
      await chain.mine();
      const [later] = await wallet!.db.query<{ is: boolean }>(
        "SELECT clock_timestamp() > $1::timestamptz + interval '3 seconds' AS is",
        [at!.now],
      );
      return later!.is && (node.calls.get('eth_sendRawTransaction') ?? 0) > before + 6;
    });
    expect(await attempts()).toHaveLength(3);
    expect(await kindsOfAlarms()).toEqual(['broadcast_refused']);
    expect((await alarm('broadcast_refused')).detail).toContain(
      'delegated itself to a contract (EIP-7702)',
    );
    node.answer = () => null;
    await chain.setAutomine(true);
    await sent(...numbered(3));
    await noAlarms();
  });

  it('goes to an address in upper case, which has no checksum', async () => {
    await start();
    await pay('po_1', {}, `0x${receiver.slice(2).toUpperCase()}`);
    await sent('po_1');
    expect(await received()).toBe(5_000_000n);
  });

  it('does not fail until a second node confirms that the recipient refuses', async () => {
    const port = await findFreePort();
    let isUp = false;
    const second = await startNodeProxy(() =>
      isUp ? chain.url : `http://127.0.0.1:${String(port)}`,
    );
    await setRefusing(true);
    await start({ rpcUrls: [chain.url, second.url] });
    await pay('po_1', { currency: 'ETH' }, chain.awkwardReceiver);
    expect(await waiting('po_1')).toBe('second node');
    expect(await find('po_1')).toMatchObject({ status: 'pending' });
    isUp = true;
    expect(await ended('po_1')).toMatchObject({ status: 'failed', txHash: null });
    await noAlarms();
    await wallet?.stop();
    wallet = undefined;
    await second.stop();
  });

  it('waits when a node cannot tell, whatever its words, and others do not', async () => {
    const strange = { code: -32603, message: 'the database is on fire' };
    node.answer = ({ method, params }) => {
      const [call] = params as [{ data?: string }];
      return method === 'eth_estimateGas' && call.data === '0x' ? { error: strange } : null;
    };
    await start({ rpcUrls: [node.url] });
    await pay('po_1', { currency: 'ETH' });
    await pay('po_2');
    await sent('po_2');
    await alarm('estimate_refused');
    expect(await waiting('po_1')).toBe('estimate');
    node.answer = () => null;
    await sent('po_1');
    await noAlarms();
  });

  it('is sent when one node leaves the logs out of its receipt', async () => {
    node.alter = ({ method }, result) =>
      method === 'eth_getTransactionReceipt' && result !== null
        ? { ...(result as object), logs: [] }
        : result;
    await start({ rpcUrls: [node.url, chain.url] });
    await pay('po_1');
    await sent('po_1');
    expect(await received()).toBe(5_000_000n);
    expect(await kindsOfAlarms()).toEqual([]);
  });

  it('waits while the receipt is of a block that is not in the chain', async () => {
    node.alter = ({ method }, result) =>
      method === 'eth_getTransactionReceipt' && result !== null
        ? { ...(result as object), status: '0x0', logs: [], blockHash: `0x${'ab'.repeat(32)}` }
        : result;
    await start({ rpcUrls: [node.url] });
    await pay('po_1');
    await waitThroughFaults('the doubt', async () => {
      await chain.finalize();
      return (await kindsOfAlarms()).includes('outcome_in_doubt');
    });
    expect(await find('po_1')).toMatchObject({ status: 'pending' });
    node.alter = (_call, result) => result;
    await sent('po_1');
    await noAlarms();
  });

  it.each([
    ['failed', 'failed', 'fail_transfer'],
    ['confirmed', 'sent', 'confirm_transfer'],
  ] as const)(
    'that transferred nothing waits for a person, who says that it has %s',
    async (outcome, status, kind) => {
      await start();
      await pay('po_1', { currency: 'FALSE' });
      await waitThroughFaults('the alarm', async () => {
        await chain.finalize();
        return (await kindsOfAlarms()).includes('not_transferred');
      });
      expect(await waiting('po_1')).toBe('a decision');
      expect(await find('po_1')).toMatchObject({ status: 'pending', txHash: null });
      const decision = { mode: null, reference: 'po_1', outcome, by: 'alice', reason: 'looked' };
      const networks = [testNetwork(chain)];
      await decideTransfer(wallet!.db, networks, decision);
      expect(await find('po_1')).toMatchObject({ status, txHash: expect.any(String) });
      await expect(decideTransfer(wallet!.db, networks, decision)).rejects.toThrow(
        /Nothing to decide/,
      );
      const decided = await wallet!.db.query(
        'SELECT kind, decided_by AS by, reason FROM wallet.decision',
      );
      expect(decided).toEqual([{ kind, by: 'alice', reason: 'looked' }]);
      expect(await kindsOfAlarms()).toEqual([]);
    },
  );

  it('shows what waits for long, until it is sent', async () => {
    const limits = { USDC: { hour: amount('8'), day: amount('100') } };
    await start({ payouts: { limits } });
    await pay('po_1');
    await sent('po_1');
    await pay('po_2');
    expect(await waiting('po_2')).toBe('limit');
    expect(await kindsOfAlarms()).not.toContain('transfer_waiting');
    await wallet!.db.query(
      `UPDATE wallet.transfer SET waiting_since = waiting_since - interval '16 minutes'
       WHERE status = 'queued'`,
    );
    await alarm('transfer_waiting');
    await wallet!.db.query("UPDATE wallet.slot SET created_at = created_at - interval '2 hours'");
    await sent('po_2');
    await noAlarms();
  });

  it('keeps the room of the limits for one that has waited long', async () => {
    const limits = { USDC: { hour: amount('10'), day: amount('100') } };
    await start({ payouts: { limits } });
    await pay('po_1', { amount: amount('4') });
    await sent('po_1');
    await pay('po_large', { amount: amount('9') });
    expect(await waiting('po_large')).toBe('limit');
    await pay('po_small', { amount: amount('1') });
    await sent('po_small');
    await wallet!.db.query(
      `UPDATE wallet.transfer SET waiting_since = waiting_since - interval '16 minutes'
       WHERE status = 'queued'`,
    );
    await pay('po_late', { amount: amount('1') });
    expect(await waiting('po_late')).toBe('limit');
    await wallet!.db.query("UPDATE wallet.slot SET created_at = created_at - interval '2 hours'");
    await sent('po_large');
    await sent('po_late');
  });
});
