/** What an operator decides about a chain and its alarms: pauses hold over restarts, alarms are ended by a person. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { amount } from '../../../src/domain/money';
import { runWalletCommand } from '../../../src/rails/wallet/commands';
import { findPlace } from '../../../src/rails/wallet/follower/place';
import { describeWithChain, startChain, type TestChain } from '../../support/wallet/chain';
import { buildOrder } from '../../support/servers/sandbox';
import { createWalletDatabase, type WalletDatabase } from '../../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../../support/wallet/wallet';
import { waitFor } from '../../support/wait-for';

describeWithChain('what an operator decides about a chain', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let wallet: TestWallet;
  let folder: string;
  const signer = createTestSigner();

  const start = async (): Promise<void> => {
    wallet = await startTestWallet({ networks: [testNetwork(chain)], signer, database });
  };
  beforeAll(async () => {
    [chain, database] = await Promise.all([startChain(), createWalletDatabase()]);
    await fillFloat(chain, signer.address);
    folder = mkdtempSync(join(tmpdir(), 'wallet-chain-'));
    const networks = [
      {
        ...{ mode: 'test', name: 'ethereum', chain_id: chain.chainId, rpc_urls: [chain.url] },
        ...{ native: { asset: 'ETH' }, tokens: [] },
      },
    ];
    writeFileSync(join(folder, 'networks.json'), JSON.stringify({ networks }));
    await start();
  });
  afterAll(async () => {
    await wallet.stop();
    await Promise.all([chain.stop(), database.drop()]);
    rmSync(folder, { recursive: true });
  });

  const run = async (...args: string[]): Promise<{ code: number; text: string }> => {
    let text = '';
    const write = (words: string): void => void (text += words);
    const env = {
      WALLET_DATABASE_URL: database.url,
      WALLET_NETWORKS_FILE: join(folder, 'networks.json'),
      GATEWAY_ENV: 'development',
    };
    const code = await runWalletCommand(args, { env, out: write, err: write });
    return { code, text };
  };
  const pay = async (currency = 'USDC'): Promise<string> => {
    const order = buildOrder('onchain_provider', {
      ...{ currency, network: 'ethereum', amount: amount('2') },
      destination: { type: 'crypto_address', value: chain.accounts[7]!, memo: null },
    });
    expect((await wallet.provider.submitPayout(order)).kind).toBe('accepted');
    return order.reference;
  };
  const statusOf = async (reference: string): Promise<string | undefined> => {
    const found = await wallet.provider.findPayout(reference);
    return found.kind === 'found' ? found.transfer.status : undefined;
  };
  const ended = (reference: string): Promise<string> =>
    waitFor(`the end of ${reference}`, async () => {
      await chain.mine();
      const status = await statusOf(reference);
      return status === 'sent' || status === 'failed' ? status : undefined;
    });
  const attempts = async (): Promise<number> =>
    (await wallet.db.query('SELECT 1 FROM wallet.attempt')).length;
  const headOf = async (): Promise<number> =>
    (await findPlace(wallet.db, chain.chainId))?.headNumber ?? 0;

  it('is paused when nothing is under way any more, also over a restart, and goes on after `chain resume`', async () => {
    expect(await ended(await pay())).toBe('sent');
    const reason = ['--reason', 'both nodes fork'];
    const paused = await run('chain', 'pause', 'ethereum', '--by', 'alice', ...reason);
    expect(paused).toMatchObject({ code: 0 });
    const [state] = JSON.parse((await run('status', '--json')).text) as object[];
    const pause = { stops: 'chain', kind: 'pause', by: 'alice', reason: 'both nodes fork' };
    expect(state).toMatchObject({ worker: null, decisions: [pause] });

    const before = { head: await headOf(), attempts: await attempts() };
    const reference = await pay();
    await wallet.stop();
    await start();
    await chain.mine(3);
    const status = (await run('status')).text;
    expect(status).toContain('NONE: is a wallet running? Is the chain paused?');
    expect(status).toContain('the chain was paused by alice at ');
    expect(await statusOf(reference)).toBe('pending');
    expect({ head: await headOf(), attempts: await attempts() }).toEqual(before);

    const resumed = await run('chain', 'resume', 'ethereum', '--by', 'bob');
    expect(resumed.text).toMatch(/^ethereum \(test mode, chain \d+\) goes on\.\n$/);
    expect(await ended(reference)).toBe('sent');
    const working = (await run('status')).text;
    expect(working).toMatch(new RegExp(`worker +\\S+ ${process.pid}\n`));
    const decisions = await wallet.db.query(
      'SELECT stops, kind, decided_by AS by, reason FROM wallet.decision ORDER BY id',
    );
    expect(decisions).toEqual([
      { stops: 'chain', kind: 'pause', by: 'alice', reason: 'both nodes fork' },
      { stops: 'chain', kind: 'resume', by: 'bob', reason: null },
    ]);
    expect((await run('status')).text).toContain('the chain was resumed by bob at ');
    const forged = wallet.db.query("UPDATE wallet.decision SET decided_by = 'nobody'");
    await expect(forged).rejects.toThrow('permission denied');
  });

  it('has an alarm that an operator acknowledges and resolves', async () => {
    // The token keeps a part: the payout has ended, and a person has to look.
    await chain.call('TetherLikeToken', chain.tokens.USDT.address, 'setFee', [100n]);
    expect(await ended(await pay('USDT'))).toBe('sent');
    const list = async () =>
      JSON.parse((await run('alarms', 'list', '--json')).text) as { id: string; kind: string }[];
    const [alarm] = await list();
    expect(alarm).toMatchObject({ kind: 'not_transferred', needs_person: true });
    const { id } = alarm!;
    const by = ['--by', 'alice'];
    expect((await run('alarms', 'acknowledge', id, ...by)).code).toBe(0);
    const { text } = await run('alarms', 'list');
    expect(text).toContain('acknowledged by alice');
    expect(text).toContain('Look at the transaction and the contract of the token.');
    const reason = ['--reason', 'the token was removed'];
    expect((await run('alarms', 'resolve', '999999', ...by, ...reason)).code).toBe(2);
    const resolved = await run('alarms', 'resolve', id, ...by, ...reason);
    expect(resolved).toEqual({ code: 0, text: `The alarm ${id} is resolved.\n` });
    expect((await run('alarms', 'list')).text).toBe('No alarm is open.\n');
  });

  it('refuses to resolve what still holds', async () => {
    await chain.setNonce(signer.address, 50);
    const id = await waitFor('the alarm', async () => {
      const { text } = await run('alarms', 'list', '--json');
      const [alarm] = JSON.parse(text) as { id: string; kind: string }[];
      return alarm?.kind === 'signer_stopped' ? alarm.id : undefined;
    });
    const { code, text } = await run('alarms', 'resolve', id, '--by', 'bob', '--reason', 'x');
    expect(code).toBe(1);
    expect(text).toContain('The hot wallet is still stopped.');
  });
});
