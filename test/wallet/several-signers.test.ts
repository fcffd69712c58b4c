/**
 * Several hot wallets of one network: each payout is sent once, by one of them, and what stops one of
 * them stops no other.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address } from 'viem';
import { amount } from '../../src/domain/money';
import { createAlarms } from '../../src/rails/wallet/alarms';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { runWalletCommand } from '../../src/rails/wallet/commands';
import { Database } from '../../src/rails/wallet/db/database';
import { fillSlots } from '../../src/rails/wallet/sender/queue';
import { pauseSigner, resumePausedSigner } from '../../src/rails/wallet/chain/pause';
import type { Signer } from '../../src/rails/wallet/signer/port';
import { createOperator } from './operator';
import { readStatus } from '../../src/rails/wallet/status';
import { submitFunding } from '../../src/rails/wallet/sweep/run';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
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
  testSigner,
  type TestWallet,
} from '../support/wallet/wallet';
import { waitThroughFaults } from '../support/wait-for';
import { numbered, payoutsOf } from './payouts-world';

type TestSigner = ReturnType<typeof createTestSigner>;
type Payouts = NonNullable<NonNullable<Parameters<typeof testNetwork>[1]>['payouts']>;

const DECISION = { by: 'alice', reason: 'a test' } as const;

describeWithChain('several hot wallets', () => {
  let chain: TestChain;
  let databases: WalletDatabase[];
  let signers: TestSigner[];
  let receiver: Address;
  let wallet: TestWallet;

  beforeAll(async () => {
    chain = await startChain();
  });
  afterAll(() => chain.stop());
  beforeEach(async () => {
    signers = [createTestSigner(), createTestSigner()];
    receiver = createTestSigner().address;
    databases = [await createWalletDatabase()];
    await chain.setAutomine(true);
    for (const { address } of signers) await fillFloat(chain, address);
    await chain.setAutomine(false);
  });
  afterEach(async () => {
    await wallet.stop();
    await chain.drop('all');
    for (const database of databases) await database.drop();
  });

  const networkOf = (payouts: Partial<Payouts> = {}, count = signers.length) =>
    testNetwork(chain, {
      payouts: {
        signers: Array.from({ length: count }, (_, place) => testSigner(place)),
        ...payouts,
      },
    });
  const start = async (payouts: Partial<Payouts> = {}, own: readonly Signer[] = signers) => {
    const database = databases.at(-1)!;
    const networks = [networkOf(payouts, own.length)];
    wallet = await startTestWallet({ networks, signer: own[0]!, signers: own, database });
    await waitThroughFaults('the hot wallets', async () => {
      const known = await wallet.db.query<{ address: string }>(
        'SELECT address FROM wallet.signer WHERE replaced_at IS NULL',
      );
      return known.length === own.length;
    });
  };
  /** A key that has sent nothing yet, with so many units of each token. */
  const replaceSigner = async (place: number, tokens?: bigint): Promise<void> => {
    signers[place] = createTestSigner();
    await chain.setAutomine(true);
    await fillFloat(chain, signers[place].address, tokens === undefined ? {} : { tokens });
    await chain.setAutomine(false);
  };
  const startAndStop = async (options: Parameters<typeof startTestWallet>[0]): Promise<void> => {
    const started = await startTestWallet(options);
    await started.stop();
  };
  const { pay, ended, sent, broadcastOf, openAlarms, kindsOfAlarms, alarm, received } = payoutsOf(
    () => ({ chain, wallet, receiver }),
  );
  const payMany = async (count: number): Promise<string[]> => {
    const references = numbered(count).map((one) => `${one}_of_many`);
    for (const reference of references) await pay(reference);
    return references;
  };
  /** Each arrives once, and nothing else does. */
  const allSent = async (references: readonly string[]) => {
    await sent(...references);
    expect(await received()).toBe(BigInt(references.length) * 5_000_000n);
  };
  const address = (place: number): string => signers[place]!.address.toLowerCase();
  const keyOf = (place: number) => ({ chainId: chain.chainId, signer: address(place) });
  /** How many slots each hot wallet has, in the order of the signers. */
  const slots = async (): Promise<number[]> => {
    const rows = await wallet.db.query<{ signer: string }>('SELECT signer FROM wallet.slot');
    return signers.map((_, place) => rows.filter(({ signer }) => signer === address(place)).length);
  };
  /** A hot wallet whose signing service can be down. */
  const serviceOf = ({ address: of, sign }: TestSigner) => {
    const service = { address: of, isDown: true, sign };
    service.sign = (transaction) =>
      service.isDown ? Promise.reject(new Error('no signature')) : sign(transaction);
    return service;
  };
  const pauseOne = (place: number) => pauseSigner(wallet.db, keyOf(place), DECISION);
  const resumeOne = (place: number) => resumePausedSigner(wallet.db, keyOf(place), 'bob');

  it('have their transactions in flight at the same time, as many each as one alone', async () => {
    await start({ inFlightMax: 4 });
    const references = await payMany(10);
    await broadcastOf(8);
    expect(await slots()).toEqual([4, 4]);
    await allSent(references);
    // The last two go to the hot wallets whose transactions are mined first.
    const [first, second] = await slots();
    expect(first! + second!).toBe(10);
    expect(await kindsOfAlarms()).toEqual([]);
  });

  describe('one that', () => {
    interface Fault {
      /** Before the wallet starts. */
      before?: () => Promise<unknown>;
      after?: () => Promise<unknown>;
    }
    const faults: [string, Fault][] = [
      ['an operator has paused', { after: () => pauseOne(0) }],
      ['has no tokens', { before: () => replaceSigner(0, 0n) }],
      ['has no coins for network fees', { after: () => chain.setBalance(signers[0]!.address, 0n) }],
    ];
    it.each(faults)('%s stops no other', async (_what, { before, after }) => {
      await before?.();
      await start();
      await after?.();
      const references = await payMany(4);
      await broadcastOf(4);
      expect(await slots()).toEqual([0, 4]);
      await allSent(references);
      expect(await kindsOfAlarms()).toEqual([]);
    });

    it('cannot sign stops no other, and sends what it has when it can sign again', async () => {
      const [first, second] = signers;
      const service = serviceOf(first!);
      await start({ inFlightMax: 2 }, [service, second!]);
      await pay('po_first');
      await pay('po_second');
      expect(await alarm('signing_failed')).toMatchObject({ subject: first!.address });
      const references = await payMany(6);
      await sent(...references);
      service.isDown = false;
      await allSent(['po_first', 'po_second', ...references]);
    });

    it('could not sign a replacement takes payouts again when it has nothing to sign', async () => {
      signers = [signers[0]!];
      const service = serviceOf(signers[0]!);
      service.isDown = false;
      await start({ replaceAfterMs: 500, resendAfterMs: 300 }, [service]);
      await pay('po_1');
      await broadcastOf(1);
      service.isDown = true;
      await chain.setNextBaseFee(50n * 10n ** 9n);
      await chain.mine();
      await alarm('signing_failed');
      await chain.setNextBaseFee(10n ** 9n);
      await sent('po_1');
      service.isDown = false;
      await allSent(['po_1', ...(await payMany(2))]);
    });

    it('was paused sends again after its resume', async () => {
      await start();
      await pauseOne(0);
      const references = await payMany(2);
      await broadcastOf(2);
      expect(await slots()).toEqual([0, 2]);
      expect(await resumeOne(0)).toBe(true);
      await pay('po_last');
      await broadcastOf(3);
      expect(await slots()).toEqual([1, 2]);
      await allSent([...references, 'po_last']);
    });

    it('the token has frozen stops no other', async () => {
      const block = (isBlocked: boolean) =>
        chain.call('TetherLikeToken', chain.tokens.USDT.address, 'setBlackListed', [
          ...[signers[0]!.address, isBlocked],
        ]);
      await block(true);
      await chain.mine();
      await start();
      // The other one would take both before this one has looked at them.
      await pauseOne(1);
      for (const reference of ['po_1', 'po_2']) await pay(reference, { currency: 'USDT' });
      await alarm('asset_refused');
      expect(await resumeOne(1)).toBe(true);
      await sent('po_1', 'po_2');
      expect(await slots()).toEqual([0, 2]);
      const subject = `USDT of ${address(0)}`;
      expect(await openAlarms()).toMatchObject([{ kind: 'asset_refused', subject }]);
    });
  });

  it('send what one of them alone does not cover, each what it can', async () => {
    const poor = signers[0]!.address;
    await chain.rpc('anvil_impersonateAccount', [poor]);
    await chain.transferToken(chain.tokens.USDC, poor, chain.accounts[1]!, 999_997n * 10n ** 6n);
    await chain.mine();
    signers[0] = signers[1]!;
    signers[1] = createTestSigner();
    await fillCoins(signers[1].address);
    await start();
    await pay('po_large', { amount: amount('900000') });
    await sent('po_large');
    expect(await slots()).toEqual([1, 0]);
    await pay('po_too_large', { amount: amount('900000') });
    const { detail } = await alarm('float_low');
    expect(detail).toContain(`The hot wallet ${address(0)} has 100000.00000000 USDC`);
  });

  it('do not wait behind payouts that only a full one can send', async () => {
    await replaceSigner(1, 10_000_000n);
    await start({ inFlightMax: 2 });
    for (const index of [1, 2, 3, 4, 5]) {
      await pay(`po_large_${String(index)}`, { amount: amount('1000') });
    }
    await broadcastOf(2);
    await pay('po_small');
    const paid = await broadcastOf(3);
    expect(paid.filter(({ signer }) => signer === address(0))).toHaveLength(2);
    expect(paid.filter(({ signer }) => signer === address(1))).toHaveLength(1);
  });

  const fillCoins = (of: Address) => chain.setBalance(of, 10n ** 18n);

  describe('that several processes give payouts at once', () => {
    let givers: Database[];
    const names = () => signers.map(({ address: of }) => of.toLowerCase());
    /** What the loop of one process does, without the lock of the chain. */
    const give = (db: (typeof givers)[number], compared = names()) => {
      const opened = createChain(networkOf());
      const alarms = createAlarms(db, opened, () => undefined);
      return fillSlots({
        ...{ db, chain: opened, rules: opened.network.payouts!, alarms },
        ...{ signers: names(), compared: new Set(compared) },
      });
    };
    const given = async (): Promise<string[]> =>
      (
        await givers[0]!.query<{ transfer: string }>(
          'SELECT transfer_id AS transfer FROM wallet.slot',
        )
      ).map(({ transfer }) => transfer);

    beforeEach(async () => {
      await start();
      for (const place of [0, 1]) await pauseOne(place);
      await payMany(24);
      await wallet.stop();
      givers = [0, 1, 2].map(() => new Database(databases[0]!.url, { size: 4 }));
      for (const place of [0, 1]) await resumePausedSigner(givers[0]!, keyOf(place), 'alice');
    });
    afterEach(async () => {
      for (const db of givers) await db.destroy();
    });

    const goOn = async () => {
      await start();
      await allSent(numbered(24).map((one) => `${one}_of_many`));
    };

    it('never give two nonces to one payout', async () => {
      const owner = new Database(databases[0]!.ownerUrl, { size: 2 });
      const areWaiting = async () => {
        const waiting = await owner.query(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return waiting.length === givers.length;
      };
      // Each has chosen the same payouts before one of them stores anything.
      const giving = await owner.transaction(async (tx) => {
        await tx.query('SELECT 1 FROM wallet.signer FOR UPDATE');
        const all = Promise.all(givers.map((db) => give(db)));
        await waitThroughFaults('all of them to wait', areWaiting);
        return { all };
      });
      await giving.all;
      const transfers = await given();
      expect(transfers).toHaveLength(24);
      expect(new Set(transfers).size).toBe(24);
      await owner.destroy();
      await goOn();
    });

    it('give nothing before each of them was compared with the chain', async () => {
      expect(await give(givers[0]!, names().slice(1))).toBe(0);
      expect(await given()).toEqual([]);
      await goOn();
    });
  });

  it('go on in another process, with what each had given, signed and broadcast', async () => {
    await start();
    const references = await payMany(6);
    await broadcastOf(6);
    const [first] = databases;
    await wallet.stop();
    // A kill leaves this: bytes that no node has, and a slot without bytes.
    await chain.drop('all');
    const owner = new Database(first!.ownerUrl, { size: 1 });
    await owner.query(`DELETE FROM wallet.attempt WHERE nonce = 2`);
    await owner.query(`UPDATE wallet.slot SET is_signed = false WHERE nonce = 2`);
    await owner.destroy();
    await start({ resendAfterMs: 300 });
    await allSent(references);
    expect(await slots()).toEqual([3, 3]);
  });

  describe('with a restored database', () => {
    const operator = createOperator(
      () => networkOf(),
      () => wallet.db,
    );
    /** The copy does not know what is paid after this. */
    const backUp = async (): Promise<WalletDatabase> => {
      await wallet.stop();
      const copy = await copyWalletDatabase(databases[0]!);
      await start();
      return copy;
    };
    const restore = async (copy: WalletDatabase): Promise<void> => {
      await wallet.stop();
      databases.push(copy);
      await start();
    };

    it.each([
      ['mined', () => chain.finalize()],
      ['in the pool', () => Promise.resolve()],
    ])('take up what another of them has paid that is %s', async (_what, mine) => {
      await start();
      const copy = await backUp();
      await pauseOne(0);
      await pay('po_a');
      await pay('po_b', { amount: amount('6') });
      const paid = await broadcastOf(2);
      expect(paid.map(({ signer }) => signer)).toEqual([address(1), address(1)]);
      await mine();
      await restore(copy);
      await alarm('signer_stopped');
      await pay('po_like_b', { amount: amount('6') });
      await pay('po_a');
      await pay('po_b', { amount: amount('6') });
      // The other hot wallet sends nothing either.
      expect(await slots()).toEqual([0, 0]);
      await operator.restore(() => chain.finalize());
      await sent('po_a', 'po_b', 'po_like_b');
      expect(await received()).toBe(17_000_000n);
    });

    it('are restored with the key of one that was replaced since, and not without it', async () => {
      const [first, second] = signers;
      signers = [first!];
      await start();
      const copy = await backUp();
      await pay('po_a');
      await broadcastOf(1);
      signers = [second!];
      await restore(copy);
      await alarm('signer_stopped');
      await pay('po_a');
      await expect(operator.cancel()).rejects.toThrow(/was replaced.*Name its key/);
      await wallet.stop();
      signers = [first!, second!];
      await start();
      await operator.restore(() => chain.finalize());
      await sent('po_a');
      expect(await received()).toBe(5_000_000n);
    });

    it('pay once what two databases of different times gave to two of them', async () => {
      await start();
      const copy = await backUp();
      await pauseOne(0);
      await pay('po_a');
      await broadcastOf(1);
      // No node has it any more, but the first database does.
      await chain.drop('all');
      await restore(copy);
      await pauseOne(1);
      await pay('po_a');
      await broadcastOf(1);
      await chain.finalize();
      await wallet.stop();
      databases.reverse();
      await start({ resendAfterMs: 300, replaceAfterMs: 300 });
      await alarm('signer_stopped');
      await operator.restore(() => chain.finalize());
      await sent('po_a');
      expect(await received()).toBe(5_000_000n);
      await pay('po_b');
      await allSent(['po_a', 'po_b']);
      expect(await kindsOfAlarms()).toEqual([]);
    });

    it('pay nothing after a failover while one cannot sign, until an operator replaces it', async () => {
      await start();
      const copy = await backUp();
      await wallet.stop();
      databases.push(copy);
      const [first, second] = signers;
      await start({}, [serviceOf(first!), second!]);
      await pay('po_a');
      await alarm('signing_failed');
      const fenced = async () =>
        (
          await wallet.db.query<{ address: string }>(
            `SELECT address FROM wallet.signer, wallet.database_identity
             WHERE fenced_identity = identity AND replaced_at IS NULL`,
          )
        ).map((one) => one.address);
      await waitThroughFaults('the fence of the other', async () => {
        await chain.finalize();
        return (await fenced()).includes(address(1));
      });
      // The other database may have paid any payout with the one that cannot sign here.
      expect(await fenced()).toEqual([address(1)]);
      // The alarm of the other ends with its next step.
      await waitThroughFaults('the alarm of the one that cannot sign alone', async () => {
        const open = (await openAlarms()).filter(({ kind }) => kind === 'database_changed');
        return open.length === 1 && open[0]!.subject === address(0);
      });
      expect(await wallet.provider.findPayout('po_a')).toMatchObject({
        transfer: { status: 'pending' },
      });
      expect(await wallet.db.query('SELECT 1 FROM wallet.slot WHERE asset <> $1', [''])).toEqual(
        [],
      );
      await wallet.stop();
      await start({}, [second!]);
      await allSent(['po_a']);
      // Its fence has a nonce and no signature.
      await alarm('replaced_signer_stuck');
      expect(await kindsOfAlarms()).toEqual(['replaced_signer_stuck']);
      await wallet.stop();
      await start();
      await waitThroughFaults('the fence of the first', async () => {
        await chain.finalize();
        return (await fenced()).length === 2;
      });
      await allSent(['po_a', ...(await payMany(2))]);
      expect(await kindsOfAlarms()).toEqual([]);
    });

    it('send nothing while no node shows what one of them has sent', async () => {
      await start();
      const copy = await backUp();
      await pauseOne(0);
      await pay('po_a');
      await broadcastOf(1);
      await wallet.stop();
      await chain.drop('all');
      databases.push(copy);
      // A pool counts it and shows it to nobody.
      await chain.setNonce(signers[1]!.address, 1);
      await start();
      await pay('po_a');
      await alarm('signer_stopped');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(await slots()).toEqual([0, 0]);
    });
  });

  describe('with limits', () => {
    const limits = { USDC: { hour: amount('10'), day: amount('1000') } };

    it('have limits of their own', async () => {
      await start({ limits });
      await pauseOne(0);
      const references = await payMany(5);
      await broadcastOf(2);
      await alarm('limit_reached');
      expect(await slots()).toEqual([0, 2]);
      await resumeOne(0);
      await broadcastOf(4);
      for (const one of references.slice(0, 4)) await ended(one);
      expect(await slots()).toEqual([2, 2]);
    });

    it('do not get the limits again by a new key', async () => {
      await start({ limits });
      await payMany(5);
      await broadcastOf(4);
      await wallet.stop();
      await replaceSigner(1);
      await start({ limits });
      await pay('po_last');
      await waitThroughFaults('the wait for the limit', async () => {
        const [waiting] = await wallet.db.query<{ reason: string | null }>(
          "SELECT waiting_for AS reason FROM wallet.transfer WHERE client_reference = 'po_last'",
        );
        return waiting?.reason === 'limit';
      });
      expect(await slots()).toEqual([2, 0]);
    });
  });

  it('raise an alarm for each float', async () => {
    await chain.setBalance(signers[1]!.address, 10n ** 16n);
    await start({ floatMinimum: { ETH: amount('1') } });
    expect(await alarm('float_below_minimum')).toMatchObject({
      subject: `ETH of ${address(1)}`,
      detail: expect.stringContaining(`The hot wallet ${address(1)} has 0.01000000 ETH`),
    });
    expect(await openAlarms()).toHaveLength(1);
  });

  it('are named by the operator where a command is about one of them', async () => {
    await start();
    const folder = mkdtempSync(join(tmpdir(), 'several-signers-'));
    const file = join(folder, 'networks.json');
    const { address: usdc, decimals } = chain.tokens.USDC;
    const remote = { kind: 'remote', url: 'http://127.0.0.1:9' };
    const network = {
      ...{ mode: 'test', name: 'ethereum', chain_id: chain.chainId, native: { asset: 'ETH' } },
      ...{ rpc_urls: [chain.url, 'http://127.0.0.1:9'] },
      tokens: [{ asset: 'USDC', address: usdc, decimals }],
      payouts: { signers: signers.map(({ address: of }) => ({ ...remote, address: of })) },
    };
    writeFileSync(file, JSON.stringify({ networks: [network] }));
    const run = async (...args: string[]) => {
      let text = '';
      const out = (words: string): void => void (text += words);
      const env = { WALLET_DATABASE_URL: databases[0]!.url, WALLET_NETWORKS_FILE: file };
      return { code: await runWalletCommand(args, { env, out, err: out }), text };
    };
    const [first, second] = signers.map(({ address: of }) => of) as [Address, Address];
    const of = ['--chain-id', String(chain.chainId)];
    const why = ['--by', 'alice', '--reason', 'a test'];
    const unnamed = await run('restore', 'ethereum', '--all-foreign', ...why);
    expect(unnamed.code).toBe(1);
    expect(unnamed.text).toContain(
      'ethereum has several hot wallets. Name one of them with --signer',
    );
    for (const one of [first, second]) expect(unnamed.text).toContain(one);
    const other = await run('pause', ...of, '--reason', 'a test', '--signer', receiver);
    expect(other).toMatchObject({ code: 1 });
    expect(other.text).toContain(`${receiver} is no hot wallet of ethereum.`);
    const named = ['--signer', first, '--by', 'alice'];
    expect(await run('pause', ...of, '--reason', 'a test', ...named)).toEqual({
      ...{ code: 0, text: `The hot wallet ${first} is paused on the chain ${of[1]!}.\n` },
    });
    await pay('po_1');
    await broadcastOf(1);
    expect(await slots()).toEqual([0, 1]);
    expect((await run('status')).text).toContain(`${address(0)} PAUSED: a test, next nonce 0`);
    expect((await run('decisions')).text).toContain(`pause             ${first} on the chain`);
    expect(await run('resume', ...of, ...named)).toEqual({
      ...{ code: 0, text: `The hot wallet ${first} sends again.\n` },
    });
    await pay('po_2');
    await broadcastOf(2);
    const byNonce = ['ethereum', '0', ...why];
    const both = await run('free-nonce', ...byNonce);
    expect(both.text).toContain('Several hot wallets have nonce 0 in flight.');
    for (const one of [first, second]) expect(both.text).toContain(one);
    expect((await run('free-nonce', ...byNonce, '--signer', second)).code).toBe(0);
    const [status] = await readStatus(wallet.db, [networkOf()]);
    const freeing = status!.hot_wallets.map((one) => [one.address, one.freeing.length] as const);
    expect(Object.fromEntries(freeing)).toEqual({ [address(0)]: 0, [address(1)]: 1 });
    await allSent(['po_1', 'po_2']);
    rmSync(folder, { recursive: true });
  });

  it('are followed by the wallet as long as payouts have not ended', async () => {
    await start();
    await pay('po_1');
    await broadcastOf(1);
    await wallet.stop();
    const networks = [{ ...networkOf(), payouts: null }];
    const without = { networks, signer: signers[0]!, database: databases[0]! };
    await expect(startAndStop(without)).rejects.toThrow(
      `1 payouts on ethereum (test mode, chain ${String(chain.chainId)}) have not ended`,
    );
    await start();
    await allSent(['po_1']);
  });

  it('are one float in the sums, and any of them funds the addresses of a sweep', async () => {
    await start();
    await pauseOne(0);
    const swept = createTestSigner().address;
    const funding = { reference: 'sweep_1', amount: amount('0.01') };
    await submitFunding(wallet.db, networkOf(), swept, funding);
    await waitThroughFaults('the coins', async () => {
      await chain.finalize();
      return (await chain.balanceOf(null, swept)) === 10n ** 16n;
    });
    expect(await slots()).toEqual([0, 1]);
    // Until the block of the float is final, they say 0.
    await waitThroughFaults('the sums', async () => {
      const [status] = await readStatus(wallet.db, [networkOf()], { sums: true });
      return status!.sums?.find(({ asset }) => asset === 'USDC')?.float === '2000000';
    });
  });

  it('with one key are refused at the start', async () => {
    await start();
    const networks = [networkOf()];
    const twice = {
      ...{ networks, signer: signers[0]!, signers: [signers[0]!, signers[0]!] },
      database: databases[0]!,
    };
    await expect(startAndStop(twice)).rejects.toThrow(
      `The network ethereum names the hot wallet ${signers[0]!.address} twice.`,
    );
  });
});
