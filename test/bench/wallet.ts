/**
 * `npm run bench:wallet`: how many payouts a second one hot wallet gives nonces, signs, stores and
 * broadcasts, and what it costs to watch many addresses at one block a second. Driven by workflows as in
 * production, on a PostgreSQL with fsync and a local chain. Prints one JSON object for each.
 *
 * `--payouts N` and `--watched N` change the numbers; 0 leaves it out.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { getAddress, numberToHex } from 'viem';
import { amount } from '../../src/domain/money';
import { createKeystore } from '../../src/wallet/signer/keystore';
import { openSigner } from '../../src/wallet/signer/open';
import { connectDatabase, type Database } from '../../src/wallet/db/database';
import type { Network } from '../../src/wallet/networks';
import { submitTransfer } from '../../src/wallet/sender/transfers';
import { startChain, type TestChain } from '../support/chain';
import { createTestNamespace, driveDurably } from '../support/durable-wallet';
import { startTestServices, stopTestServices } from '../support/start-services';
import { createWalletDatabase, fillFloat, startTestWallet, testNetwork } from '../support/wallet';
import { quietRuntime } from '../support/workflow-world';

interface Stand {
  chain: TestChain;
  db: Database;
  signer: Awaited<ReturnType<typeof openSigner>>;
  /** Starts a wallet whose chain is driven by workflows. */
  start: (network: Network) => ReturnType<typeof startTestWallet>;
}

/** A chain with one block a second, and a hot wallet with money. */
async function withStand(measure: (stand: Stand) => Promise<object>): Promise<void> {
  const [chain, database, temporal] = await Promise.all([
    startChain(),
    createWalletDatabase(),
    createTestNamespace(),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'bench-wallet-'));
  const files = { keystore: join(folder, 'hot.json'), password: join(folder, 'hot.password') };
  writeFileSync(files.password, 'a password of the measurement');
  createKeystore(files);
  const signer = await openSigner({
    ...{ kind: 'keystore', file: files.keystore, passwordFile: files.password },
  });
  await fillFloat(chain, signer.address);
  await chain.setAutomine(false);
  await chain.rpc('evm_setIntervalMining', [1]);
  // Blocks that are never full: the figure is the wallet's, not the chain's.
  await chain.setBlockGasLimit(10n ** 9n);
  const db = connectDatabase(database.url);
  const start: Stand['start'] = (network) =>
    startTestWallet({ networks: [network], signer, database, drive: driveDurably(temporal) });
  const report = await measure({ chain, db, signer, start });
  process.stdout.write(`${JSON.stringify(report)}\n`);
  await signer.close?.();
  await Promise.all([db.close(), temporal.close()]);
  rmSync(folder, { recursive: true });
  await Promise.all([chain.stop(), database.drop()]);
}

/** The orders are in the database before the wallet starts. */
async function measurePayouts({ chain, db, start }: Stand, payouts: number): Promise<object> {
  const network = testNetwork(chain, { payouts: { inFlightMax: 1_000 } });
  const rules = { networks: [network], isRefused: () => Promise.resolve(false) };
  for (let index = 0; index < payouts; index += 1) {
    await submitTransfer(db, rules, {
      ...{ mode: 'test', reference: `po_${String(index)}`, asset: 'USDC', network: 'ethereum' },
      amount: amount('1'),
      destination: getAddress(numberToHex(BigInt(index) + (0xbeefn << 140n), { size: 20 })),
      memo: null,
    });
  }
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
  };
}

const WATCH_FOR_MS = 60_000;
/** Reading all addresses, and the first comparison of the sums. */
const SETTLE_MS = 30_000;

/** Checkouts in tokens and in coins, half and half. Nobody pays them. */
async function measureWatching({ chain, db, start }: Stand, watched: number): Promise<object> {
  await db.query(
    `INSERT INTO wallet.checkout (id, mode, client_reference, network, chain_id, asset, decimals,
       amount, address, address_index, expires_at)
     SELECT 'och_' || n, 'test', 'pay_' || n, 'ethereum', $1,
       CASE n % 2 WHEN 0 THEN 'USDC' ELSE 'ETH' END, CASE n % 2 WHEN 0 THEN 6 ELSE 18 END, 10,
       '0x' || lpad(md5(n::text), 40, 'b'), n, clock_timestamp() + interval '1 hour'
     FROM generate_series(1, $2) AS n`,
    [chain.chainId, watched],
  );
  const wallet = await start(testNetwork(chain, { pollMs: 1_000 }));
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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      payouts: { type: 'string', default: '3000' },
      watched: { type: 'string', default: '10000' },
    },
  });
  quietRuntime();
  const [payouts, watched] = [Number(values.payouts), Number(values.watched)];
  await startTestServices(['durable-postgres', 'temporal']);
  try {
    if (payouts > 0) await withStand((stand) => measurePayouts(stand, payouts));
    if (watched > 0) await withStand((stand) => measureWatching(stand, watched));
  } finally {
    await stopTestServices();
  }
}

void main();
