/** Checkouts from the gateway's side: the real adapter, a real chain, signed callbacks. */
import { type Address, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { amount } from '../../src/domain/money';
import type { Provider } from '../../src/adapters/providers/port';
import { Database } from '../../src/rails/wallet/db/database';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  DEPOSIT_ACCOUNT,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../support/wallet/wallet';
import {
  buildOrder,
  foundCheckout,
  type Gateway,
  pay,
  startCallbackReceiver,
  when,
} from './deposits-world';

describeWithChain('the wallet’s checkouts, as the gateway’s adapter reads them', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let gateway: Gateway;
  let wallet: TestWallet;
  let provider: Provider;

  beforeAll(async () => {
    [chain, database, gateway] = await Promise.all([
      startChain(),
      createWalletDatabase(),
      startCallbackReceiver(),
    ]);
    await chain.finalize();
    wallet = await startTestWallet({
      ...{ networks: [testNetwork(chain)], signer: createTestSigner(), database },
      callbackBaseUrl: gateway.url,
    });
    provider = wallet.provider;
  });

  afterAll(async () => {
    await wallet.stop();
    await Promise.all([database.drop(), chain.stop(), gateway.close()]);
  });

  const addressOf = async (reference: string): Promise<Address> => {
    const answer = await fetch(`${wallet.wallet.url}/v1/checkouts/${reference}`, {
      headers: { authorization: 'Bearer wallet-test-key' },
    });
    const { checkout } = (await answer.json()) as {
      checkout: { deposit_address: { address: Address } };
    };
    return checkout.deposit_address.address;
  };

  const statuses = async (reference: string): Promise<string> => {
    const { transfers } = foundCheckout(await provider.findCheckout(reference));
    return transfers.map(({ status }) => status).join();
  };

  test('a checkout is paid: an address from the xpub, seen, confirmed, a signed callback', async () => {
    const order = buildOrder();
    const opened = foundCheckout(await provider.openCheckout(order));
    expect(opened).toMatchObject({ state: 'open', onHold: false, transfers: [], refunds: [] });
    expect(foundCheckout(await provider.openCheckout(order)).providerId).toBe(opened.providerId);
    const address = await addressOf(order.reference);
    // Whoever holds the account's private key can spend what arrives here.
    const key = DEPOSIT_ACCOUNT.deriveChild(0).deriveChild(0).privateKey;
    expect(privateKeyToAccount(toHex(key!)).address).toBe(address);

    await pay(chain, chain.tokens.USDC, address, 25_500_000n);
    await when('the deposit', async () =>
      (await statuses(order.reference)) === 'seen' ? true : null,
    );
    await chain.mine(4);
    const paid = await when('the confirmation', async () => {
      const found = foundCheckout(await provider.findCheckout(order.reference));
      return found.transfers[0]?.status === 'confirmed' ? found : null;
    });
    expect(paid).toMatchObject({ state: 'started', transfers: [{ amount: amount('25.5') }] });

    const last = await when('the callback', () => {
      const about = gateway.received.filter(({ body }) => body.includes('"final"'));
      return Promise.resolve(about.at(-1) ?? null);
    });
    expect(provider.readCallback(last.headers, last.body)).toEqual({
      object: 'payment',
      reference: order.reference,
    });
    const forged = Buffer.from(last.body.toString().replace('25.5', '99.5'));
    expect(provider.readCallback(last.headers, forged)).toBeNull();
  });

  test('a payout to a checkout of the same wallet is a deposit like any other', async () => {
    const order = buildOrder();
    await provider.openCheckout(order);
    const value = await addressOf(order.reference);
    await fillFloat(chain, wallet.signer.address);
    const payout = await provider.submitPayout({
      reference: `po_${order.reference}`,
      amount: amount('25.5'),
      currency: 'USDC',
      network: 'ethereum',
      destination: { type: 'crypto_address', value, memo: null },
    });
    expect(payout).toMatchObject({ kind: 'accepted' });
    await when('the deposit', async () => {
      await chain.finalize();
      return (await statuses(order.reference)) === 'confirmed' ? true : null;
    });
  });

  test('orders are the same or refused, and a statement lists every checkout once', async () => {
    const order = buildOrder({ successUrl: 'https://shop.example/thanks' });
    foundCheckout(await provider.openCheckout(order));
    const other = { ...order, amount: amount('1') };
    expect(await provider.openCheckout(other)).toMatchObject({ kind: 'unknown' });
    expect(await provider.findCheckout('pay_nobody')).toEqual({ kind: 'not_found' });
    const refused = [
      buildOrder({ currency: 'XRP' }),
      buildOrder({ network: 'tron' }),
      buildOrder({ amount: amount('0.00000001') }),
    ];
    for (const one of refused) {
      expect(await provider.openCheckout(one)).toMatchObject({ kind: 'refused' });
    }
    await Promise.all(
      Array.from({ length: 5 }, () => provider.openCheckout(buildOrder({ reference: 'pay_race' }))),
    );
    const page = await provider.listCheckouts({ changedFrom: null, cursor: null });
    const entries = page.kind === 'page' ? page.entries : [];
    const references = entries.map(({ entry }) => entry.reference);
    expect(references).toContain(order.reference);
    expect(references.filter((one) => one === 'pay_race')).toHaveLength(1);
    expect(new Set(references).size).toBe(references.length);
  });

  test('a checkout is cancelled while nothing arrived, and its address still receives', async () => {
    const order = buildOrder({ currency: 'ETH', amount: amount('0.5') });
    foundCheckout(await provider.openCheckout(order));
    const cancelled = foundCheckout(await provider.cancelCheckout(order.reference));
    expect(cancelled.state).toBe('cancelled');
    await pay(chain, null, await addressOf(order.reference), 500_000_000_000_000_001n);
    await when('late money', async () =>
      (await statuses(order.reference)) === 'seen' ? true : null,
    );
    const late = foundCheckout(await provider.cancelCheckout(order.reference));
    // The wei beyond 8 decimals stay in the wallet's books.
    expect(late).toMatchObject({ state: 'cancelled', transfers: [{ amount: amount('0.5') }] });
  });

  test('the list waits for a change that is not committed yet, so that a reader misses none', async () => {
    const { reference } = foundCheckout(await provider.openCheckout(buildOrder()));
    const later = foundCheckout(await provider.openCheckout(buildOrder())).reference;
    const idOf = async (which: string): Promise<string> => {
      const [row] = await wallet.db.query<{ id: string }>(
        'SELECT id FROM wallet.checkout WHERE client_reference = $1',
        [which],
      );
      return row!.id;
    };
    const [id, laterId] = await Promise.all([idOf(reference), idOf(later)]);
    const change = (db: Pick<TestWallet['db'], 'query'>, which: string) =>
      db.query('UPDATE wallet.checkout SET updated_at = clock_timestamp() WHERE id = $1', [which]);
    const changedFrom = new Date();
    const other = new Database(database.url, { size: 1 });
    let reading: ReturnType<Provider['listCheckouts']> | undefined;
    let isRead = false;
    await wallet.db.transaction(async (tx) => {
      await change(tx, id);
      await change(other, laterId);
      reading = provider.listCheckouts({ changedFrom, cursor: null });
      void reading.then(() => (isRead = true));
      await when('the page, or its wait for the change', async () => {
        const waiting = await other.query(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return isRead || waiting.length > 0 ? true : null;
      });
    });
    await other.destroy();
    const page = await reading!;
    if (page.kind !== 'page') throw new Error(page.reason);
    expect(page.entries.map(({ entry }) => entry.reference)).toEqual([reference, later]);
  });
});
