/** The pictures of the README: `npm run screenshots` writes them to docs/images. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { createUser } from '../../src/features/people/users';
import { signWebhook } from '../../clients/typescript/src/webhooks';
import { describeWithBrowser, signIn, useBrowser } from './browser';
import { useSharedGateway } from '../support/servers/gateway';
import {
  completePayout,
  buildPayoutMoney,
  creditPayment,
  reservePayout,
} from '../support/merchant/ledger';
import { createMerchant, fund, type Merchant } from '../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../support/merchant/merchant-client';
import type { TestUser } from '../support/merchant/page-client';
import { started } from '../support/started';
import { waitFor } from '../support/wait-for';

const FOLDER = join(__dirname, '../../docs/images');
const BYTES_MAX = 120_000;
const DAYS = 30;
const SECRET = 'whsec_of_a_merchant_in_a_picture';
const ADDRESSES = ['TCtQdCQtVNgK1bxPihSdafbrs899D2dH3W', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'];

const describeForPictures =
  (process.env['SCREENSHOTS'] ?? '') === '' ? describe.skip : describeWithBrowser;

describeForPictures('the pictures of the README', () => {
  const gateway = started(useSharedGateway);
  const browser = useBrowser();
  let site: string;
  let coffee: Merchant;

  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    site = new URL(gateway.baseUrl).origin;
    coffee = await namedMerchant('Northwind Coffee');
    await aMonthOf(coffee);
  });

  async function namedMerchant(name: string): Promise<Merchant> {
    const merchant = await createMerchant(gateway.db, gateway.pepper);
    const sql = 'UPDATE accounts SET name = ? WHERE id = ?';
    await gateway.db.query(sql, [name, merchant.accountId]);
    await fund(gateway.db, merchant.accountId, 'live', 'USDT', '18250.75');
    await fund(gateway.db, merchant.accountId, 'live', 'BTC', '0.8412');
    return merchant;
  }

  /** Payments and payouts of 30 days, straight in the ledger. */
  async function aMonthOf({ accountId }: Merchant): Promise<void> {
    const key = { accountId, mode: 'live', currency: 'USDT' } as const;
    for (let day = 0; day < DAYS; day++) {
      const received = 420 + ((day * 137) % 610);
      await creditPayment(gateway.db, key, received.toFixed(2), (received / 100).toFixed(2));
      if (day % 3 !== 0) continue;
      const payout = buildPayoutMoney((180 + ((day * 97) % 390)).toFixed(2), { network: '1' });
      await reservePayout(gateway.db, key, payout);
      await completePayout(gateway.db, key, payout);
    }
    await gateway.db.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      await tx.query(
        `UPDATE ledger_transactions t
            SET posted_at = now() - interval '${DAYS - 1} days'
                  + t.balance_version * interval '${DAYS - 1} days' / b.version
           FROM balances b
          WHERE (b.account_id, b.mode, b.currency) = (t.account_id, t.mode, t.currency)
            AND t.account_id = ?`,
        [accountId],
      );
    });
  }

  async function signedIn(
    kind: TestUser['kind'],
    role: string,
    email: string,
    accountId: string | null,
  ): Promise<Page> {
    const wish = { kind, email, role, accountId, password: null };
    const user = await createUser(gateway.db, { actor: 'test', reason: null }, wish);
    const page = await browser.newPage({ viewport: { width: 1080, height: 660 } });
    await page.goto(`${site}/${kind === 'merchant' ? 'dashboard' : 'console'}`);
    await signIn(page, user);
    await page.locator('.shell').waitFor();
    return page;
  }

  async function take(page: Page, name: string): Promise<void> {
    const path = join(FOLDER, `${name}.png`);
    await page.screenshot({ path });
    expect(statSync(path).size).toBeLessThan(BYTES_MAX);
  }

  test('home, a timeline, the review queue and the signature debugger', async () => {
    const books = await namedMerchant('Harbour Books');
    const clients = [coffee, books].map(
      ({ liveKey }) => new MerchantClient(gateway.baseUrl, liveKey),
    );
    const request = async (of: number, amount: string, reference: string) => {
      const value = ADDRESSES[of];
      const destination = { type: 'crypto_address', value };
      const body = buildPayout({ amount, reference, destination });
      const { status, json } = await clients[of]!.createPayout(body);
      expect(status).toBe(201);
      return json.data.id as string;
    };
    const paid = await request(0, '1250.00', 'roastery-2041');
    const reviewer = await signedIn('operator', 'reviewer', 'tom.okafor@pay.example', null);
    await reviewer.goto(`${site}/console/payouts/${paid}`);
    await reviewer.getByRole('button', { name: /Approve and send/ }).click();
    const lena = await signedIn(
      'merchant',
      'owner',
      'lena.fischer@northwind.example',
      coffee.accountId,
    );
    await waitFor('the payout to complete', async () => {
      await lena.goto(`${site}/dashboard/live/payouts/${paid}`);
      return (await lena.locator('.timeline').innerText()).includes('Completed');
    });
    await take(lena, 'payout');
    await request(0, '640.50', 'supplier-1187');
    await request(1, '2310.00', 'printer-0093');
    await request(0, '89.90', 'refund-5512');
    await gateway.db.query(
      `UPDATE payouts SET created_at = created_at - interval '1 minute' * length(reference) * amount / 100
        WHERE account_id IN (?, ?) AND status = 'under_review'`,
      [coffee.accountId, books.accountId],
    );
    await lena.goto(`${site}/dashboard/live`);
    await take(lena, 'home');
    await reviewer.goto(`${site}/console/queue?mode=live`);
    await take(reviewer, 'queue');

    await lena.goto(`${site}/dashboard/live/webhooks/debugger`);
    const [event] = await gateway.db.query<{ body: Buffer }>(
      `SELECT body FROM events WHERE object_id = ? AND type = 'payout.completed'`,
      [paid],
    );
    const body = event!.body.toString();
    const signature = signWebhook(SECRET, Math.floor(Date.now() / 1_000), body);
    await lena.getByLabel('X-Gateway-Signature').fill(signature);
    // What a framework does that parses the body and writes it again.
    await lena.getByLabel('Raw body').fill(JSON.stringify(JSON.parse(body), null, 2));
    await lena.getByLabel('Signing secret').fill(SECRET);
    await lena.getByRole('button', { name: 'Check signature' }).click();
    await lena.locator('.note').waitFor();
    await take(lena, 'debugger');
  });
});
