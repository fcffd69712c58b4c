/** A chain is driven for days: its workflow continues in new runs, and none of them forgets the pause. */
import { amount } from '../../../src/domain/money';
import type { ChainStatus } from '../../../workflows/wallet/messages';
import { describeWithChain, startChain, type TestChain } from '../../support/wallet/chain';
import {
  createTestNamespace,
  driveDurably,
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

describeWithChain('the workflow of a chain', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let temporal: TestNamespace;
  let wallet: TestWallet;
  const signer = createTestSigner();
  const id = (): string => `wallet-chain-${String(chain.chainId)}`;

  beforeAll(async () => {
    quietRuntime();
    [chain, database, temporal] = await Promise.all([
      startChain(),
      createWalletDatabase(),
      createTestNamespace(),
    ]);
    await fillFloat(chain, signer.address);
    const drive = driveDurably(temporal, { turnMs: 300, turnsMax: 3 });
    wallet = await startTestWallet({ networks: [testNetwork(chain)], signer, database, drive });
  });
  afterAll(async () => {
    await wallet.stop();
    await Promise.all([chain.stop(), database.drop(), temporal.close()]);
  });

  const readRun = (): Promise<string> =>
    waitThroughFaults(
      'a run',
      async () => (await temporal.client.workflow.getHandle(id()).describe()).runId,
    );
  const whenNextRun = (after: string): Promise<string> =>
    waitFor('the next run', async () => {
      const runId = await readRun();
      return runId === after ? undefined : runId;
    });
  const whenState = (state: ChainStatus['state']): Promise<ChainStatus> =>
    waitThroughFaults(`the state ${state}`, async () => {
      const status = await temporal.client.workflow.getHandle(id()).query<ChainStatus>('status');
      return status.state === state ? status : undefined;
    });

  it('continues in new runs, which know the pause, and works after it', async () => {
    await whenState('working');
    await temporal.client.workflow
      .getHandle(id())
      .signal('pause', { by: 'alice', reason: 'a test' });
    await whenState('paused');
    const second = await whenNextRun(await readRun());
    expect(await whenState('paused')).toMatchObject({ pause: { by: 'alice', reason: 'a test' } });
    await temporal.client.workflow.getHandle(id()).signal('resume', { by: 'bob' });
    const third = await whenNextRun(second);
    const { status } = await temporal.client.workflow.getHandle(id(), second).describe();
    expect(status.name).toBe('CONTINUED_AS_NEW');
    await recordHistory(temporal, id(), 'chain-continued', second);

    const order = buildOrder('onchain_provider', {
      ...{ currency: 'USDC', network: 'ethereum', amount: amount('2') },
      destination: { type: 'crypto_address', value: chain.accounts[7]!, memo: null },
    });
    await wallet.provider.submitPayout(order);
    await waitFor('the payout', async () => {
      await chain.mine();
      const found = await wallet.provider.findPayout(order.reference);
      return found.kind === 'found' && found.transfer.status === 'sent';
    });
    await whenNextRun(third);
  });
});
