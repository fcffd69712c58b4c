/**
 * The wallet is killed around its broadcasts, and requests to the node and their answers are lost:
 * each payout is sent once, none is lost, and no nonce is left out.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keystore } from 'ox';
import { type Address, getAddress, type Hex, numberToHex } from 'viem';
import { amount } from '../../src/domain/money';
import { ONCHAIN } from '../../src/adapters/providers/onchain/adapter';
import {
  createProviderAgent,
  createProviderCaller,
} from '../../src/adapters/providers/provider-http';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { Database } from '../../src/rails/wallet/db/database';
import { readNetworksFile } from '../../src/rails/wallet/networks';
import { type AssetSums, readSums } from '../../src/rails/wallet/sums';
import { findFreePort } from '../../src/dev/ports';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { ChildProgram } from '../support/servers/child-program';
import { createTestNamespace, type TestNamespace } from '../support/wallet/durable-wallet';
import { scaled } from '../support/scale';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  DEPOSIT_ACCOUNT,
  fillFloat,
  WALLET_KEYS,
} from '../support/wallet/wallet';
import { waitThroughFaults } from '../support/wait-for';

const PAYOUTS = scaled(60, 2_000);
const KILLS = scaled(4, 86);
/** Small, so that the payouts take many broadcasts. */
const IN_FLIGHT_MAX = scaled(5, 12);
const COINS = 100n * 10n ** 18n;
const TOKENS = 1_000_000n * 10n ** 6n;
const PASSWORD = 'a password of the test';

/** What happens to one request that holds a broadcast. */
const FAULTS = ['kill before', 'kill after', 'lose the request', 'lose the answer', null] as const;

describeWithChain('a wallet that is killed around its broadcasts', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let temporal: TestNamespace;
  let proxy: Server;
  let program: ChildProgram;
  let folder: string;
  const signer = createTestSigner();
  let kills = 0;
  let broadcasts = 0;
  let revival: Promise<void> = Promise.resolve();

  const revive = (): void => {
    kills += 1;
    revival = revival.then(async () => {
      await program.kill();
      await program.start();
    });
  };

  const startProxy = async (): Promise<Server> => {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        const isBroadcast = body.includes('eth_sendRawTransaction');
        const fault = isBroadcast ? FAULTS[broadcasts++ % FAULTS.length] : null;
        const forward = async (): Promise<string> => {
          const headers = { 'content-type': 'application/json' };
          return (await fetch(chain.url, { method: 'POST', headers, body })).text();
        };
        const act = async (): Promise<void> => {
          const mayKill = kills < KILLS;
          if (fault === 'kill before' && mayKill) revive();
          if ((fault === 'kill before' && mayKill) || fault === 'lose the request') {
            request.socket.destroy();
            return;
          }
          const answer = await forward();
          if (fault === 'kill after' && mayKill) revive();
          if ((fault === 'kill after' && mayKill) || fault === 'lose the answer') {
            request.socket.destroy();
            return;
          }
          response.setHeader('content-type', 'application/json').end(answer);
        };
        act().catch(() => request.socket.destroy());
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };

  beforeAll(async () => {
    [chain, database, temporal] = await Promise.all([
      startChain(),
      createWalletDatabase(),
      createTestNamespace(),
    ]);
    await fillFloat(chain, signer.address, { coins: COINS, tokens: TOKENS });
    proxy = await startProxy();
    folder = mkdtempSync(join(tmpdir(), 'wallet-kill-'));
    const { port } = proxy.address() as AddressInfo;
    const keystore = join(folder, 'key.json');
    const passwordFile = join(folder, 'password');
    // Weak, because each start of the program derives the key.
    const [key, options] = Keystore.scrypt({ password: PASSWORD, n: 1_024 });
    writeFileSync(keystore, JSON.stringify(Keystore.encrypt(signer.privateKey, key, options)));
    writeFileSync(passwordFile, PASSWORD);
    writeFileSync(
      join(folder, 'networks.json'),
      JSON.stringify({
        networks: [
          {
            ...{ mode: 'test', name: 'ethereum', chain_id: chain.chainId, poll_ms: 50 },
            rpc_urls: [`http://127.0.0.1:${String(port)}`],
            native: { asset: 'ETH' },
            tokens: [{ asset: 'USDC', address: chain.tokens.USDC.address, decimals: 6 }],
            payouts: {
              signer: { kind: 'keystore', file: keystore, password_file: passwordFile },
              limits: { USDC: { hour: '1000000', day: '1000000' } },
              ...{ resend_after_seconds: 1, in_flight_max: IN_FLIGHT_MAX },
            },
          },
        ],
      }),
    );
  });
  afterAll(async () => {
    await program.stop();
    proxy.closeAllConnections();
    proxy.close();
    await Promise.all([chain.stop(), database.drop(), temporal.close()]);
    rmSync(folder, { recursive: true });
  });

  test(
    `${String(PAYOUTS)} payouts, ${String(KILLS)} kills: each is sent once`,
    async () => {
      const port = await findFreePort();
      program = new ChildProgram('wallet', {
        ...process.env,
        GATEWAY_ENV: 'development',
        WALLET_PORT: String(port),
        WALLET_DATABASE_URL: database.url,
        TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
        TEMPORAL_NAMESPACE: temporal.namespace,
        WALLET_WORKFLOW_BUNDLE: process.env['TEST_WALLET_WORKFLOW_BUNDLE'] ?? '',
        WALLET_NETWORKS_FILE: join(folder, 'networks.json'),
        WALLET_TEST_XPUB: DEPOSIT_ACCOUNT.publicExtendedKey,
        ONCHAIN_TEST_API_KEY: WALLET_KEYS.apiKey,
        ONCHAIN_TEST_CALLBACK_SECRET: WALLET_KEYS.callbackSecret,
      });
      await program.start();
      const agent = createProviderAgent();
      const provider = ONCHAIN.create(
        { baseUrl: `http://127.0.0.1:${String(port)}`, ...WALLET_KEYS, timeoutMs: 8_000 },
        createProviderCaller(agent, 8_000),
      );
      const orders = Array.from({ length: PAYOUTS }, (_, index) => ({
        reference: `po_${String(index)}`,
        // A destination of its own, so that the balance tells how often it was paid.
        receiver: getAddress(numberToHex(BigInt(index) + (0xabcdn << 140n), { size: 20 })),
        units: BigInt(index + 1) * 10_000n,
      }));
      const submit = async ({ reference, receiver, units }: (typeof orders)[number]) => {
        const value = amount((Number(units / 10_000n) / 100).toFixed(2));
        await waitThroughFaults(`the acceptance of ${reference}`, async () => {
          const result = await provider.submitPayout({
            ...{ reference, amount: value, currency: 'USDC', network: 'ethereum' },
            destination: { type: 'crypto_address', value: receiver, memo: null },
          });
          return result.kind === 'accepted';
        });
      };
      const waiting = [...orders];
      const submitAll = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          await submit(next);
        }
      };
      await Promise.all(Array.from({ length: 8 }, submitAll));

      for (const { reference } of orders) {
        await waitThroughFaults(`the end of ${reference}`, async () => {
          const found = await provider.findPayout(reference);
          if (found.kind === 'found' && found.transfer.status === 'sent') return true;
          await chain.finalize();
          return undefined;
        });
      }
      await revival;
      const wrong: string[] = [];
      for (const { reference, receiver, units } of orders) {
        const balance = await chain.balanceOf(chain.tokens.USDC, receiver);
        if (balance !== units) wrong.push(`${reference}: ${String(balance)} of ${String(units)}`);
      }
      expect(wrong).toEqual([]);
      expect(await transactionsOf(signer.address)).toBe(PAYOUTS);
      expect(await nonceGaps()).toEqual([]);
      const paid = orders.reduce((sum, { units }) => sum + units, 0n);
      expect(await spentByChain()).toEqual(paid.toString());
      await waitThroughFaults('the sums after the last payout', async () => {
        const usdc = (await sums()).find(({ asset }) => asset === 'USDC');
        return usdc?.float === TOKENS - paid;
      });
      expect(await sums()).toMatchObject([
        { asset: 'ETH', owed: 0n, difference: 0n },
        { asset: 'USDC', owed: 0n, difference: 0n },
      ]);
      expect(kills).toBe(KILLS);
      console.log(
        `${String(PAYOUTS)} payouts, ${String(kills)} kills, ${String(broadcasts)} requests`,
      );
      await agent.close();
    },
    scaled(300_000, 3_600_000),
  );

  /** What left the hot wallet, when its coins have only paid the network fees of the receipts. */
  const spentByChain = async (): Promise<string> => {
    const db = new Database(database.url, { size: 1 });
    const sent = await db.query<{ hash: Hex }>(
      "SELECT tx_hash AS hash FROM wallet.transfer WHERE status = 'confirmed'",
    );
    await db.destroy();
    let fees = 0n;
    for (const { hash } of sent) {
      const receipt = await chain.rpc<Record<'gasUsed' | 'effectiveGasPrice', Hex>>(
        ...(['eth_getTransactionReceipt', [hash]] as const),
      );
      fees += BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
    }
    expect(await chain.balanceOf(null, signer.address)).toBe(COINS - fees);
    return (TOKENS - (await chain.balanceOf(chain.tokens.USDC, signer.address))).toString();
  };

  /** What `wallet status` shows. */
  const sums = async (): Promise<AssetSums[]> => {
    const [network] = readNetworksFile(join(folder, 'networks.json'), { isDevelopment: true });
    const db = new Database(database.url, { size: 1 });
    try {
      return (await readSums(db, createChain(network!))) ?? [];
    } finally {
      await db.destroy();
    }
  };

  const transactionsOf = async (address: Address): Promise<number> =>
    Number(BigInt(await chain.rpc<Hex>('eth_getTransactionCount', [address, 'latest'])));

  /** What the database says of nonces that were not used in turn, and of transfers with two slots. */
  const nonceGaps = async (): Promise<unknown[]> => {
    const db = new Database(database.url, { size: 1 });
    const gaps = await db.query(
      `SELECT nonce, transfer_id, state FROM (
         SELECT slot.*, nonce - row_number() OVER (ORDER BY nonce) + 1 AS shift,
           count(*) OVER (PARTITION BY transfer_id) AS slots
         FROM wallet.slot) AS placed
       WHERE shift <> 0 OR slots <> 1 OR state <> 'sent'`,
    );
    await db.destroy();
    return gaps;
  };
});
