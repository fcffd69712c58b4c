/**
 * No secret leaves the place where it belongs: a gateway with the wallet makes a payment and a payout
 * while nodes and callers misbehave, and then everything that the programs wrote is searched: logs at
 * debug level, workflow histories, answers to bad requests, all rows of all databases.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getAddress, type Address } from 'viem';
import { databaseUrl } from '../../src/db/provision';
import { describeWithChain } from '../support/wallet/chain';
import { runAdmin } from '../support/servers/gateway-admin';
import { dumpDatabase, findLeaks, readHistories } from './leaks';
import { openedPayment, whenPayment } from '../support/payment/payment-steps';
import { acceptedPayout, openMerchant, whenFinal } from '../support/payout/payout-steps';
import { type GatewayWithWallet, startGatewayWithWallet } from '../support/wallet/gateway-wallet';
import { type NodeProxy, startNodeProxy } from '../support/wallet/node-proxy';
import { createTestSigner, DEPOSIT_ACCOUNT } from '../support/wallet/wallet';
import { type Receiver, startReceiver } from '../support/webhook/webhook-receiver';

describeWithChain('the secrets of a gateway with the wallet', () => {
  let world: GatewayWithWallet;
  let node: NodeProxy;
  let receiver: Receiver;
  let output: string;
  /** The text that must be nowhere, by what it is. */
  const secrets = new Map([
    ['extended private key of the deposits', DEPOSIT_ACCOUNT.privateExtendedKey],
  ]);
  const newSecret = (what: string): string => {
    const secret = randomBytes(18).toString('hex');
    secrets.set(what, secret);
    return secret;
  };
  /** Every third broadcast and estimate is refused in words that quote the operator's keys. */
  let refusals = 0;

  /** @returns the URL of a node with three keys, one at which nothing answers, and one that confirms deposits */
  const startNode = async ({ href }: URL): Promise<string[]> => {
    node = await startNodeProxy(href, ({ method }) => {
      const isRefused = /eth_sendRawTransaction|eth_estimateGas/.test(method);
      if (!isRefused || refusals++ % 3 !== 0) return undefined;
      return { error: { code: -32_000, message: `the key of ${url.href} has no access` } };
    });
    const url = new URL(`/v3/${newSecret('RPC key in the path')}`, node.url);
    url.searchParams.set('key', newSecret('RPC key in the query'));
    Object.assign(url, { username: 'operator', password: newSecret('RPC password') });
    return [url.href, url.href.replace(`:${url.port}/`, ':9/'), href];
  };

  beforeAll(async () => {
    output = mkdtempSync(join(tmpdir(), 'wallet-secrets-'));
    process.env['TEST_PROGRAM_OUTPUT'] = output;
    receiver = await startReceiver();
    world = await startGatewayWithWallet({
      rpcUrls: startNode,
      keystorePassword: newSecret('password of the keystore'),
      keys: {
        apiKey: newSecret('API key of the wallet'),
        callbackSecret: newSecret('callback secret of the wallet'),
      },
      env: { LOG_LEVEL: 'debug' },
    });
    secrets.set('private key of the hot wallet', world.signer.privateKey.slice(2));
    for (const [name, value] of Object.entries(world.gateway.env)) {
      const isSecret =
        /^(KEY_PEPPER|CURSOR_SECRET|WEBHOOK_SECRET_KEY|EXCHANGE_PAY_.*_(API_KEY|CALLBACK_SECRET))$/;
      if (isSecret.test(name)) secrets.set(name, value!);
    }
    world.chain.keepMining();
  }, 300_000);

  afterAll(async () => {
    await Promise.all([world.stop(), receiver.stop()]);
    await node.stop();
    delete process.env['TEST_PROGRAM_OUTPUT'];
    rmSync(output, { recursive: true });
  });

  /** Answers to requests that are wrong in one way each. */
  const provoke = async (merchantKey: string): Promise<string> => {
    const walletKey = secrets.get('API key of the wallet')!;
    const walletUrl = world.providerEnv['ONCHAIN_TEST_URL']!;
    const { baseUrl } = world.gateway;
    const requests: [string, string, string, string?][] = [
      [walletUrl, '/v1/transfers/unknown', walletKey],
      [walletUrl, '/v1/transfers/unknown', `${walletKey}x`],
      [walletUrl, '/v1/transfers', walletKey, `{"client_reference": "${walletKey}`],
      [walletUrl, '/v1/checkouts', walletKey, '{"amount": 1}'],
      [walletUrl, '/v1/fee-estimates?asset=DOGE&network=ethereum', walletKey],
      [walletUrl, '/checkout/unknown', walletKey],
      [baseUrl, '/payouts/po_unknown', merchantKey],
      [baseUrl, '/payouts', `${merchantKey}x`],
      [baseUrl, '/payouts', merchantKey, '{'],
      [baseUrl, '/payments', merchantKey, '{"amount": "x"}'],
    ];
    const answers = await Promise.all(
      requests.map(async ([base, path, key, body]) => {
        const response = await fetch(base + path, {
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { method: 'POST', body }),
        });
        expect(response.status).toBeGreaterThanOrEqual(400);
        return `${JSON.stringify([...response.headers])} ${await response.text()}`;
      }),
    );
    return answers.join('\n');
  };

  it('are in no log, history, answer and database after a payment and a payout', async () => {
    const { chain, db, gateway, wallet } = world;
    const merchant = await openMerchant(gateway, { mode: 'test', funds: { USDC: '100' } });
    const { client } = merchant;
    secrets.set('API key of the merchant', client.apiKey);
    const endpoint = await runAdmin(
      gateway,
      ...['webhooks', 'create', '--account', merchant.accountId, '--mode', 'test'],
      ...['--url', receiver.url],
    );
    secrets.set('webhook secret', endpoint.secret);

    const onChain = { currency: 'USDC', network: 'ethereum', provider: 'onchain_provider' };
    const paymentId = await openedPayment(client, { ...onChain, amount: '20' });
    const [checkout] = await db.query<{ address: Address }>('SELECT address FROM wallet.checkout');
    await chain.mint(chain.tokens.USDC, getAddress(checkout!.address), 20_000_000n);
    await whenPayment(client, paymentId, 'completed');
    const payoutId = await acceptedPayout(client, {
      ...{ currency: 'USDC', network: 'ethereum', amount: '5' },
      destination: { type: 'crypto_address', value: createTestSigner().address },
    });
    const payout = await whenFinal(client, payoutId);
    expect(payout.status).toBe('completed');
    expect(refusals).toBeGreaterThan(1);
    expect(receiver.received.length).toBeGreaterThan(0);

    const answers = await provoke(client.apiKey);
    const [{ name }] = (await db.query<{ name: string }>('SELECT current_database() AS name')) as [
      { name: string },
    ];
    // All lines of the logs are written then.
    await Promise.all([wallet.stop(), gateway.api.stop(), gateway.worker.stop()]);
    const places = {
      answers,
      logs: readFileSync(join(output, 'programs.log'), 'utf8'),
      histories: await readHistories(gateway.temporal),
      'database of the gateway': await dumpDatabase(gateway.database.ownerUrl),
      'database of the wallet': await dumpDatabase(
        databaseUrl(process.env['TEST_POSTGRES_URL'] ?? '', { database: name }),
      ),
    };
    // Each place was read: it has what belongs there.
    const proofs = {
      answers: 'malformed_request',
      logs: merchant.accountId,
      histories: payoutId,
      'database of the gateway': payoutId,
      'database of the wallet': payoutId,
    };
    expect(findLeaks(new Map(Object.entries(proofs)), places)).toEqual(
      expect.arrayContaining(Object.keys(proofs).map((place) => `${place} in ${place}`)),
    );
    expect(findLeaks(secrets, places)).toEqual([]);
  }, 240_000);
});
