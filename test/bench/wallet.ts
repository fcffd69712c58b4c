/**
 * `npm run bench:wallet`, on a PostgreSQL with fsync and a local chain, driven by workflows as in
 * production. It prints one JSON object for each of these:
 *
 * 1. payouts in blocks a second with the product's default settings, for each block time and number of
 *    hot wallets, beside what the chain itself takes of such transfers;
 * 2. how many payouts a second one hot wallet gives nonces, signs, stores and broadcasts when the chain
 *    takes all of them;
 * 3. what it costs to watch many addresses at one block a second.
 *
 * `--block-times 1,2,12`, `--hot-wallets 1,4` and `--blocks N` change the first one, `--payouts N` the
 * second and `--watched N` the third; 0 leaves it out. `--quick` does a little of the first two.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, getAddress, type Hex, numberToHex } from 'viem';
import { amount } from '../../src/domain/money';
import { createKeystore } from '../../src/rails/wallet/signer/keystore';
import { openSigner } from '../../src/rails/wallet/signer/open';
import { Database } from '../../src/rails/wallet/db/database';
import { type Network, readNetworks } from '../../src/rails/wallet/networks';
import { submitTransfer } from '../../src/rails/wallet/sender/transfers';
import { startChain, type TestChain } from '../support/wallet/chain';
import { startTestServices, stopTestServices } from '../support/servers/start-services';
import { createWalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
} from '../support/wallet/wallet';

interface Keystore {
  file: string;
  passwordFile: string;
  address: Address;
}

interface Stand {
  chain: TestChain;
  db: Database;
  keystores: readonly Keystore[];
  /** Starts the wallet. */
  start: (network: Network) => ReturnType<typeof startTestWallet>;
}

interface StandOptions {
  hotWallets: number;
  blockSeconds: number;
  /** Otherwise blocks are never full: the figure is the wallet's, not the chain's. */
  isBounded?: boolean;
}

/** A chain with a block time, and hot wallets with money. */
async function withStand(
  { hotWallets, blockSeconds, isBounded = false }: StandOptions,
  measure: (stand: Stand) => Promise<object>,
): Promise<void> {
  const [chain, database] = await Promise.all([startChain(), createWalletDatabase()]);
  const folder = mkdtempSync(join(tmpdir(), 'bench-wallet-'));
  const passwordFile = join(folder, 'hot.password');
  writeFileSync(passwordFile, 'a password of the measurement');
  const keystores = Array.from({ length: hotWallets }, (_, index): Keystore => {
    const file = join(folder, `hot-${String(index)}.json`);
    return {
      file,
      passwordFile,
      address: createKeystore({ keystore: file, password: passwordFile }),
    };
  });
  for (const { address } of keystores) await fillFloat(chain, address);
  await chain.setAutomine(false);
  await chain.rpc('evm_setIntervalMining', [blockSeconds]);
  if (!isBounded) await chain.setBlockGasLimit(10n ** 9n);
  const db = new Database(database.url);
  const start: Stand['start'] = (network) =>
    startTestWallet({
      ...{ networks: [network], signer: createTestSigner(), database, openSigner },
    });
  const report = await measure({ chain, db, keystores, start });
  process.stdout.write(`${JSON.stringify(report)}\n`);
  await db.destroy();
  rmSync(folder, { recursive: true });
  await Promise.all([chain.stop(), database.drop()]);
}

function signersOf(keystores: readonly Keystore[]) {
  return keystores.map(({ file, passwordFile }) => ({
    ...{ kind: 'keystore' as const, file, passwordFile },
  }));
}

/** Each to an address of its own. */
async function orderPayouts(db: Database, network: Network, count: number): Promise<void> {
  const rules = { networks: [network], isRefused: () => Promise.resolve(false) };
  for (let index = 0; index < count; index += 1) {
    await submitTransfer(db, rules, {
      ...{ mode: 'test', reference: `po_${String(index)}`, asset: 'USDC', network: 'ethereum' },
      amount: amount('1'),
      destination: getAddress(numberToHex(BigInt(index) + (0xbeefn << 140n), { size: 20 })),
      memo: null,
    });
  }
}

/** A file of networks that sets nothing that has a default. */
function defaultNetwork(chain: TestChain, keystores: readonly Keystore[]): Network {
  const { address, decimals } = chain.tokens.USDC;
  const signers = keystores.map(({ file, passwordFile }) => ({
    ...{ kind: 'keystore', file, password_file: passwordFile },
  }));
  const plenty = { hour: '1000000000', day: '1000000000' };
  const [network] = readNetworks(
    {
      networks: [
        {
          ...{ mode: 'test', name: 'ethereum', chain_id: chain.chainId, rpc_urls: [chain.url] },
          ...{ native: { asset: 'ETH' }, tokens: [{ asset: 'USDC', address, decimals }] },
          payouts: { signers, limits: { USDC: plenty } },
        },
      ],
    },
    'the measurement',
    { isDevelopment: true },
  );
  if (network === undefined) throw new Error('there is no network');
  return network;
}

/** From the block with the first payout to the one with the last, as many as fit into these blocks. */
async function measureRate(
  { chain, db, keystores, start }: Stand,
  { blockSeconds, blocks }: { blockSeconds: number; blocks: number },
): Promise<object> {
  const network = defaultNetwork(chain, keystores);
  const { inFlightMax } = network.payouts ?? { inFlightMax: 0 };
  const payouts = keystores.length * inFlightMax * blocks;
  await orderPayouts(db, network, payouts);
  const wallet = await start(network);
  const mined = async (): Promise<number> => {
    const counts = await Promise.all(
      keystores.map(({ address }) =>
        chain.rpc<Hex>('eth_getTransactionCount', [address, 'latest']),
      ),
    );
    return counts.reduce((sum, count) => sum + Number(count), 0);
  };
  const first = await waitUntil(async () => (await mined()) || null);
  const startedAt = performance.now();
  await waitUntil(async () => ((await mined()) >= payouts ? true : null));
  const seconds = (performance.now() - startedAt) / 1_000;
  const [{ hash } = { hash: '0x' }] = await db.query<{ hash: Hex }>(
    'SELECT hash FROM wallet.attempt LIMIT 1',
  );
  const receipt = await chain.rpc<{ gasUsed: Hex }>('eth_getTransactionReceipt', [hash]);
  const block = await chain.rpc<{ gasLimit: Hex }>('eth_getBlockByNumber', ['latest', false]);
  await wallet.stop();
  const chainLimit = Number(block.gasLimit) / Number(receipt.gasUsed) / blockSeconds;
  return {
    ...{ block_seconds: blockSeconds, hot_wallets: keystores.length, payouts: payouts - first },
    seconds: Number(seconds.toFixed(1)),
    payouts_per_second: Number(((payouts - first) / seconds).toFixed(1)),
    chain_limit_per_second: Math.round(chainLimit),
    settings: `default: in_flight_max ${String(inFlightMax)}, poll_ms ${String(network.pollMs)}`,
  };
}

/** The orders are in the database before the wallet starts. */
async function measurePayouts(
  { chain, db, keystores, start }: Stand,
  payouts: number,
): Promise<object> {
  const settings = { inFlightMax: 1_000, signers: signersOf(keystores) };
  const network = testNetwork(chain, { payouts: settings });
  await orderPayouts(db, network, payouts);
  const [durable] = await db.query<{ fsync: string }>('SHOW fsync');
  const wallet = await start(network);
  const broadcast = async (): Promise<number> => {
    const [made] = await db.query<{ count: string }>(
      'SELECT count(*) AS count FROM wallet.attempt WHERE broadcast_at IS NOT NULL',
    );
    return Number(made?.count);
  };
  // The start of the process and of its workers is not what is measured.
  const first = await waitUntil(async () => (await broadcast()) || null);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await waitUntil(async () => ((await broadcast()) >= payouts ? true : null));
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = process.cpuUsage(cpuBefore);
  const counted = payouts - first;
  await wallet.stop();
  return {
    payouts: counted,
    seconds: Number(seconds.toFixed(1)),
    payouts_per_second: Math.round(counted / seconds),
    wallet_cpu_ms_per_payout: Number(((cpu.user + cpu.system) / 1_000 / counted).toFixed(2)),
    fsync: durable?.fsync,
    settings: 'in_flight_max 1000, poll_ms 50, blocks that are never full',
  };
}

const WATCH_FOR_MS = 60_000;
/** Reading all addresses, and the first comparison of the sums. */
const SETTLE_MS = 30_000;

/** Checkouts in tokens and in coins, half and half. Nobody pays them. */
async function measureWatching(
  { chain, db, keystores, start }: Stand,
  watched: number,
): Promise<object> {
  await db.query(
    `INSERT INTO wallet.checkout (id, mode, client_reference, network, chain_id, asset, decimals,
       amount, address, address_index, expires_at)
     SELECT 'och_' || n, 'test', 'pay_' || n, 'ethereum', $1,
       CASE n % 2 WHEN 0 THEN 'USDC' ELSE 'ETH' END, CASE n % 2 WHEN 0 THEN 6 ELSE 18 END, 10,
       '0x' || lpad(md5(n::text), 40, 'b'), n, clock_timestamp() + interval '1 hour'
     FROM generate_series(1, $2) AS n`,
    [chain.chainId, watched],
  );
  const payouts = { signers: signersOf(keystores) };
  const wallet = await start(testNetwork(chain, { pollMs: 1_000, payouts }));
  await sleep(SETTLE_MS);
  const headOf = async (): Promise<number> => {
    const [row] = await db.query<{ head: string }>(
      'SELECT head_number AS head FROM wallet.followed_chain',
    );
    return Number(row?.head);
  };
  const before = await headOf();
  const cpuBefore = process.cpuUsage();
  await sleep(WATCH_FOR_MS);
  const cpu = process.cpuUsage(cpuBefore);
  const blocks = (await headOf()) - before;
  await wallet.stop();
  return {
    watched,
    blocks,
    seconds: WATCH_FOR_MS / 1_000,
    wallet_cpu_percent_of_a_core: Number(((cpu.user + cpu.system) / 10 / WATCH_FOR_MS).toFixed(1)),
  };
}

async function waitUntil<T>(ask: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    await sleep(20);
  }
}

const listOf = (text: string): number[] => text.split(',').map(Number);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      'block-times': { type: 'string' },
      'hot-wallets': { type: 'string', default: '1,4' },
      blocks: { type: 'string' },
      payouts: { type: 'string' },
      watched: { type: 'string' },
    },
  });
  const usual = values.quick
    ? { blockTimes: '1', blocks: '5', payouts: '500', watched: '0' }
    : { blockTimes: '1,2,12', blocks: '20', payouts: '3000', watched: '10000' };
  const blocks = Number(values.blocks ?? usual.blocks);
  const payouts = Number(values.payouts ?? usual.payouts);
  const watched = Number(values.watched ?? usual.watched);
  await startTestServices(['durable-postgres']);
  try {
    for (const blockSeconds of blocks > 0
      ? listOf(values['block-times'] ?? usual.blockTimes)
      : []) {
      for (const hotWallets of listOf(values['hot-wallets'])) {
        await withStand({ hotWallets, blockSeconds, isBounded: true }, (stand) =>
          measureRate(stand, { blockSeconds, blocks }),
        );
      }
    }
    const one = { hotWallets: 1, blockSeconds: 1 };
    if (payouts > 0) await withStand(one, (stand) => measurePayouts(stand, payouts));
    if (watched > 0) await withStand(one, (stand) => measureWatching(stand, watched));
  } finally {
    await stopTestServices();
  }
}

void main();
