/** The hosted page over HTTP: what it says in each state, its forms, and what a rejection sends back. */
import type { Address } from 'viem';
import { amount } from '../../src/domain/money';
import type { CheckoutOrder, Provider } from '../../src/adapters/providers/port';
import { nameRefundAddress } from '../../src/rails/wallet/checkouts/steps';
import { Database } from '../../src/rails/wallet/db/database';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../support/wallet/wallet';
import { buildOrder, foundCheckout, pay, when } from './deposits-world';

describeWithChain('the hosted page of the wallet', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let wallet: TestWallet;
  let provider: Provider;
  let db: Database;

  beforeAll(async () => {
    [chain, database] = await Promise.all([startChain(), createWalletDatabase()]);
    await chain.finalize();
    const signer = createTestSigner();
    await fillFloat(chain, signer.address);
    wallet = await startTestWallet({ networks: [testNetwork(chain)], signer, database });
    provider = wallet.provider;
    db = new Database(database.ownerUrl, { size: 1 });
  });

  afterAll(async () => {
    await wallet.stop();
    await db.destroy();
    await Promise.all([database.drop(), chain.stop()]);
  });

  const open = async (changes: Partial<CheckoutOrder> = {}, at = provider) => {
    const order = buildOrder(changes);
    const { checkoutUrl } = foundCheckout(await at.openCheckout(order));
    const text = await (await fetch(checkoutUrl)).text();
    const address = /data-copy="address">(0x[0-9a-fA-F]{40})</.exec(text)![1] as Address;
    return { order, url: checkoutUrl, address, text };
  };

  const statusAt = async (url: string): Promise<string> => {
    const text = await (await fetch(url)).text();
    return /data-status="([a-z]+)"/.exec(text)?.[1] ?? '';
  };
  const whenStatus = (url: string, name: string) =>
    when(`the status ${name}`, async () => ((await statusAt(url)) === name ? true : null));

  const post = (url: string, body = ''): Promise<Response> =>
    fetch(url, {
      ...{ method: 'POST', body, redirect: 'manual' },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

  test('an order is text: nothing of it becomes markup, and nothing comes from elsewhere', async () => {
    const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>`;
    const { url, text } = await open({
      description: evil,
      cancelUrl: 'https://shop.example/?a="><script>',
    });
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('<img');
    expect(text).toContain('&lt;script>alert(1)');
    const { headers } = await fetch(url);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(text).not.toMatch(/<script(?! src="\/checkout\/assets\/page\.js" defer)/);
    expect(text).not.toContain('style=');
    expect((await fetch(url.replace(/.$/, 'z'))).status).toBe(404);
  });

  test('the merchant’s logo is kept with the order, and its origin alone may send images', async () => {
    const order = buildOrder({
      merchantName: 'Ada’s shop',
      merchantLogoUrl: 'https://pay.example.com/logos/1?size="2"',
    });
    const { checkoutUrl } = foundCheckout(await provider.openCheckout(order));
    const moved = { ...order, merchantLogoUrl: 'https://pay.example.com/logos/2' };
    expect(foundCheckout(await provider.openCheckout(moved)).checkoutUrl).toBe(checkoutUrl);
    const answer = await fetch(checkoutUrl);
    expect(await answer.text()).toContain(
      '<img class="logo" src="https://pay.example.com/logos/1?size=%222%22" alt="Logo of Ada’s shop"/>',
    );
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toContain('; img-src data: https://pay.example.com; ');
    for (const merchantLogoUrl of [
      'ftp://pay.example.com/1',
      `https://a.example/${'1'.repeat(2_048)}`,
    ]) {
      const refused = await provider.openCheckout(buildOrder({ merchantLogoUrl }));
      expect(refused).toMatchObject({ kind: 'unknown' });
    }
  });

  test('the page says what is missing, and thanks for what was too much', async () => {
    const { address, url } = await open();
    await pay(chain, chain.tokens.USDC, address, 10_000_000n);
    await whenStatus(url, 'part');
    const part = await (await fetch(url)).text();
    expect(part).toContain('10.00 USDC received, 15.50 USDC missing.');
    expect(part).toContain('data-copy="amount">15.50<');
    expect(part).toMatch(/Seen, \d+ confirmations? so far/);
    await pay(chain, chain.tokens.USDC, address, 16_000_000n);
    await whenStatus(url, 'seen');
    await chain.finalize();
    await whenStatus(url, 'paid');
    expect(await (await fetch(url)).text()).toContain('You sent 26.00 USDC');
  });

  test('where a number of blocks is final, a transfer has so many confirmations of how many', async () => {
    const own = await createWalletDatabase();
    const networks = [testNetwork(chain, { finality: 3 })];
    const counting = await startTestWallet({
      ...{ networks, signer: createTestSigner(), database: own },
    });
    const { url, address } = await open({}, counting.provider);
    const whenSaid = (text: string) =>
      when(text, async () => ((await (await fetch(url)).text()).includes(text) ? true : null));
    await pay(chain, chain.tokens.USDC, address, 25_500_000n);
    await whenSaid('Seen, 1 of 4 confirmations');
    await chain.mine(2);
    await whenSaid('Seen, 3 of 4 confirmations');
    await chain.mine();
    await whenStatus(url, 'paid');
    const text = await (await fetch(url)).text();
    expect(text).toContain('<span>Confirmed</span>');
    expect(text).not.toContain('confirmations');
    await counting.stop();
    await own.drop();
  });

  test('a customer cancels, and after the time limit the address is gone', async () => {
    const { order, url } = await open({ cancelUrl: 'https://shop.example/basket' });
    const answer = await post(`${url}/cancel`);
    expect(answer.headers.get('location')).toBe('https://shop.example/basket');
    expect(foundCheckout(await provider.findCheckout(order.reference)).state).toBe('cancelled');
    expect(await statusAt(url)).toBe('cancelled');

    const short = await open({ expiresAt: new Date(Date.now() + 1_000) });
    await whenStatus(short.url, 'expired');
    expect(await (await fetch(short.url)).text()).not.toContain(short.address);
  });

  test('a rejected payment asks nobody on its page, and goes where an operator says', async () => {
    const { order, url, address } = await open();
    const customer = chain.accounts[5]!;
    await pay(chain, chain.tokens.USDC, address, 25_500_000n);
    await whenStatus(url, 'seen');
    await chain.finalize();
    await whenStatus(url, 'paid');
    expect(
      await provider.refundCheckout(order.reference, 'refund_1', amount('20.5')),
    ).toMatchObject({
      kind: 'refused',
    });
    const id = url.split('/').at(-1) ?? '';
    await db.query('UPDATE wallet.checkout SET is_held = true WHERE id = $1', [id]);
    await provider.releaseHold(order.reference, 'reject');
    expect(await statusAt(url)).toBe('refunding');
    const before = await chain.balanceOf(chain.tokens.USDC, customer);
    const entered = await post(`${url}/refund-address`, `address=${chain.accounts[6]!}`);
    expect(entered.status).toBe(404);
    expect(await (await fetch(url)).text()).not.toContain('refund-address');

    const by = { address: customer, by: 'alice', reason: 'the customer wrote' };
    const pageUrl = () => url;
    expect(await nameRefundAddress({ db, pageUrl }, id, by)).toBe(true);
    expect(
      await nameRefundAddress({ db, pageUrl }, id, { ...by, address: chain.accounts[6]! }),
    ).toBe(false);
    const done = await when('the refund', async () => {
      await chain.mine(4);
      const found = foundCheckout(await provider.findCheckout(order.reference));
      return found.refunds.length > 0 ? found : null;
    });
    expect(done.refunds).toMatchObject([{ amount: amount('25.5') }]);
    const arrived = (await chain.balanceOf(chain.tokens.USDC, customer)) - before;
    expect(arrived).toBe(25_500_000n);
  });
});
