/**
 * A database that is older than the chain or the pools: what mined transactions explain is adopted, anything else
 * stops until a person has restored the wallet, and each payout is received once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address, Hex } from 'viem';
import { setSignEntropy } from 'viem/accounts';
import { withClient } from '../../src/db/provision';
import { amount } from '../../src/domain/money';
import type { PayoutOrder } from '../../src/adapters/providers/port';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { Database } from '../../src/rails/wallet/db/database';
import { decideTransfer } from '../../src/rails/wallet/sender/decide-transfer';
import { decideUnknown, type RestoreDecisions } from '../../src/rails/wallet/sender/decide-unknown';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { type NodeProxy, startNodeProxy } from '../support/wallet/node-proxy';
import {
  copyWalletDatabase,
  createWalletDatabase,
  type WalletDatabase,
} from '../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../support/wallet/wallet';

import { createOperator } from './operator';
import { buildOrder, foundCheckout } from './deposits-world';
import { waitThroughFaults } from '../support/wait-for';
import { orderTo, payoutsOf } from './payouts-world';

const GWEI = 10n ** 9n;

describeWithChain('a wallet with a restored database', () => {
  let chain: TestChain;
  let databases: WalletDatabase[];
  let signer: ReturnType<typeof createTestSigner>;
  let wallet: TestWallet;
  let receivers: Address[];
  let node: NodeProxy | undefined;

  beforeAll(async () => {
    chain = await startChain();
  });
  afterAll(() => chain.stop());
  beforeEach(async () => {
    signer = createTestSigner();
    receivers = [createTestSigner().address, createTestSigner().address];
    databases = [await createWalletDatabase()];
    await chain.setAutomine(true);
    await fillFloat(chain, signer.address);
    await chain.setAutomine(false);
    await start();
  });
  afterEach(async () => {
    await wallet.stop();
    await node?.stop();
    node = undefined;
    for (const database of databases) await database.drop();
  });

  type Changes = Parameters<typeof testNetwork>[1];
  const start = async (changes: Changes = {}): Promise<void> => {
    const database = databases.at(-1)!;
    wallet = await startTestWallet({ networks: [testNetwork(chain, changes)], signer, database });
    const registered = () => wallet.db.query('SELECT 1 FROM wallet.signer');
    await waitThroughFaults('the signer', async () => (await registered()).length > 0);
  };
  /** The copy is used from `restore` on; until then, the wallet works on the original. */
  const backUp = async (changes: Changes = {}): Promise<WalletDatabase> => {
    await wallet.stop();
    const copy = await copyWalletDatabase(databases[0]!);
    await start(changes);
    return copy;
  };
  const restore = async (copy: WalletDatabase, changes: Changes = {}): Promise<void> => {
    await wallet.stop();
    databases.push(copy);
    await start(changes);
  };
  /** As a backup is, and a standby that takes over is not. */
  const makeOld = (copy: WalletDatabase) =>
    withClient(copy.ownerUrl, (client) =>
      client.query("UPDATE wallet.followed_chain SET updated_at = updated_at - interval '1 hour'"),
    );
  const { attempts, broadcastOf, ended, kindsOfAlarms, alarm, sent, ...payouts } = payoutsOf(
    () => ({
      ...{ chain, wallet, receiver: receivers[0]! },
    }),
  );
  const orderOf = (reference: string, to = 0) => orderTo(receivers[to]!, reference);
  const pay = (reference: string, to = 0) => payouts.pay(reference, {}, receivers[to]);
  const received = (to = 0) => chain.balanceOf(chain.tokens.USDC, receivers[to]!);
  const stopped = () => alarm('signer_stopped');
  const stops = async () => (await kindsOfAlarms()).filter((kind) => kind === 'signer_stopped');
  const noStop = () => payouts.noAlarm('signer_stopped');
  /** The fees of the only transaction are raised after a block has passed it over. */
  const bumped = async () => {
    await chain.setNextBaseFee(50n * GWEI);
    await waitThroughFaults('higher fees', async () => {
      await chain.mine();
      return (await attempts()).length > 1;
    });
    await broadcastOf(2);
  };
  const fenced = () =>
    waitThroughFaults('the fence', async () => {
      await chain.finalize();
      const done = await wallet.db.query(
        'SELECT 1 FROM wallet.signer, wallet.database_identity WHERE fenced_identity = identity',
      );
      return done.length > 0;
    });
  let changed: Changes;
  const operator = createOperator(
    () => testNetwork(chain, changed),
    () => wallet.db,
  );
  beforeEach(() => {
    changed = {};
  });
  const restored = () => operator.restore(() => chain.finalize());
  const decide = (decisions: Partial<RestoreDecisions>) =>
    decideUnknown(wallet.db, createChain(testNetwork(chain)), signer.address, {
      ...{ by: 'alice', reason: 'seen in the explorer' },
      ...decisions,
    });

  it('takes a mined replacement that the database does not know as the payout’s own', async () => {
    await pay('po_1');
    await broadcastOf(1);
    const copy = await backUp({ payouts: { replaceAfterMs: 200 } });
    await bumped();
    await chain.finalize();
    expect(await received()).toBe(5_000_000n);
    await restore(copy);
    await sent('po_1');
    expect(await received()).toBe(5_000_000n);
    expect(await stops()).toEqual([]);
  });

  it('does not send again what no node shows, because it may have been paid', async () => {
    await pay('po_1');
    await broadcastOf(1);
    const copy = await backUp({ payouts: { replaceAfterMs: 200 } });
    await bumped();
    await chain.mine();
    await chain.finalize();
    node = await startNodeProxy(chain.url);
    // It tells the count of transactions and receipts, and does not list what nonce 0 has done.
    const hides = (of: unknown) => (of as { nonce?: Hex } | null)?.nonce === '0x0';
    node.answer = ({ method }) =>
      method.startsWith('txpool') ? { error: { code: -32601, message: 'no such method' } } : null;
    node.alter = ({ method, params: [, isFull] }, result) => {
      if (method.endsWith('BySenderAndNonce')) return hides(result) ? null : result;
      if (method !== 'eth_getBlockByNumber' || isFull !== true || result === null) return result;
      const block = result as { transactions: unknown[] };
      return { ...block, transactions: block.transactions.filter((one) => !hides(one)) };
    };
    changed = { rpcUrls: [node.url] };
    await restore(copy, changed);
    await stopped();
    await operator.cancel();
    await waitThroughFaults('the nonce that no node shows', async () => {
      await chain.finalize();
      const [{ unseen_nonces: unseen } = { unseen_nonces: [] }] = await operator.look();
      return unseen.length === 1 && unseen[0]?.reference === 'po_1';
    });
    expect(await received()).toBe(5_000_000n);
    // As soon as a node shows it, the stop ends by itself.
    node.alter = (_call, result) => result;
    await sent('po_1');
    expect(await received()).toBe(5_000_000n);
    await noStop();
  });

  it('does not let an operator fail what the chain or a pool shows as paid', async () => {
    const limits = { hour: amount('1'), day: amount('1') };
    const decide = async () => {
      const networks = [testNetwork(chain)];
      const decision = { mode: null, reference: 'po_1', by: 'alice', reason: 'it waits' };
      await decideTransfer(wallet.db, networks, { ...decision, outcome: 'failed' });
    };
    await wallet.stop();
    await start({ payouts: { limits: { USDC: limits } } });
    await pay('po_1');
    const copy = await backUp();
    await broadcastOf(1);
    // The wallet of the copy is not running: nothing has compared its nonces yet.
    await wallet.stop();
    wallet = { ...wallet, db: new Database(copy.url, { size: 2 }) };
    databases.push(copy);
    await expect(decide()).rejects.toThrow(/the chain decides it|may have paid/);
    await chain.mine();
    await chain.finalize();
    await wallet.db.destroy();
    await start();
    await stopped();
    await restored();
    await sent('po_1');
    expect(await received()).toBe(5_000_000n);
  });

  it('lets an operator fail what no node shows, once every node was asked', async () => {
    await wallet.stop();
    const limits = { hour: amount('1'), day: amount('1') };
    await start({ payouts: { limits: { USDC: limits } } });
    await pay('po_1');
    const decision = { mode: null, reference: 'po_1', by: 'alice', reason: 'it waits' };
    const fail = (rpcUrls: string[]) =>
      decideTransfer(wallet.db, [testNetwork(chain, { rpcUrls, rpcTimeoutMs: 500 })], {
        ...decision,
        outcome: 'failed',
      });
    await expect(fail([chain.url, 'http://127.0.0.1:9'])).rejects.toThrow(/does not answer/);
    await fail([chain.url]);
    expect(await ended('po_1')).toMatchObject({ status: 'failed' });
  });

  it('stops for a pending transaction, and pays each once after a restore', async () => {
    const copy = await backUp();
    await pay('po_a');
    await broadcastOf(1);
    await restore(copy);
    await pay('po_b', 1);
    await stopped();
    await pay('po_a');
    await restored();
    await sent('po_a', 'po_b');
    expect([await received(0), await received(1)]).toEqual([5_000_000n, 5_000_000n]);
    expect(await stops()).toEqual([]);
  });

  it('cancels after a restore from a backup what somebody may still broadcast', async () => {
    const copy = await backUp();
    await pay('po_a');
    await pay('po_b', 1);
    await broadcastOf(2);
    const lost = await attempts();
    // No node has them any more, and no count shows them.
    await chain.drop('all');
    await makeOld(copy);
    await restore(copy);
    await stopped();
    for (const reference of ['po_b', 'po_a']) await pay(reference, reference === 'po_b' ? 1 : 0);
    await chain.mine(3);
    expect(await broadcastOf(0)).toEqual([]);
    const [begun] = await operator.cancel();
    expect(begun).toMatchObject({ from: 0n, to: 64n });
    await broadcastOf(16);
    for (const { raw } of lost) {
      await chain.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined);
    }
    await sent('po_a', 'po_b');
    for (const { raw } of lost) {
      await chain.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined);
    }
    await chain.finalize();
    expect([await received(0), await received(1)]).toEqual([5_000_000n, 5_000_000n]);
    await noStop();
  });

  it('takes over from a database that is some seconds ahead, without a person', async () => {
    await pay('po_0', 1);
    await broadcastOf(1);
    const copy = await backUp();
    await pay('po_a');
    const [, second] = await broadcastOf(2);
    await restore(copy);
    await pay('po_a');
    await stopped();
    // Nothing of it is in a final block yet.
    expect(await operator.isStopped()).toBe(true);
    await sent('po_0', 'po_a');
    expect(await ended('po_a')).toMatchObject({ txHash: second!.hash });
    expect([await received(0), await received(1)]).toEqual([5_000_000n, 5_000_000n]);
    await noStop();
    expect(await wallet.db.query('SELECT 1 FROM wallet.decision')).toEqual([]);
  });

  it('pays once when a signature is lost with its commit and the signing service makes another one', async () => {
    // The signatures of this service differ each time.
    setSignEntropy(true);
    await pay('po_1');
    const [first] = await broadcastOf(1);
    const copy = await backUp();
    await withClient(copy.ownerUrl, async (client) => {
      await client.query('DELETE FROM wallet.attempt');
      await client.query('UPDATE wallet.slot SET is_signed = false');
    });
    await restore(copy);
    expect(await ended('po_1')).toMatchObject({ status: 'sent', txHash: first!.hash });
    expect(await received()).toBe(5_000_000n);
    expect(await stops()).toEqual([]);
  });

  it('is told by the client which payout a transaction has paid that the client does not submit again', async () => {
    const copy = await backUp();
    await pay('po_a');
    const { txHash } = await ended('po_a');
    await restore(copy);
    await stopped();
    const { provider } = wallet;
    await operator.cancel();
    await waitThroughFaults('the unknown transaction', async () => {
      await chain.finalize();
      const listed = await provider.listUnknownTransactions();
      return listed.kind === 'transactions' && listed.hashes.includes(txHash!);
    });
    // Another payout of the same amount to the same address is not what it has paid.
    const claim = (reference: string, to = 0) =>
      provider.claimTransaction(orderOf(reference, to), txHash!);
    expect([await claim('po_b'), await claim('po_a', 1)]).toEqual([
      { kind: 'not_found' },
      { kind: 'not_found' },
    ]);
    expect(await provider.findPayout('po_b')).toEqual({ kind: 'not_found' });
    // What the wallet would not send any more has not been paid, and ends no round of claims.
    const refused = { ...orderOf('po_c'), currency: 'BTC' };
    expect(await provider.claimTransaction(refused, txHash!)).toEqual({ kind: 'not_found' });
    const found = { kind: 'found', transfer: { reference: 'po_a' } };
    expect(await Promise.all([claim('po_a'), claim('po_a')])).toMatchObject([found, found]);
    expect(await ended('po_a')).toMatchObject({ status: 'sent', txHash });
    await noStop();
    expect(await provider.listUnknownTransactions()).toEqual({ kind: 'transactions', hashes: [] });
    await pay('po_b');
    await sent('po_b');
    expect(await received()).toBe(10_000_000n);
  });

  it('finds what a hot wallet sent that the database has never seen', async () => {
    await wallet.stop();
    await withClient(databases[0]!.ownerUrl, (client) => client.query('DELETE FROM wallet.signer'));
    const copy = await copyWalletDatabase(databases[0]!);
    await start();
    await pay('po_a');
    await broadcastOf(1);
    await chain.finalize();
    await restore(copy);
    await stopped();
    await pay('po_a');
    await restored();
    await sent('po_a');
    expect(await received()).toBe(5_000_000n);
  });

  /** The second pair has the same mark in the gas limit, and not in the fees. */
  it.each([
    ['po_a', 'po_like_a'],
    ['po_14', 'po_22'],
  ])(
    'tells two payouts of the same amount to the same address apart: %s, %s',
    async (one, like) => {
      const copy = await backUp();
      await pay(one);
      const [first] = await broadcastOf(1);
      await chain.mine();
      await restore(copy);
      await pay(like);
      await stopped();
      await operator.cancelUntilUnknown(() => chain.finalize());
      expect((await operator.look())[0]!.unknown_transactions).toEqual([
        {
          nonce: '0',
          hash: first!.hash,
          pays: { asset: 'USDC', amount: '5.00000000', recipient: receivers[0] },
          candidates: [{ reference: like, has_mark: false }],
        },
      ]);
      await pay(one);
      expect(await ended(one)).toMatchObject({ status: 'sent', txHash: first!.hash });
      await sent(like);
      expect(await received()).toBe(10_000_000n);
    },
  );

  it('gives a nonce back when it was used for another payout, and pays both once', async () => {
    const copy = await backUp();
    await pay('po_a');
    await broadcastOf(1);
    const [{ raw } = { raw: '0x' }] = await attempts();
    // No node shows it any more, but somebody has it.
    await chain.drop('all');
    await restore(copy);
    await pay('po_b', 1);
    await broadcastOf(1);
    await chain.drop('all');
    await chain.rpc('eth_sendRawTransaction', [raw]);
    await chain.mine();
    await chain.finalize();
    await stopped();
    await pay('po_a');
    await restored();
    await sent('po_a', 'po_b');
    expect([await received(0), await received(1)]).toEqual([5_000_000n, 5_000_000n]);
    expect(await stops()).toEqual([]);
  });

  it('does not pay again what a pool holds behind a nonce that it has lost', async () => {
    const copy = await backUp();
    await pay('po_a');
    await pay('po_b', 1);
    const second = (await broadcastOf(2)).find(({ nonce }) => nonce === '1');
    await chain.drop('all');
    await chain.rpc('eth_sendRawTransaction', [second!.raw]);
    await restore(copy);
    await stopped();
    for (const reference of ['po_c', 'po_d']) await pay(reference);
    await pay('po_b', 1);
    await restored();
    await sent('po_c', 'po_d', 'po_b');
    expect([await received(0), await received(1)]).toEqual([10_000_000n, 5_000_000n]);
    expect(await stops()).toEqual([]);
  });

  it('pays each once when two copies of the database gave two nonces the other way round', async () => {
    const first = await backUp();
    await pay('po_a');
    await pay('po_b', 1);
    await pay('po_c');
    await broadcastOf(3);
    await wallet.stop();
    const second = await copyWalletDatabase(databases[0]!);
    await chain.drop('all');
    databases.push(first);
    await start();
    await pay('po_a');
    await fenced();
    await broadcastOf(2);
    await pay('po_b', 1);
    await broadcastOf(3);
    await restore(second);
    await stopped();
    await restored();
    await sent('po_a', 'po_b', 'po_c');
    expect([await received(0), await received(1)]).toEqual([10_000_000n, 5_000_000n]);
    await noStop();
  });

  it('pays nothing twice when two processes with one key work on two databases', async () => {
    receivers = Array.from({ length: 24 }, () => createTestSigner().address);
    const copy = await backUp();
    databases.push(copy);
    const networks = [testNetwork(chain)];
    const other = await startTestWallet({ networks, signer, database: copy });
    const orders = receivers.map((_, to) => orderOf(`po_${String(to)}`, to));
    const submit = async ({ provider }: TestWallet, all: readonly PayoutOrder[]) => {
      for (const order of all) await provider.submitPayout(order);
    };
    for (let from = 0; from < orders.length; from += 2) {
      const pair = orders.slice(from, from + 2);
      await Promise.all([submit(wallet, pair), submit(other, pair.toReversed())]);
      if (from % 8 === 6) await chain.mine();
    }
    const isStopped = async ({ db }: TestWallet) => {
      const sql = "SELECT 1 FROM wallet.alarm WHERE kind = 'signer_stopped' AND cleared_at IS NULL";
      return (await db.query(sql)).length > 0;
    };
    const balances = () => Promise.all(receivers.map((_, to) => received(to)));
    await waitThroughFaults('one to pay all, and the other to stop', async () => {
      await chain.mine();
      await chain.finalize();
      const units = await balances();
      const stopped = [await isStopped(wallet), await isStopped(other)].filter((one) => one);
      if (units.some((one) => one > 5_000_000n) || stopped.length === 2) return true;
      return stopped.length === 1 && units.every((one) => one > 0n);
    });
    await chain.finalize();
    expect(await balances()).toEqual(receivers.map(() => 5_000_000n));
    await other.stop();
  });

  it('gives out no address again that was given out after the backup', async () => {
    const addressOf = async (): Promise<Address> => {
      const { reference } = foundCheckout(await wallet.provider.openCheckout(buildOrder()));
      const [row] = await wallet.db.query<{ address: Address }>(
        'SELECT address FROM wallet.checkout WHERE client_reference = $1',
        [reference],
      );
      return row!.address;
    };
    const before = await addressOf();
    const copy = await backUp();
    const after = await addressOf();
    // The gap grows with the age of the backup.
    await sleep(1_500);
    await restore(copy);
    expect([before, after]).not.toContain(await addressOf());
  });

  it('leaves a gap in the addresses on another database, and none at a restart', async () => {
    const open = async (): Promise<number> => {
      foundCheckout(await wallet.provider.openCheckout(buildOrder()));
      const [row] = await wallet.db.query<{ index: string }>(
        'SELECT max(address_index) AS index FROM wallet.checkout',
      );
      return Number(row!.index);
    };
    const first = await open();
    await wallet.stop();
    await start();
    expect(await open()).toBe(first + 1);
    const copy = await backUp();
    await restore(copy);
    expect(await open()).toBeGreaterThan(first + 100);
  });

  /** The key in another program uses the first nonce, which stops the wallet. */
  const sendByHand = async (
    transaction: { to: Address; gas: bigint } & ({ value: bigint } | { data: Hex }),
  ): Promise<Hex> => {
    const raw = await signer.sign({
      ...{ type: 'eip1559', chainId: chain.chainId, nonce: 0, ...transaction },
      ...{ maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: GWEI },
    });
    const hash = await chain.rpc<Hex>('eth_sendRawTransaction', [raw]);
    await chain.finalize();
    await stopped();
    return hash;
  };

  it('asks an operator about a transaction that fits no payout, and takes the answer', async () => {
    const hash = await sendByHand({ to: receivers[0]!, value: 1n, gas: 21_000n });
    await pay('po_1');
    await expect(decide({ foreign: [hash] })).rejects.toThrow(/before every node/);
    await operator.cancelUntilUnknown(() => chain.finalize());
    await expect(decide({ paid: [{ hash, reference: 'po_1' }] })).rejects.toThrow(/does not pay/);
    await decide({ foreign: [hash] });
    await sent('po_1');
    expect(await received()).toBe(5_000_000n);
    expect(await stops()).toEqual([]);
  });

  it('does not pay again what the gateway submits after a person called its transaction foreign', async () => {
    const copy = await backUp();
    await pay('po_a');
    const { txHash } = await ended('po_a');
    await restore(copy);
    await stopped();
    await operator.cancelUntilUnknown(() => chain.finalize());
    await decide({ foreign: 'all' });
    await noStop();
    await pay('po_a');
    expect(await ended('po_a')).toMatchObject({ status: 'sent', txHash });
    expect(await received()).toBe(5_000_000n);
  });

  it('takes an operator’s word that a transaction without a mark has paid a payout', async () => {
    const usdc = chain.tokens.USDC.address;
    const word = (value: string): string => value.padStart(64, '0');
    const units = 5_000_000n.toString(16);
    const data: Hex = `0xa9059cbb${word(receivers[0]!.slice(2).toLowerCase())}${word(units)}`;
    const hash = await sendByHand({ to: usdc, data, gas: 100_000n });
    await pay('po_1');
    await operator.cancelUntilUnknown(() => chain.finalize());
    await decide({ paid: [{ hash, reference: 'po_1' }] });
    expect(await ended('po_1')).toMatchObject({ status: 'sent', txHash: hash });
    expect(await received()).toBe(5_000_000n);
  });
});
