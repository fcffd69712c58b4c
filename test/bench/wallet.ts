/**
 * `npm run bench:wallet`: how many payouts a second one hot wallet gives nonces, signs, stores and
 * broadcasts, on a PostgreSQL with fsync and a local chain. The orders are in the database before the
 * wallet starts. Prints one JSON object; `--payouts N` changes their number.
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
import { connectDatabase } from '../../src/wallet/db/database';
import { submitTransfer } from '../../src/wallet/sender/transfers';
import { startChain } from '../support/chain';
import { startTestServices, stopTestServices } from '../support/start-services';
import { createWalletDatabase, fillFloat, startTestWallet, testNetwork } from '../support/wallet';

async function measure(payouts: number): Promise<void> {
  const [chain, database] = await Promise.all([startChain(), createWalletDatabase()]);
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
  const network = testNetwork(chain, { payouts: { inFlightMax: 1_000 } });
  const db = connectDatabase(database.url);
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
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const wallet = await startTestWallet({ networks: [network], signer, database });
  for (let done = 0; done < payouts;) {
    await sleep(50);
    const [made] = await db.query<{ count: string }>(
      'SELECT count(*) AS count FROM wallet.attempt WHERE broadcast_at IS NOT NULL',
    );
    done = Number(made?.count);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = process.cpuUsage(cpuBefore);
  const report = {
    payouts,
    seconds: Number(seconds.toFixed(1)),
    payouts_per_second: Math.round(payouts / seconds),
    wallet_cpu_ms_per_payout: Number(((cpu.user + cpu.system) / 1_000 / payouts).toFixed(2)),
    fsync: durable?.fsync,
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
  await wallet.stop();
  await signer.close?.();
  await db.close();
  rmSync(folder, { recursive: true });
  await Promise.all([chain.stop(), database.drop()]);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { payouts: { type: 'string', default: '3000' } } });
  await startTestServices(['durable-postgres']);
  try {
    await measure(Number(values.payouts));
  } finally {
    await stopTestServices();
  }
}

void main();
