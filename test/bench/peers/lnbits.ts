/**
 * LNbits: accounts with guarded balances and payments between them, with PostgreSQL. Its funding source
 * is FakeWallet, so no Lightning node takes part: every payment is a transfer between two of its wallets.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { findFreePort } from '../../../src/dev/ports';
import { type JsonClient, jsonClient } from './json-client';
import type { Peer, PeerSetting } from './peer';
import { startPeerProcess } from './peer-process';

/** The same number as that of the gateway's merchants in these rows. */
const PAYERS = 8;
const FUNDS_SAT = 10_000_000;

interface Wallet {
  id: string;
  /** May pay. */
  adminkey: string;
  /** May make invoices. */
  inkey: string;
}

interface Invoice {
  bolt11: string;
  payment_hash: string;
}

export const LNBITS: Peer = {
  name: 'LNbits',
  version: '1.6.2',
  variable: 'PEER_LNBITS',
  program: 'lnbits',
  start: async (program, setting) => {
    const port = await findFreePort();
    const origin = `http://127.0.0.1:${port}`;
    const server = await startPeerProcess({
      program,
      args: ['--host', '127.0.0.1', '--port', String(port)],
      cwd: packagesOf(program),
      folder: setting.folder,
      env: environmentOf(setting),
      healthUrl: `${origin}/api/v1/health`,
    });
    const client = jsonClient(origin);
    const { version, payers, payee } = await createWallets(client);
    let paid = 0;
    return {
      version,
      pay: async () => {
        const payer = payers[paid++ % PAYERS];
        const invoice = await client.send<Invoice>({
          method: 'POST',
          path: '/api/v1/payments',
          headers: { 'x-api-key': payee.inkey },
          body: { out: false, amount: 1, memo: 'bench', webhook: setting.webhookUrl },
        });
        await client.send({
          method: 'POST',
          path: '/api/v1/payments',
          headers: { 'x-api-key': payer?.adminkey ?? '' },
          body: { out: true, bolt11: invoice.bolt11 },
        });
        return invoice.payment_hash;
      },
      // The body is a JSON string with JSON in it.
      idOf: (body) => /payment_hash\W+([0-9a-f]{64})/.exec(body)?.[1] ?? '',
      stop: async () => {
        await client.close();
        await server.stop();
      },
    };
  },
};

/** It finds its pages from there only. */
function packagesOf(program: string): string {
  const script = 'import sysconfig; print(sysconfig.get_path("purelib"))';
  const python = join(dirname(program), 'python');
  return execFileSync(python, ['-c', script], { encoding: 'utf8' }).trim();
}

/** The settings as shipped, except the limit of requests and the addresses that may receive webhooks. */
function environmentOf({ databaseUrl, folder }: PeerSetting): Record<string, string> {
  return {
    LNBITS_DATABASE_URL: databaseUrl,
    LNBITS_DATA_FOLDER: folder,
    LNBITS_EXTENSIONS_PATH: folder,
    LNBITS_BACKEND_WALLET_CLASS: 'FakeWallet',
    LNBITS_RATE_LIMIT_NO: '1000000',
    LNBITS_CALLBACK_URL_RULES: '[]',
    LNBITS_CALLBACK_ALLOW_PRIVATE_IPS: 'true',
  };
}

async function createWallets(client: JsonClient) {
  const password = randomBytes(16).toString('hex');
  const { access_token: token } = await client.send<{ access_token: string }>({
    method: 'PUT',
    path: '/api/v1/auth/first_install',
    body: { username: 'bench', password, password_repeat: password },
  });
  const headers = { authorization: `Bearer ${token}` };
  const { version } = await client.send<{ version: string }>({
    method: 'GET',
    path: '/api/v1/status',
    headers,
  });
  const createWallet = async (name: string) => {
    const body = { name };
    const wallet = await client.send<Wallet>({ method: 'POST', path: '/api/v1/account', body });
    // Otherwise each payment asks for the rate of its currency, from services in the Internet.
    await client.send({
      method: 'PATCH',
      path: '/api/v1/wallet',
      headers: { 'x-api-key': wallet.adminkey },
      body: { currency: '' },
    });
    return wallet;
  };
  const payers: Wallet[] = [];
  while (payers.length < PAYERS) {
    const payer = await createWallet(`payer ${payers.length}`);
    const body = { id: payer.id, amount: FUNDS_SAT };
    await client.send({ method: 'PUT', path: '/users/api/v1/balance', headers, body });
    payers.push(payer);
  }
  return { version, payers, payee: await createWallet('payee') };
}
