/**
 * Workflows drive a wallet: pauses hold over restarts and end, alarms are ended by a person, and an
 * idle chain costs almost nothing.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { amount } from '../../../src/domain/money';
import { runWalletCommand } from '../../../src/rails/wallet/commands';
import { findPlace } from '../../../src/rails/wallet/follower/place';
import type { ChainStatus } from '../../../workflows/wallet/messages';
import { describeWithChain, startChain, type TestChain } from '../../support/wallet/chain';
import {
  createTestNamespace,
  driveDurably,
  readPage,
  recordHistory,
  type TestNamespace,
} from '../../support/wallet/durable-wallet';
import { buildOrder } from '../../support/servers/sandbox';
import { createWalletDatabase, type WalletDatabase } from '../../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../../support/wallet/wallet';
import { quietRuntime } from '../../support/servers/workflow-world';
import { waitFor, waitThroughFaults } from '../../support/wait-for';

describeWithChain('a wallet that workflows drive', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let temporal: TestNamespace;
  let wallet: TestWallet;
  let folder: string;
  const signer = createTestSigner();
  const chainWorkflow = () => `wallet-chain-${String(chain.chainId)}`;
  const handle = (id: string) => temporal.client.workflow.getHandle(id);

  const start = async (): Promise<void> => {
    const networks = [testNetwork(chain)];
    wallet = await startTestWallet({ networks, signer, database, drive: driveDurably(temporal) });
  };
  beforeAll(async () => {
    quietRuntime();
    [chain, database, temporal] = await Promise.all([
      startChain(),
      createWalletDatabase(),
      createTestNamespace(),
    ]);
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
    await Promise.all([chain.stop(), database.drop(), temporal.close()]);
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
  const untilState = (state: ChainStatus['state']): Promise<ChainStatus> =>
    waitThroughFaults(`the state ${state}`, async () => {
      const status = await handle(chainWorkflow()).query<ChainStatus>('status');
      return status.state === state ? status : undefined;
    });
  const attempts = async (): Promise<number> =>
    (await wallet.db.query('SELECT 1 FROM wallet.attempt')).length;
  const headOf = async (): Promise<number> =>
    (await findPlace(wallet.db, chain.chainId))?.headNumber ?? 0;

  it('stops at a signal, also over a restart, and goes on after `chain resume`', async () => {
    expect(await ended(await pay())).toBe('sent');
    await handle(chainWorkflow()).signal('pause', { by: 'alice' });
    await handle(chainWorkflow()).signal('pause', { by: 'alice', reason: 'both nodes *fork*' });
    expect(await untilState('paused')).toMatchObject({
      pause: { by: 'alice', reason: 'both nodes *fork*' },
      report: { head: expect.any(Number), alarms: [] },
    });
    const page = await readPage(temporal, chainWorkflow());
    expect(page).toContain('**paused**');
    expect(page).toContain('Paused by alice');
    expect(page).toContain('both nodes \\*fork\\*');
    expect(page).toContain('`pause` was ignored: "reason" is required.');

    const before = { head: await headOf(), attempts: await attempts() };
    const reference = await pay();
    await wallet.stop();
    await start();
    await chain.mine(3);
    // The workflow runs in the new process: it answers.
    await untilState('paused');
    expect((await run('chain', 'status', 'ethereum')).text).toContain('paused by alice since');
    expect(await statusOf(reference)).toBe('pending');
    expect({ head: await headOf(), attempts: await attempts() }).toEqual(before);

    const resumed = await run('chain', 'resume', 'ethereum', '--by', 'bob');
    expect(resumed.text).toMatch(/^ethereum \(test mode, chain \d+\) goes on\.\n$/);
    expect(await ended(reference)).toBe('sent');
    const decisions = await wallet.db.query(
      'SELECT stops, kind, decided_by AS by, reason FROM wallet.decision ORDER BY id',
    );
    expect(decisions).toEqual([
      { stops: 'chain', kind: 'pause', by: 'alice', reason: 'both nodes *fork*' },
      { stops: 'chain', kind: 'resume', by: 'bob', reason: null },
    ]);
    expect((await run('status')).text).toContain('the chain was resumed by bob at ');
    const forged = wallet.db.query("UPDATE wallet.decision SET decided_by = 'nobody'");
    await expect(forged).rejects.toThrow('permission denied');
  });

  it('is paused by the command when nothing is under way any more', async () => {
    const paused = await run('chain', 'pause', 'ethereum', '--by', 'bob', '--reason', 'a test');
    expect(paused).toMatchObject({ code: 0 });
    const state = JSON.parse((await run('chain', 'status', 'ethereum', '--json')).text) as object;
    expect(state).toMatchObject({ state: 'paused', worker: null, pause: { by: 'bob' } });
    const before = await attempts();
    const reference = await pay();
    await chain.mine(3);
    await untilState('paused');
    expect(await attempts()).toBe(before);
    await handle(chainWorkflow()).signal('resume', { by: 'bob' });
    expect(await ended(reference)).toBe('sent');
    const working = (await run('chain', 'status', 'ethereum')).text;
    expect(working).toContain(`working since`);
    expect(working).toContain(String(process.pid));
    await recordHistory(temporal, chainWorkflow(), 'chain');
  });

  it('goes on when its workflow is terminated by hand', async () => {
    await handle(chainWorkflow()).terminate('a test');
    await waitFor('another run', async () => {
      const { status } = await handle(chainWorkflow()).describe();
      return status.name === 'RUNNING';
    });
    expect(await ended(await pay())).toBe('sent');
  });

  const openAlarm = async (): Promise<string> => {
    // The token keeps a part: the payout has ended, and a person has to look.
    await chain.call('TetherLikeToken', chain.tokens.USDT.address, 'setFee', [100n]);
    const reference = await pay('USDT');
    expect(await ended(reference)).toBe('sent');
    return waitFor('the alarm', async () => {
      const { text } = await run('alarms', 'list', '--json');
      const [alarm] = JSON.parse(text) as { id: string; kind: string }[];
      return alarm?.kind === 'not_transferred' ? alarm.id : undefined;
    });
  };
  const alarmWorkflow = (id: string) => `wallet-alarm-${String(chain.chainId)}-${id}`;

  it('has a workflow for an alarm, which an operator acknowledges and resolves', async () => {
    const id = await openAlarm();
    const workflow = alarmWorkflow(id);
    await waitThroughFaults('the page', async () => {
      const page = await readPage(temporal, workflow);
      return page.includes('**not_transferred**');
    });
    await handle(workflow).signal('acknowledge', { by: 'alice' });
    await handle(workflow).signal('resolve', { by: 'alice' });
    await waitFor('who looks after it', async () => {
      const page = await readPage(temporal, workflow);
      return (
        page.includes('Acknowledged by alice') &&
        page.includes('`resolve` was ignored: "reason" is required.')
      );
    });
    expect((await run('alarms', 'list')).text).toContain('acknowledged by alice');
    await handle(workflow).signal('resolve', { by: 'alice', reason: 'the token was removed' });
    expect(await handle(workflow).result()).toBe('resolved by alice: the token was removed');
    expect((await run('alarms', 'list')).text).toBe('No alarm is open.\n');
    await recordHistory(temporal, workflow, 'alarm');
  });

  it('ends the workflow of an alarm that the command resolved', async () => {
    const id = await openAlarm();
    await waitThroughFaults('its workflow', () => handle(alarmWorkflow(id)).describe());
    expect((await run('alarms', 'resolve', '999999', '--by', 'bob', '--reason', 'x')).code).toBe(2);
    const resolved = await run('alarms', 'resolve', id, '--by', 'bob', '--reason', 'known');
    expect(resolved).toEqual({ code: 0, text: `The alarm ${id} is resolved.\n` });
    const result = await waitThroughFaults('the end of its workflow', () =>
      handle(alarmWorkflow(id)).result(),
    );
    expect(result).toBe('resolved by bob: known');
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
