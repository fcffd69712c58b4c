/** What an operator asks the wallet and tells it, from the terminal. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address } from 'viem';
import { amount } from '../../../src/domain/money';
import { runWalletCommand } from '../../../src/rails/wallet/commands';
import type { NetworkStatus } from '../../../src/rails/wallet/status';
import { createDepositKey } from '../../../src/rails/wallet/signer/deposit-key';
import {
  createTestNamespace,
  sweepDurably,
  recordHistory,
  type TestNamespace,
} from '../../support/wallet/durable-wallet';
import { describeWithChain, startChain, type TestChain } from '../../support/wallet/chain';
import { quietRuntime } from '../../support/servers/workflow-world';
import { buildCheckout, buildOrder } from '../../support/servers/sandbox';
import { createWalletDatabase, type WalletDatabase } from '../../support/servers/database';
import {
  createTestSigner,
  DEPOSIT_ACCOUNT,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../../support/wallet/wallet';
import { waitFor } from '../../support/wait-for';

const SECRET = 'rpc-key-of-the-operator';

describeWithChain('the commands of the wallet', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let temporal: TestNamespace;
  let wallet: TestWallet;
  let folder: string;
  const signer = createTestSigner();

  beforeAll(async () => {
    quietRuntime();
    [chain, database, temporal] = await Promise.all([
      startChain(),
      createWalletDatabase(),
      createTestNamespace(),
    ]);
    await fillFloat(chain, signer.address, { coins: 10n ** 18n, tokens: 5_000_000n });
    const networks = [testNetwork(chain)];
    wallet = await startTestWallet({ networks, signer, database, sweep: sweepDurably(temporal) });
    await waitFor('the chain to be followed', async () => {
      const rows = await wallet.db.query(
        'SELECT 1 FROM wallet.followed_chain, wallet.signer WHERE final_number >= 0',
      );
      return rows.length > 0;
    });
    folder = mkdtempSync(join(tmpdir(), 'wallet-commands-'));
    writeFileSync(join(folder, 'networks.json'), JSON.stringify({ networks: [network()] }));
  });
  afterAll(async () => {
    await wallet.stop();
    await Promise.all([chain.stop(), database.drop(), temporal.close()]);
    rmSync(folder, { recursive: true });
  });

  const network = () => ({
    ...{ mode: 'test', name: 'ethereum', chain_id: chain.chainId, native: { asset: 'ETH' } },
    rpc_urls: [`${chain.url}/?key=${SECRET}`, `http://127.0.0.1:9/${SECRET}`],
    tokens: [{ asset: 'USDC', address: chain.tokens.USDC.address, decimals: 6 }],
    payouts: {
      signer: { kind: 'remote', url: `http://${SECRET}@127.0.0.1:9`, address: signer.address },
      float_minimum: { USDC: '100' },
      limits: { USDC: { hour: '1000', day: '1000' }, ETH: { hour: '10', day: '10' } },
      native_prices: { USDC: '3000' },
    },
  });
  const run = async (...args: string[]): Promise<{ code: number; text: string }> => {
    let text = '';
    const write = (words: string): void => void (text += words);
    const env = {
      WALLET_DATABASE_URL: database.url,
      WALLET_NETWORKS_FILE: join(folder, 'networks.json'),
    };
    const code = await runWalletCommand(args, { env, out: write, err: write });
    expect(text).not.toContain(SECRET);
    return { code, text };
  };
  const order = (changes: object) =>
    buildOrder('onchain_provider', {
      ...{ currency: 'USDC', network: 'ethereum', amount: amount('2') },
      destination: { type: 'crypto_address', value: chain.accounts[7]!, memo: null },
      ...changes,
    });

  it('pauses a chain: payouts wait, and the status says why, until it is resumed', async () => {
    const chainId = String(chain.chainId);
    const by = ['--by', 'alice'];
    expect(await run('pause', '--chain-id', chainId, '--reason', 'a test', ...by)).toEqual({
      code: 0,
      text: `Payouts are paused on the chain ${chainId}.\n`,
    });
    const { reference } = order({});
    await wallet.provider.submitPayout(order({ reference }));
    const { code, text } = await run('status', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(text)).toMatchObject([
      {
        ...{ network: 'ethereum', mode: 'test', chain_id: chain.chainId },
        worker: expect.stringContaining(` ${process.pid}`),
        node_heads: [expect.any(Number), null],
        follower: { head: expect.any(Number), paused_reason: null },
        payouts_paused_reason: 'a test',
        decisions: [
          {
            ...{ stops: 'payouts', kind: 'pause', by: 'alice', reason: 'a test' },
            at: expect.stringMatching(/Z$/),
          },
        ],
        hot_wallets: [
          {
            ...{ address: signer.address.toLowerCase(), stopped_reason: null, in_flight: 0 },
            floats: [
              { asset: 'ETH', balance: '1.00000000', minimum: null, is_low: false },
              { asset: 'USDC', balance: '5.00000000', minimum: '100.00000000', is_low: true },
            ],
          },
        ],
        transfers: { queued: 1, oldest_queued_at: expect.stringMatching(/Z$/) },
        deposits: { unconfirmed: 0, oldest_unconfirmed_at: null, held: 0 },
        refunds: { needs_address: 0, sending: 0 },
      },
    ]);
    expect((await run('status')).text).toContain('payouts    PAUSED: a test');
    expect((await run('resume', '--chain-id', chainId)).code).toBe(0);
    await waitFor('the payout', async () => {
      await chain.mine();
      const found = await wallet.provider.findPayout(reference);
      return found.kind === 'found' && found.transfer.status === 'sent';
    });
    const { text: resumed } = await run('status');
    expect(resumed).toContain('payouts    on');
    expect(resumed).toContain('payouts were resumed by not named at ');
  });

  it('denies an address, and allows it again; who did it stays', async () => {
    const value = '0x52908400098527886E0F7030069857D2E4169EE7';
    const destination = { type: 'crypto_address' as const, value, memo: null };
    const by = ['--by', 'alice'];
    expect((await run('deny', '--address', value, '--reason', 'a test', ...by)).code).toBe(0);
    const refused = await wallet.provider.submitPayout(order({ destination }));
    expect(refused.kind).toBe('refused');
    expect((await run('denied')).text).toMatch(/^\S+Z {2}deny +0x529\w+ by alice: a test\n$/);
    const allow = () => run('allow', '--address', value, '--by', 'bob');
    expect(await allow()).toEqual({ code: 0, text: `${value} is not denied any more.\n` });
    expect(await allow()).toEqual({ code: 0, text: `${value} was not denied.\n` });
    expect((await run('denied')).text).toBe('No address is denied.\n');
    const accepted = await wallet.provider.submitPayout(order({ destination }));
    expect(accepted.kind).toBe('accepted');

    const nothing = { stops: null, chain_id: null, transfer: null, subject: null };
    const decision = { ...nothing, address: value };
    const { text: decisions } = await run('decisions', '--limit', '2', '--json');
    expect(JSON.parse(decisions)).toEqual([
      { ...decision, at: expect.any(String), kind: 'allow', by: 'bob', reason: null },
      { ...decision, at: expect.any(String), kind: 'deny', by: 'alice', reason: 'a test' },
    ]);
    const { text: lines } = await run('decisions', '--limit', '2');
    expect(lines).toMatch(/^\S+Z {2}allow +0x529\w+ by bob\n\S+Z {2}deny .* by alice: a test\n$/);
    await expect(wallet.db.query('DELETE FROM wallet.decision')).rejects.toThrow(
      'permission denied for table decision',
    );
  });

  describe('sweeps', () => {
    const treasury = '0x8ba1f109551bD432803012645Ac136ddd64DBA72';
    let keys: string[];
    beforeAll(() => {
      const files = { keystore: join(folder, 'deposits.json'), password: join(folder, 'password') };
      writeFileSync(files.password, 'a long enough password');
      createDepositKey(files, DEPOSIT_ACCOUNT.privateExtendedKey);
      keys = ['--keystore', files.keystore, '--password-file', files.password];
      chain.keepMining();
    });

    /** A checkout that is paid, in a final block. */
    const paid = async (currency: string, text: string): Promise<void> => {
      const changes = { currency, network: 'ethereum', amount: amount(text) };
      const { reference } = buildCheckout('onchain_provider', changes);
      await wallet.provider.openCheckout({
        ...buildCheckout('onchain_provider', changes),
        reference,
      });
      const [row] = await wallet.db.query<{ address: Address }>(
        'SELECT address FROM wallet.checkout WHERE client_reference = $1',
        [reference],
      );
      if (currency === 'ETH') await chain.send(row!.address, 10n ** 18n);
      else await chain.mint(chain.tokens.USDC, row!.address, BigInt(text) * 1_000_000n);
      await waitFor('the final deposit', async () => {
        const found = await wallet.provider.findCheckout(reference);
        const [transfer] = found.kind === 'found' ? found.checkout.transfers : [];
        return transfer?.status === 'confirmed';
      });
    };
    const sweep = (asset: string, ...more: string[]) =>
      run(
        ...['sweep', '--chain-id', String(chain.chainId), '--asset', asset],
        ...['--to', treasury, ...more],
      );

    /** What the status says, once the follower has read the sweep. */
    const sumsAfter = ({ asset, swept }: { asset: string; swept: string }) =>
      waitFor(`the sums of ${asset}`, async () => {
        const [status] = JSON.parse((await run('status', '--json')).text) as NetworkStatus[];
        return status?.sums?.find((one) => one.asset === asset && one.swept === swept);
      });

    it('tells the costs, funds each address once and moves all of a token', async () => {
      await Promise.all([paid('USDC', '25'), paid('USDC', '30'), paid('USDC', '1')]);
      await chain.finalize();
      const minimum = ['--minimum', '10'];
      const { text } = await sweep('USDC', '--plan', ...minimum);
      expect(text).toContain('25.00000000 USDC');
      expect(text).toContain(`2 addresses to ${treasury} on ethereum (test mode`);
      expect(text).toContain('1 addresses have too little and are left out.');
      expect(text).toMatch(
        /Network fees of at most 0\.\d+ ETH, of which the hot wallet sends 0\.\d+/,
      );
      expect(await chain.balanceOf(chain.tokens.USDC, treasury)).toBe(0n);

      const swept = await sweep('USDC', '--run', ...keys, ...minimum);
      expect(swept).toMatchObject({ code: 0 });
      expect(swept.text).toContain('2 of 2 addresses are swept');
      const id = /wallet-sweep_[0-9a-f]+/.exec(swept.text)![0];
      const result = await temporal.client.workflow.getHandle(id).result();
      expect(result).toEqual({ moved: 2, failure: null });
      await recordHistory(temporal, id, 'sweep');
      expect(await chain.balanceOf(chain.tokens.USDC, treasury)).toBe(55_000_000n);
      expect((await sweep('USDC', '--plan', ...minimum)).text).toContain('0 addresses to');
      const sums = await sumsAfter({ asset: 'USDC', swept: '55' });
      expect(sums).toMatchObject({ received: '56', fees: '0', on_addresses: '1', difference: '0' });
      expect((await run('status')).text).toMatch(/sums +USDC: addresses have 1 = 56 received/);
      const funded = await wallet.db.query(
        "SELECT 1 FROM wallet.transfer WHERE purpose = 'funding' AND status = 'confirmed'",
      );
      expect(funded).toHaveLength(2);
      const listed = await wallet.provider.listPayouts({ changedFrom: null, cursor: null });
      expect(JSON.stringify(listed)).not.toContain('sweep_');
      expect((await run('status')).text).not.toContain('unexpected_deposit');
    });

    it('moves coins by a batch that is signed elsewhere, and refuses a batch that was changed', async () => {
      await paid('ETH', '1');
      await chain.finalize();
      const [batch, signed] = [join(folder, 'batch.json'), join(folder, 'signed.json')];
      // Without a minimum it would also sweep what funding has left on the other addresses.
      const exported = await sweep('ETH', '--export', batch, '--minimum', '0.1');
      expect(exported.text).toContain('Wrote 1 transactions');
      const unsigned = JSON.parse(readFileSync(batch, 'utf8')) as { transactions: object[] };
      const sign = (from: string) => run('sweep-sign', '--batch', from, '--out', signed, ...keys);
      const [stolen, padded] = [join(folder, 'stolen.json'), join(folder, 'padded.json')];
      writeFileSync(stolen, JSON.stringify({ ...unsigned, destination: chain.accounts[7] }));
      expect((await sign(stolen)).text).toContain(` to ${String(chain.accounts[7])} on chain `);
      expect(await sweep('ETH', '--import', signed)).toMatchObject({
        ...{ code: 1, text: expect.stringContaining('of another chain, asset or destination') },
      });
      const transactions = unsigned.transactions.map((one) => ({ ...one, to: chain.accounts[7] }));
      writeFileSync(padded, JSON.stringify({ ...unsigned, transactions }));
      expect(await sign(padded)).toMatchObject({
        ...{ code: 1, text: expect.stringContaining('is not a batch') },
      });

      const signing = await sign(batch);
      expect(signing.text).toMatch(/^Signed 0\.9\d+ ETH from 0x\w+ to 0x8ba1f1/);
      expect(signing.text).toMatch(/for a network fee of at most 0\.0\d+\n$/);

      const content = JSON.parse(readFileSync(signed, 'utf8')) as {
        transactions: { units: string; raw: string }[];
      };
      const [entry] = content.transactions;
      const changed = join(folder, 'changed.json');
      const other = [{ ...entry, units: (BigInt(entry!.units) - 1n).toString() }];
      writeFileSync(changed, JSON.stringify({ ...content, transactions: other }));
      const refused = await sweep('ETH', '--import', changed);
      expect(refused).toEqual({
        code: 1,
        text: 'The signed transaction has another value than the order.\n',
      });

      const before = await chain.balanceOf(null, treasury);
      const sent = await sweep('ETH', '--import', signed);
      expect(sent.text).toContain('1 of 1 addresses are swept');
      const moved = (await chain.balanceOf(null, treasury)) - before;
      expect(moved).toBe(BigInt(entry!.units));
    });
  });

  it('names what is wrong with an argument', async () => {
    const { code, text } = await run('pause', '--chain-id', '5', '--reason', 'a test');
    expect(code).toBe(2);
    expect(text).toContain('WALLET_NETWORKS_FILE has no network with chain_id 5.');
    expect((await run('deny', '--address', '0x12', '--reason', 'a test')).code).toBe(2);
    const { text: limit } = await run('decisions', '--limit', '0');
    expect(limit).toContain('It must be a whole number from 1 to 10000.');
  });
});
