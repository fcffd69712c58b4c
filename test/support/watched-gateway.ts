/** A gateway and a wallet whose private ports serve metrics, as an operator's Prometheus sees them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keystore } from 'ox';
import { startChain, type TestChain } from './chain';
import { ChildProgram } from './child-program';
import { createTestNamespace, temporalAddress } from './durable-wallet';
import { type OwnGateway, startGateway } from './gateway';
import { waitLong } from './patience';
import { createTestSigner, createWalletDatabase, fillFloat, WALLET_KEYS } from './wallet';

export interface WatchedGateway {
  gateway: OwnGateway;
  wallet: ChildProgram;
  chain: TestChain;
  /** The URL of /metrics of each program. */
  metricsUrls: Record<'api' | 'worker' | 'wallet', string>;
  /** That is part of the URL of the wallet's node. */
  nodeKey: string;
  stop: () => Promise<void>;
}

export async function startWatchedGateway(): Promise<WatchedGateway> {
  const [gateway, chain, database, temporal] = await Promise.all([
    startGateway({ env: { METRICS_PORT: '0' } }),
    startChain(),
    createWalletDatabase(),
    createTestNamespace(),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'watched-gateway-'));
  const nodeKey = `key-${Date.now().toString(36)}`;
  const wallet = new ChildProgram('wallet', {
    ...process.env,
    GATEWAY_ENV: 'development',
    METRICS_PORT: '0',
    WALLET_PORT: '0',
    WALLET_DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
    TEMPORAL_NAMESPACE: temporal.namespace,
    WALLET_WORKFLOW_BUNDLE: process.env['TEST_WALLET_WORKFLOW_BUNDLE'],
    WALLET_NETWORKS_FILE: await writeNetworks(folder, chain, nodeKey),
    ONCHAIN_TEST_API_KEY: WALLET_KEYS.apiKey,
    ONCHAIN_TEST_CALLBACK_SECRET: WALLET_KEYS.callbackSecret,
  });
  await wallet.start();
  return {
    gateway,
    wallet,
    chain,
    metricsUrls: {
      api: await urlIn(gateway.api),
      worker: await urlIn(gateway.worker),
      wallet: await urlIn(wallet),
    },
    nodeKey,
    stop: async () => {
      await Promise.all([wallet.stop(), gateway.stop()]);
      await Promise.all([chain.stop(), database.drop(), temporal.close()]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** With METRICS_PORT=0 the log tells the port, which is written a little later. */
function urlIn(program: ChildProgram): Promise<string> {
  return waitLong(
    'the port of /metrics',
    async () => {
      const line = program.output.split('\n').find((one) => one.includes('"metrics listening"'));
      if (line === undefined) return undefined;
      return `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}/metrics`;
    },
    10_000,
  );
}

async function writeNetworks(folder: string, chain: TestChain, key: string): Promise<string> {
  const signer = createTestSigner();
  await fillFloat(chain, signer.address);
  const password = 'a password of the test';
  const files = { keystore: join(folder, 'key.json'), password: join(folder, 'password') };
  // Weak, because each start of the program derives the key.
  const [secret, options] = Keystore.scrypt({ password, n: 1_024 });
  writeFileSync(
    files.keystore,
    JSON.stringify(Keystore.encrypt(signer.privateKey, secret, options)),
  );
  writeFileSync(files.password, password);
  const path = join(folder, 'networks.json');
  const network = {
    ...{ mode: 'test', name: 'ethereum', chain_id: chain.chainId, poll_ms: 50 },
    rpc_urls: [chain.url.replace('//', `//user:${key}@`)],
    native: { asset: 'ETH' },
    tokens: [{ asset: 'USDC', address: chain.tokens.USDC.address, decimals: 6 }],
    payouts: {
      signer: { kind: 'keystore', file: files.keystore, password_file: files.password },
      limits: { USDC: { hour: '1000000', day: '1000000' } },
      float_minimum: { USDC: '1' },
    },
  };
  writeFileSync(path, JSON.stringify({ networks: [network] }));
  return path;
}
