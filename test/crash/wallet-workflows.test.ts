/**
 * A wallet process is killed while it works on a chain, and in the middle of a sweep: another process
 * takes the chain over, and the sweep goes on without paying twice.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keystore } from 'ox';
import type { Address, Hex } from 'viem';
import { amount } from '../../src/domain/money';
import { ONCHAIN } from '../../src/adapters/providers/onchain/adapter';
import type { Provider } from '../../src/adapters/providers/port';
import {
  createProviderAgent,
  createProviderCaller,
} from '../../src/adapters/providers/provider-http';
import { runWalletCommand } from '../../src/rails/wallet/commands';
import { Database } from '../../src/rails/wallet/db/database';
import { createDepositKey } from '../../src/rails/wallet/signer/deposit-key';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { ChildProgram } from '../support/servers/child-program';
import {
  createTestNamespace,
  temporalAddress,
  type TestNamespace,
} from '../support/wallet/durable-wallet';
import { findFreePort } from '../../src/dev/ports';
import { buildCheckout, buildOrder } from '../support/servers/sandbox';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  DEPOSIT_ACCOUNT,
  fillFloat,
  WALLET_KEYS,
} from '../support/wallet/wallet';
import { waitThroughFaults } from '../support/wait-for';

const PASSWORD = 'a password of the test';
const TREASURY = '0x8ba1f109551bD432803012645Ac136ddd64DBA72';

interface WalletProcess {
  program: ChildProgram;
  provider: Provider;
}

describeWithChain('wallet processes that are killed', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let temporal: TestNamespace;
  let db: Database;
  let folder: string;
  const wallets: WalletProcess[] = [];
  const agent = createProviderAgent();
  const signer = createTestSigner();

  beforeAll(async () => {
    [chain, database, temporal] = await Promise.all([
      startChain(),
      createWalletDatabase(),
      createTestNamespace(),
    ]);
    await fillFloat(chain, signer.address);
    db = new Database(database.url, { size: 2 });
    folder = mkdtempSync(join(tmpdir(), 'wallet-workflows-'));
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, PASSWORD);
    const [key, options] = Keystore.scrypt({ password: PASSWORD, n: 1_024 });
    const keystore = join(folder, 'key.json');
    writeFileSync(keystore, JSON.stringify(Keystore.encrypt(signer.privateKey, key, options)));
    const limit = { hour: '1000000', day: '1000000' };
    const network = {
      ...{ mode: 'test', name: 'ethereum', chain_id: chain.chainId, poll_ms: 50 },
      ...{ rpc_urls: [chain.url], native: { asset: 'ETH' } },
      tokens: [{ asset: 'USDC', address: chain.tokens.USDC.address, decimals: 6 }],
      payouts: {
        signer: { kind: 'keystore', file: keystore, password_file: passwordFile },
        limits: { USDC: limit, ETH: limit },
      },
    };
    writeFileSync(join(folder, 'networks.json'), JSON.stringify({ networks: [network] }));
    const { namespace } = temporal;
    const profiles = join(folder, 'temporal.toml');
    const profile = { address: temporalAddress(), namespace };
    const settings = Object.entries(profile).map(([name, value]) => `${name} = "${value}"`);
    writeFileSync(profiles, ['[profile.wallet]', ...settings].join('\n'));
    wallets.push(
      await prepareWallet({ TEMPORAL_ADDRESS: temporalAddress(), TEMPORAL_NAMESPACE: namespace }),
      await prepareWallet({ TEMPORAL_PROFILE: 'wallet', TEMPORAL_CONFIG_FILE: profiles }),
    );
    for (const { program } of wallets) await program.start();
  });
  afterAll(async () => {
    for (const { program } of wallets) await program.stop();
    await agent.close();
    await db.destroy();
    await Promise.all([chain.stop(), database.drop(), temporal.close()]);
    rmSync(folder, { recursive: true });
  });

  /** @param connection how it reaches Temporal */
  const prepareWallet = async (connection: NodeJS.ProcessEnv): Promise<WalletProcess> => {
    const port = await findFreePort();
    const program = new ChildProgram('wallet', {
      ...process.env,
      ...environment(),
      WALLET_PORT: String(port),
      WALLET_TEST_XPUB: DEPOSIT_ACCOUNT.publicExtendedKey,
      ONCHAIN_TEST_API_KEY: WALLET_KEYS.apiKey,
      ONCHAIN_TEST_CALLBACK_SECRET: WALLET_KEYS.callbackSecret,
      ...connection,
      WALLET_WORKFLOW_BUNDLE: process.env['TEST_WALLET_WORKFLOW_BUNDLE'],
    });
    const provider = ONCHAIN.create(
      { baseUrl: `http://127.0.0.1:${String(port)}`, ...WALLET_KEYS, timeoutMs: 8_000 },
      createProviderCaller(agent, 8_000),
    );
    return { program, provider };
  };
  const environment = () => ({
    GATEWAY_ENV: 'development',
    WALLET_DATABASE_URL: database.url,
    WALLET_NETWORKS_FILE: join(folder, 'networks.json'),
  });
  const run = async (...args: string[]): Promise<string> => {
    let text = '';
    const write = (words: string): void => void (text += words);
    await runWalletCommand(args, { env: environment(), out: write, err: write });
    return text;
  };
  /** The wallet whose process works on the chain. */
  const working = (other?: WalletProcess): Promise<WalletProcess> =>
    waitThroughFaults('a process that works on the chain', async () => {
      const [status] = JSON.parse(await run('status', '--json')) as { worker: string | null }[];
      const pid = Number(status?.worker?.split(' ').at(-1));
      const found = wallets.find(({ program }) => program.pid === pid);
      return found === other ? undefined : found;
    });
  const pay = async ({ provider }: WalletProcess): Promise<void> => {
    const order = buildOrder('onchain_provider', {
      ...{ currency: 'USDC', network: 'ethereum', amount: amount('2') },
      destination: { type: 'crypto_address', value: chain.accounts[7]!, memo: null },
    });
    expect((await provider.submitPayout(order)).kind).toBe('accepted');
    await waitThroughFaults('the payout', async () => {
      await chain.mine();
      const found = await provider.findPayout(order.reference);
      return found.kind === 'found' && found.transfer.status === 'sent';
    });
  };

  test('another process takes the chain over', async () => {
    const first = await working();
    await pay(first);
    await first.program.kill();
    const second = await working(first);
    await pay(second);
    await first.program.start();
  });

  test('a sweep goes on after both processes were killed between funding and transfer', async () => {
    const files = { keystore: join(folder, 'deposits.json'), password: join(folder, 'password') };
    createDepositKey(files, DEPOSIT_ACCOUNT.privateExtendedKey);
    for (const units of [25_000_000n, 30_000_000n]) await depositTo(units);
    await chain.finalize();
    const sweep = run(
      ...['sweep', '--chain-id', String(chain.chainId), '--asset', 'USDC', '--to', TREASURY],
      ...['--run', '--keystore', files.keystore, '--password-file', files.password],
    );
    // Mined and not final: the workflow waits for it.
    await waitThroughFaults('the funding to be mined', async () => {
      const rows = await db.query(
        `SELECT 1 FROM wallet.sweep_transaction JOIN wallet.transfer
           ON client_reference = funding_reference WHERE status = 'sending'`,
      );
      const receipts = await receiptsOf('funding');
      return rows.length === 2 && receipts === 2;
    });
    for (const { program } of wallets) await program.kill();
    await chain.finalize();
    for (const { program } of wallets) await program.start();
    const mining = setInterval(() => void chain.mine().catch(() => undefined), 200);
    const text = await sweep;
    clearInterval(mining);
    expect(text).toContain('2 of 2 addresses are swept');
    expect(await chain.balanceOf(chain.tokens.USDC, TREASURY)).toBe(55_000_000n);
    const funded = await db.query("SELECT 1 FROM wallet.transfer WHERE purpose = 'funding'");
    expect(funded).toHaveLength(2);
  });

  const depositTo = async (units: bigint): Promise<void> => {
    const changes = { currency: 'USDC', network: 'ethereum', amount: amount('25') };
    const order = buildCheckout('onchain_provider', changes);
    const { provider } = await working();
    await provider.openCheckout(order);
    const [row] = await db.query<{ address: Address }>(
      'SELECT address FROM wallet.checkout WHERE client_reference = $1',
      [order.reference],
    );
    await chain.mint(chain.tokens.USDC, row!.address, units);
    await waitThroughFaults('the final deposit', async () => {
      await chain.mine();
      const rows = await db.query(
        `SELECT 1 FROM wallet.deposit JOIN wallet.checkout ON checkout.id = checkout_id
         WHERE client_reference = $1 AND deposit.state = 'final' AND screening = 'clear'`,
        [order.reference],
      );
      return rows.length > 0;
    });
  };

  /** Transactions of transfers with this purpose that are in a block. */
  const receiptsOf = async (purpose: string): Promise<number> => {
    const rows = await db.query<{ hash: Hex }>(
      `SELECT hash FROM wallet.attempt JOIN wallet.slot USING (chain_id, signer, nonce)
         JOIN wallet.transfer ON transfer.id = transfer_id WHERE purpose = $1`,
      [purpose],
    );
    const found = await Promise.all(
      rows.map(({ hash }) => chain.rpc<object | null>('eth_getTransactionReceipt', [hash])),
    );
    return found.filter((receipt) => receipt !== null).length;
  };
});
