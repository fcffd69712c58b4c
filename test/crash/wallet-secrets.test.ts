/**
 * No secret leaves the place where it belongs: a gateway with the wallet makes a payment and a payout
 * while nodes and callers misbehave, and then everything that the programs wrote is searched: logs at
 * debug level, workflow histories, answers to bad requests, all rows of all databases.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Keystore } from 'ox';
import { getAddress, type Address } from 'viem';
import { databaseUrl, withClient } from '../../src/db/provision';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { ChildProgram } from '../support/servers/child-program';
import { findFreePort } from '../../src/dev/ports';
import { type OwnGateway, startGateway } from '../support/servers/gateway';
import { runAdmin } from '../support/servers/gateway-admin';
import { type MerchantClient } from '../support/merchant/merchant-client';
import { openedPayment, whenPayment } from '../support/payment/payment-steps';
import { acceptedPayout, openMerchant, whenFinal } from '../support/payout/payout-steps';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import { createTestSigner, DEPOSIT_ACCOUNT, fillFloat } from '../support/wallet/wallet';
import { type Receiver, startReceiver } from '../support/webhook/webhook-receiver';

const random = (): string => randomBytes(18).toString('hex');

describeWithChain('the secrets of a gateway with the wallet', () => {
  let chain: TestChain;
  let walletDatabase: WalletDatabase;
  let gateway: OwnGateway;
  let wallet: ChildProgram;
  let walletUrl: string;
  let nodes: Server;
  let receiver: Receiver;
  let folder: string;
  let mining: NodeJS.Timeout;
  const signer = createTestSigner();
  /** What it is → the text that must be nowhere. */
  const secrets = new Map<string, string>([
    ['private key of the hot wallet', signer.privateKey.slice(2)],
    ['extended private key of the deposits', DEPOSIT_ACCOUNT.privateExtendedKey],
    ['password of the keystore', random()],
    ['RPC key in the path', random()],
    ['RPC key in the query', random()],
    ['RPC password', random()],
    ['API key of the wallet', random()],
    ['callback secret of the wallet', random()],
  ]);
  const secret = (what: string): string => secrets.get(what)!;
  /** Every third broadcast and estimate is refused in words that quote the operator's key. */
  let refusals = 0;

  const startNodes = async (): Promise<Server> => {
    const keys = ['RPC key in the path', 'RPC key in the query', 'RPC password'].map(secret);
    const server = createServer((request, response) => {
      void text(request).then(async (body) => {
        response.setHeader('content-type', 'application/json');
        const isTold = /eth_sendRawTransaction|eth_estimateGas/.test(body) && refusals++ % 3 === 0;
        if (isTold) {
          const message = `the keys ${keys.join(' ')} of http://${request.headers.host ?? ''}${request.url ?? ''} have no access`;
          const calls = JSON.parse(body) as { id: number } | { id: number }[];
          const answer = ({ id }: { id: number }) => ({
            ...{ jsonrpc: '2.0', id, error: { code: -32_000, message } },
          });
          response.end(JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls)));
          return;
        }
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(chain.url, { method: 'POST', headers, body });
        response.end(await answer.text());
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };

  const prepareFiles = (): Record<string, string> => {
    const { port } = nodes.address() as AddressInfo;
    const [keystore, password] = [join(folder, 'key.json'), join(folder, 'password')];
    writeFileSync(password, secret('password of the keystore'));
    const [key, options] = Keystore.scrypt({
      password: secret('password of the keystore'),
      n: 1_024,
    });
    writeFileSync(keystore, JSON.stringify(Keystore.encrypt(signer.privateKey, key, options)));
    const { USDC } = chain.tokens;
    const node = `operator:${secret('RPC password')}@127.0.0.1:${String(port)}`;
    const url = `http://${node}/v3/${secret('RPC key in the path')}?key=${secret('RPC key in the query')}`;
    const network = {
      ...{ mode: 'test', name: 'ethereum', chain_id: chain.chainId, poll_ms: 50 },
      // The second one does not answer at all.
      rpc_urls: [url, url.replace(`:${String(port)}/`, ':9/')],
      native: { asset: 'ETH' },
      tokens: [{ asset: 'USDC', address: USDC.address, decimals: 6 }],
      payouts: {
        signer: { kind: 'keystore', file: keystore, password_file: password },
        limits: { USDC: { hour: '1000', day: '1000' } },
        ...{ resend_after_seconds: 1, native_prices: { USDC: '3000' } },
      },
    };
    const networks = join(folder, 'networks.json');
    writeFileSync(networks, JSON.stringify({ networks: [network] }));
    return { WALLET_NETWORKS_FILE: networks };
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wallet-secrets-'));
    mkdirSync(join(folder, 'output'));
    process.env['TEST_PROGRAM_OUTPUT'] = join(folder, 'output');
    [chain, walletDatabase, receiver] = await Promise.all([
      startChain(),
      createWalletDatabase(),
      startReceiver(),
    ]);
    await fillFloat(chain, signer.address);
    nodes = await startNodes();
    const port = String(await findFreePort());
    walletUrl = `http://127.0.0.1:${port}`;
    const credentials = {
      ONCHAIN_TEST_API_KEY: secret('API key of the wallet'),
      ONCHAIN_TEST_CALLBACK_SECRET: secret('callback secret of the wallet'),
    };
    gateway = await startGateway({
      env: { ...credentials, ONCHAIN_TEST_URL: walletUrl, LOG_LEVEL: 'debug' },
      providerTimeoutMs: 5_000,
    });
    for (const name of ['KEY_PEPPER', 'CURSOR_SECRET', 'WEBHOOK_SECRET_KEY']) {
      secrets.set(name, gateway.env[name]!);
    }
    for (const mode of ['TEST', 'LIVE']) {
      for (const what of ['API_KEY', 'CALLBACK_SECRET']) {
        const name = `EXCHANGE_PAY_${mode}_${what}`;
        secrets.set(name, gateway.env[name]!);
      }
    }
    wallet = new ChildProgram('wallet', {
      ...gateway.env,
      ...prepareFiles(),
      GATEWAY_ENV: 'development',
      WALLET_PORT: port,
      WALLET_DATABASE_URL: walletDatabase.url,
      WALLET_TEST_XPUB: DEPOSIT_ACCOUNT.publicExtendedKey,
      WALLET_CALLBACK_BASE_URL: gateway.baseUrl.replace('/api/v1', ''),
    });
    await wallet.start();
    mining = setInterval(() => void chain.mine().catch(() => undefined), 200);
  }, 120_000);

  afterAll(async () => {
    clearInterval(mining);
    await Promise.all([wallet.stop(), gateway.stop(), receiver.stop()]);
    nodes.closeAllConnections();
    nodes.close();
    delete process.env['TEST_PROGRAM_OUTPUT'];
    await Promise.all([chain.stop(), walletDatabase.drop()]);
    rmSync(folder, { recursive: true });
  });

  /**
   * Every row of every table, and bytes as text too. By SQL: the PostgreSQL of the tests comes without
   * pg_dump, and the one of a system refuses a newer server.
   */
  const dump = async (url: string): Promise<string> => {
    const parts: string[] = [];
    await withClient(url, async (client) => {
      const { rows: tables } = await client.query<{ name: string }>(
        `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
         WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
      );
      for (const { name } of tables) {
        const { rows } = await client.query<Record<string, unknown>>(`SELECT * FROM ${name}`);
        parts.push(readable(rows));
      }
    });
    return parts.join('\n');
  };

  /** All histories of the namespace, which gateway and wallet share. */
  const readHistories = async (): Promise<string[]> => {
    const histories: string[] = [];
    for await (const { workflowId, runId } of gateway.temporal.workflow.list()) {
      const handle = gateway.temporal.workflow.getHandle(workflowId, runId);
      histories.push(readable(await handle.fetchHistory()));
    }
    return histories;
  };

  /** Answers to requests that are wrong in one way each. */
  const provoke = async (merchantKey: string): Promise<string> => {
    const walletKey = secret('API key of the wallet');
    const requests: [string, string, string, string?][] = [
      [walletUrl, '/v1/transfers/unknown', walletKey],
      [walletUrl, '/v1/transfers/unknown', `${walletKey}x`],
      [walletUrl, '/v1/transfers', walletKey, `{"client_reference": "${walletKey}`],
      [walletUrl, '/v1/checkouts', walletKey, '{"amount": 1}'],
      [walletUrl, '/v1/fee-estimates?asset=DOGE&network=ethereum', walletKey],
      [walletUrl, '/checkout/unknown', walletKey],
      [gateway.baseUrl, '/payouts/po_unknown', merchantKey],
      [gateway.baseUrl, '/payouts', `${merchantKey}x`],
      [gateway.baseUrl, '/payouts', merchantKey, '{'],
      [gateway.baseUrl, '/payments', merchantKey, '{"amount": "x"}'],
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
    const merchant = await openMerchant(gateway, { mode: 'test', funds: { USDC: '100' } });
    const client: MerchantClient = merchant.client;
    secrets.set('API key of the merchant', client.apiKey);
    const endpoint = await runAdmin(
      gateway,
      ...['webhooks', 'create', '--account', merchant.accountId, '--mode', 'test'],
      ...['--url', receiver.url],
    );
    secrets.set('webhook secret', endpoint.secret);

    const onChain = { currency: 'USDC', network: 'ethereum', provider: 'onchain_provider' };
    const paymentId = await openedPayment(client, { ...onChain, amount: '20' });
    const address = await withClient(walletDatabase.url, async (db) => {
      const { rows } = await db.query<{ address: Address }>('SELECT address FROM wallet.checkout');
      return getAddress(rows[0]!.address);
    });
    await chain.mint(chain.tokens.USDC, address, 20_000_000n);
    await whenPayment(client, paymentId, 'completed');
    const value = createTestSigner().address;
    const payoutId = await acceptedPayout(client, {
      ...{ currency: 'USDC', network: 'ethereum', amount: '5' },
      destination: { type: 'crypto_address', value },
    });
    const payout = await whenFinal(client, payoutId);
    expect(payout.status).toBe('completed');
    expect(refusals).toBeGreaterThan(1);
    expect(receiver.received.length).toBeGreaterThan(0);

    const answers = await provoke(client.apiKey);
    // All lines of the logs are written then.
    await Promise.all([wallet.stop(), gateway.api.stop(), gateway.worker.stop()]);
    const places = new Map<string, string>([
      ['answers', answers],
      ['logs', readFileSync(join(folder, 'output', 'programs.log'), 'utf8')],
      ['histories', (await readHistories()).join('\n')],
      ['database of the gateway', await dump(gateway.database.ownerUrl)],
      [
        'database of the wallet',
        await dump(
          databaseUrl(process.env['TEST_POSTGRES_URL'] ?? '', {
            database: new URL(walletDatabase.url).pathname.slice(1),
          }),
        ),
      ],
    ]);
    // Each place was read: it has what belongs there.
    const proofs: [string, string][] = [
      ['answers', 'malformed_request'],
      ['logs', merchant.accountId],
      ['histories', payoutId],
      ['database of the gateway', payoutId],
      ['database of the wallet', payoutId],
    ];
    const unread = proofs.filter(([place, proof]) => !places.get(place)!.includes(proof));
    expect(unread).toEqual([]);
    const found = [...places].flatMap(([place, content]) =>
      [...secrets]
        .filter(([, one]) =>
          formsOf(one).some((form) => content.toLowerCase().includes(form.toLowerCase())),
        )
        .map(([what]) => `${what} in ${place}`),
    );
    expect(found).toEqual([]);
  }, 240_000);
});

/** As it is, and as columns of bytes, headers and JSON would write it. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const isHex = /^(?:[0-9a-f]{2})+$/.test(secret);
  const encodings = ['hex', 'base64', 'base64url'] as const;
  return [
    secret,
    // Without the padding: the secret may be the start of something longer.
    ...[bytes, ...(isHex ? [Buffer.from(secret, 'hex')] : [])].flatMap((of) =>
      encodings.map((encoding) => of.toString(encoding).replace(/.?=*$/, '')),
    ),
  ];
}

/** All text of a value, and bytes as the text that they hold. */
function readable(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${readable(member)}`)
    .join('\n');
}
