/** What an operator asks the wallet and tells it, from the terminal. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { amount } from '../../src/domain/money';
import { runWalletCommand } from '../../src/wallet/commands';
import { describeWithChain, startChain, type TestChain } from '../support/chain';
import { waitLong } from '../support/patience';
import { buildOrder } from '../support/sandbox';
import {
  createTestSigner,
  createWalletDatabase,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
  type WalletDatabase,
} from '../support/wallet';

const SECRET = 'rpc-key-of-the-operator';

describeWithChain('the commands of the wallet', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let wallet: TestWallet;
  let folder: string;
  const signer = createTestSigner();

  beforeAll(async () => {
    [chain, database] = await Promise.all([startChain(), createWalletDatabase()]);
    await fillFloat(chain, signer.address, { coins: 10n ** 18n, tokens: 5_000_000n });
    wallet = await startTestWallet({ networks: [testNetwork(chain)], signer, database });
    folder = mkdtempSync(join(tmpdir(), 'wallet-commands-'));
    writeFileSync(join(folder, 'networks.json'), JSON.stringify({ networks: [network()] }));
  });
  afterAll(async () => {
    await wallet.stop();
    await Promise.all([chain.stop(), database.drop()]);
    rmSync(folder, { recursive: true });
  });

  const network = () => ({
    ...{ mode: 'test', name: 'ethereum', chain_id: chain.chainId, native: { asset: 'ETH' } },
    rpc_urls: [`${chain.url}/?key=${SECRET}`, `http://127.0.0.1:9/${SECRET}`],
    tokens: [{ asset: 'USDC', address: chain.tokens.USDC.address, decimals: 6 }],
    payouts: {
      signer: { kind: 'remote', url: `http://${SECRET}@127.0.0.1:9`, address: signer.address },
      float_minimum: { USDC: '100' },
      limits: { USDC: { hour: '1000', day: '1000' } },
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
    expect(await run('pause', '--chain-id', chainId, '--reason', 'a test')).toEqual({
      code: 0,
      text: `Payouts on the chain ${chainId} are paused.\n`,
    });
    const { reference } = order({});
    await wallet.provider.submitPayout(order({ reference }));
    const { code, text } = await run('status', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(text)).toMatchObject([
      {
        ...{ network: 'ethereum', mode: 'test', chain_id: chain.chainId },
        node_heads: [expect.any(Number), null],
        follower: { head: expect.any(Number), paused_reason: null },
        payouts_paused_reason: 'a test',
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
    expect((await run('status')).text).toContain('payouts    a test');
    expect((await run('resume', '--chain-id', chainId)).code).toBe(0);
    await waitLong('the payout', async () => {
      await chain.mine();
      const found = await wallet.provider.findPayout(reference);
      return found.kind === 'found' && found.transfer.status === 'sent' ? true : undefined;
    });
    expect((await run('status')).text).toContain('payouts    on');
  });

  it('denies an address, and allows it again', async () => {
    const value = '0x52908400098527886E0F7030069857D2E4169EE7';
    const destination = { type: 'crypto_address' as const, value, memo: null };
    expect((await run('deny', '--address', value, '--reason', 'a test')).code).toBe(0);
    const refused = await wallet.provider.submitPayout(order({ destination }));
    expect(refused.kind).toBe('refused');
    expect((await run('allow', '--address', value)).code).toBe(0);
    const accepted = await wallet.provider.submitPayout(order({ destination }));
    expect(accepted.kind).toBe('accepted');
  });

  it('names what is wrong with an argument', async () => {
    const { code, text } = await run('pause', '--chain-id', '5', '--reason', 'a test');
    expect(code).toBe(2);
    expect(text).toContain('WALLET_NETWORKS_FILE has no network with chain_id 5.');
    expect((await run('deny', '--address', '0x12', '--reason', 'a test')).code).toBe(2);
  });
});
