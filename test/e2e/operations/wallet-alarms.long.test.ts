/** From an alarm of the wallet to a mail, a chat and a page of the console, through the schedule of the worker. */
import { findAnvil } from '../../../src/dev/chain/anvil';
import { runWalletCommand } from '../../../src/rails/wallet/commands';
import { Database } from '../../../src/rails/wallet/db/database';
import { describeWithProgram } from '../../support/optional-program';
import { makeUser, signedIn } from '../../support/merchant/page-client';
import { acceptedPayout, openMerchant, whenFinal } from '../../support/payout/payout-steps';
import { ChildProgram } from '../../support/servers/child-program';
import { createWalletDatabase } from '../../support/servers/database';
import { type MailServer, startMailServer } from '../../support/servers/mail-server';
import { type Receiver, startReceiver } from '../../support/webhook/webhook-receiver';
import {
  type GatewayWithWallet,
  startGatewayWithWallet,
} from '../../support/wallet/gateway-wallet';
import { createTestSigner } from '../../support/wallet/wallet';
import { waitFor, waitThroughFaults } from '../../support/wait-for';

const ON_CHAIN = { currency: 'USDC', network: 'ethereum', amount: '5' };

describeWithProgram(findAnvil(), 'Install the packages for this system.', 'a wallet', () => {
  let mails: MailServer;
  let chat: Receiver;
  let world: GatewayWithWallet;

  beforeAll(async () => {
    [mails, chat] = await Promise.all([startMailServer(), startReceiver()]);
    world = await startGatewayWithWallet({
      env: {
        GATEWAY_ENV: 'development',
        SMTP_URL: mails.url,
        MAIL_FROM: 'Payments <payments@example.com>',
      },
    });
    world.chain.keepMining();
  });
  afterAll(() => Promise.all([world.stop(), mails.stop(), chat.stop()]));

  test('an alarm is mailed, posted to the chat and on the page of operations until it ends', async () => {
    const { gateway, chain, signer } = world;
    const operator = await makeUser(gateway.db, 'operator', 'admin');
    const page = await signedIn(gateway.baseUrl, operator);
    const added = new URLSearchParams({
      name: 'Operations',
      url: chat.url,
      kinds: 'case_opened',
    });
    expect((await page.post('/console/chats', added)).status).toBe(303);
    const [chatPage = ''] = /\/console\/chats\/\w+/.exec(await page.read('/console/chats')) ?? [];
    const chosen = new URLSearchParams({ kinds: 'provider_alarm' });
    expect((await page.post(chatPage, chosen)).status).toBe(303);
    expect(await page.read(chatPage)).toMatch(/value="provider_alarm" checked/);

    await chain.setBalance(signer.address, 0n);
    const { client } = await openMerchant(gateway, { mode: 'test', funds: { USDC: '100' } });
    const { address: value } = createTestSigner();
    const id = await acceptedPayout(client, {
      ...ON_CHAIN,
      destination: { type: 'crypto_address', value },
    });
    const showsAlarm = async () => {
      await gateway.temporal.schedule.getHandle('provider-alarms').trigger();
      return (await page.read('/console/operations')).includes('Gas money low');
    };
    await waitFor('the alarm on the page', showsAlarm);
    // Each queue has its worker, and the provider has answered.
    const operations = await page.read('/console/operations');
    expect(operations).not.toContain('No worker');
    expect(operations).toMatch(/>provider-onchain_provider-test<[^]*\d+@/);
    // The sign-in is told as well.
    const told = () =>
      mails.mails.filter(({ source }) =>
        source.includes('Subject: The wallet has raised an alarm'),
      );
    const mail = await waitFor('the mail', () => Promise.resolve(told()[0]));
    expect(mail.to).toEqual([operator.email]);
    expect(mail.source).toContain('gas_money_low on ethereum (test mode)');
    const posted = await waitFor('the message in the chat', () =>
      Promise.resolve(chat.received[0]),
    );
    const section = (text: unknown) => ({ type: 'section', text: { type: 'mrkdwn', text } });
    const link = `http://localhost:${new URL(gateway.baseUrl).port}/console/operations`;
    expect(JSON.parse(posted.body.toString())).toEqual({
      text: 'The wallet has raised an alarm',
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: 'The wallet has raised an alarm' } },
        section(expect.stringContaining('needs a person')),
        section(`<${link}|gas_money_low on ethereum (test mode)>`),
      ],
    });

    await chain.setBalance(signer.address, 10n ** 18n);
    expect(await whenFinal(client, id)).toMatchObject({ status: 'completed' });
    await waitFor('the alarm to leave the page', async () => !(await showsAlarm()));
    expect([told().length, chat.received.length]).toEqual([1, 1]);
  });

  test('a wallet that lost its database is restored as the runbook says, and told what the payouts were paid by', async () => {
    const { gateway, chain, signer } = world;
    const { client } = await openMerchant(gateway, { mode: 'test', funds: { USDC: '100' } });
    const receiver = createTestSigner().address;
    const destination = { type: 'crypto_address', value: receiver };
    const pay = () => acceptedPayout(client, { ...ON_CHAIN, destination });
    const paid = await whenFinal(client, await pay());
    expect(paid).toMatchObject({ status: 'completed' });

    await world.wallet.stop();
    const empty = await createWalletDatabase();
    const wallet = new ChildProgram('wallet', {
      ...{ ...gateway.env, ...world.env(gateway) },
      WALLET_DATABASE_URL: empty.url,
    });
    const db = new Database(empty.url, { size: 1 });
    await wallet.start();
    const read = (sql: string) => db.query(sql, [signer.address]);
    await waitThroughFaults('the stop of the hot wallet', async () => {
      const stopped = await read(
        `SELECT 1 FROM wallet.alarm WHERE kind = 'signer_stopped' AND subject = lower($1)`,
      );
      return stopped.length > 0;
    });
    const restore = async (...args: string[]) => {
      let text = '';
      const out = (words: string): void => void (text += words);
      const env = { ...world.env(gateway), WALLET_DATABASE_URL: empty.url };
      const code = await runWalletCommand(['restore', 'ethereum', ...args], { env, out, err: out });
      return { code, text };
    };
    expect((await restore()).text).toContain(
      'next: npm run wallet -- restore ethereum --mode test',
    );
    expect(await restore('--cancel', '--by', 'alice', '--reason', 'lost')).toMatchObject({
      code: 0,
    });
    await waitThroughFaults('the end of the stop', async () => {
      await gateway.temporal.schedule.getHandle('provider-alarms').trigger();
      return (await restore()).text.includes('stopped: no');
    });
    expect(await whenFinal(client, await pay())).toMatchObject({ status: 'completed' });
    const decisions = await db.query('SELECT kind, decided_by FROM wallet.decision');
    const received = await chain.balanceOf(chain.tokens.USDC, receiver);
    expect({ decisions, received }).toEqual({
      decisions: [{ kind: 'resume_signer', decided_by: 'alice' }],
      received: 10_000_000n,
    });
    await db.destroy();
    await wallet.stop();
    await empty.drop();
  });
});
