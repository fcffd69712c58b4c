/** The first start: no payment may be missed that arrives before the chain is followed. */
import type { Address } from 'viem';
import { amount } from '../../src/domain/money';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { decideUnknown } from '../../src/rails/wallet/sender/decide-unknown';
import { pause, resume } from '../../src/rails/wallet/chain/pause';
import { findLockHolder } from '../../src/rails/wallet/db/database';
import { chainLock } from '../../src/rails/wallet/driver';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  WALLET_KEYS,
} from '../support/wallet/wallet';
import { createOperator } from './operator';
import { buildOrder, foundCheckout, when } from './deposits-world';

const signer = createTestSigner();

describeWithChain('the first start of a wallet', () => {
  let chain: TestChain;
  let database: WalletDatabase;

  beforeEach(async () => {
    [chain, database] = await Promise.all([startChain(), createWalletDatabase()]);
    await chain.finalize();
  });
  afterEach(() => Promise.all([database.drop(), chain.stop()]));

  it('finds what was paid, and is final, before somebody works on the chain', async () => {
    const networks = [testNetwork(chain)];
    const idle = await startTestWallet({ networks, signer, database });
    await pause(idle.db, chain.chainId, 'chain', { by: 'alice', reason: 'a test' });
    await when('nobody to work on the chain', async () =>
      (await findLockHolder(idle.db, chainLock(chain.chainId))) === null ? true : null,
    );
    const order = buildOrder({ network: 'ethereum', amount: amount('5') });
    const { reference } = foundCheckout(await idle.provider.openCheckout(order));
    const [row] = await idle.db.query<{ address: Address }>('SELECT address FROM wallet.checkout');
    await chain.mint(chain.tokens.USDC, row!.address, 5_000_000n);
    await chain.finalize();
    await resume(idle.db, chain.chainId, 'chain', 'alice');
    await idle.stop();

    const wallet = await startTestWallet({ networks, signer, database });
    await when('the confirmed deposit', async () => {
      const { transfers } = foundCheckout(await wallet.provider.findCheckout(reference));
      return transfers[0]?.status === 'confirmed' ? true : null;
    });
    await wallet.stop();
  });

  it('asks an operator before a key pays that has sent transactions, because a database may be lost', async () => {
    await fillFloat(chain, signer.address);
    const raw = await signer.sign({
      ...{ type: 'eip1559', chainId: chain.chainId, nonce: 0, gas: 21_000n, value: 1n },
      ...{ to: createTestSigner().address, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n },
    });
    await chain.rpc('eth_sendRawTransaction', [raw]);
    await chain.finalize();
    const networks = [testNetwork(chain)];
    const wallet = await startTestWallet({ networks, signer, database });
    const operator = createOperator(
      () => networks[0]!,
      () => wallet.db,
    );
    await when('the stop', async () => ((await operator.isStopped()) ? true : null));
    await operator.cancel();
    await when('the unknown transaction', async () => {
      await chain.finalize();
      return (await operator.unknown()).length === 1 ? true : null;
    });
    const decision = { by: 'alice', reason: 'before the installation', foreign: 'all' } as const;
    const onChain = createChain(networks[0]!);
    await decideUnknown(wallet.db, onChain, signer.address, decision);
    await when('the end of the stop', async () => ((await operator.isStopped()) ? null : true));
    expect((await operator.look())[0]).toMatchObject({ next_nonce: '65', explain_to: null });
    expect(await wallet.db.query('SELECT reason FROM wallet.decision ORDER BY id')).toEqual([
      { reason: 'empty transactions for nonces 1 to 64: the runbook' },
      { reason: 'no other unknown transaction has paid a payout: before the installation' },
    ]);
    await wallet.stop();
  });

  it('opens no checkout on a network whose nodes have never answered', async () => {
    const networks = [testNetwork(chain, { rpcUrls: ['http://127.0.0.1:9'] })];
    const wallet = await startTestWallet({ networks, signer, database });
    const response = await fetch(`${wallet.wallet.url}/v1/checkouts`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${WALLET_KEYS.apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        ...{ client_reference: 'pay_1', network: 'ethereum', asset: 'USDC', amount: '5' },
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      }),
    });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: 'network_not_ready' } });
    expect(await wallet.db.query('SELECT 1 FROM wallet.checkout')).toEqual([]);
    await wallet.stop();
  });
});
