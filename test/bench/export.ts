/**
 * `npm run bench:export`: the export of 1,000,000 transactions to a client that reads fast, one that
 * reads slowly and one that hangs up, each a curl. It prints rows per second and the memory (RSS) of
 * this process, which serves them.
 *
 * TRANSACTIONS changes the number.
 */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/db/connect';
import type { Reader } from '../../src/db/transaction';
import { startHarness } from '../db/http-harness';
import { makeUser, PageClient } from '../support/merchant/page-client';
import { startTestServices, stopTestServices } from '../support/servers/start-services';
import { insertTransactions } from './volume';

const TRANSACTIONS = Number(process.env['TRANSACTIONS'] ?? 1_000_000);

const CLIENTS = [
  ['fast, CSV', 'csv', []],
  ['fast, JSON', 'json', []],
  ['slow, 1 MB/s for 30 s', 'csv', ['--limit-rate', '1M', '--max-time', '30']],
  ['hangs up after 3 s', 'csv', ['--max-time', '3']],
] as const;

async function main(): Promise<void> {
  await startTestServices(['postgres']);
  const harness = await startHarness();
  const owner = connect({ url: harness.database.ownerUrl, size: 1, applicationName: 'bench' });
  const accountId = await insertTransactions(owner, TRANSACTIONS);
  const gateway = await harness.startGateway();
  const client = new PageClient(gateway.url);
  await client.signIn(await makeUser(owner, 'merchant', 'viewer', accountId));
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const url = `${gateway.url}/dashboard/test/transactions/export`;

  console.log('| Client | Seconds | MB | Rows/s | RSS before, peak | Queries after it |');
  console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
  for (const [name, format, limits] of CLIENTS) {
    const before = rssMb();
    let peak = before;
    const sampling = setInterval(() => (peak = Math.max(peak, rssMb())), 200);
    const start = performance.now();
    const { bytes, lines } = await curl([...limits, '-b', cookie, `${url}?format=${format}`]);
    const seconds = (performance.now() - start) / 1_000;
    const left = await queriesSince(owner, 1_000);
    clearInterval(sampling);
    const cells = [seconds.toFixed(1), (bytes / 1e6).toFixed(0), (lines / seconds).toFixed(0)];
    console.log(`| ${[name, ...cells, `${before}, ${peak} MB`, left].join(' | ')} |`);
  }
  await owner.destroy();
  await harness.stop();
  await stopTestServices();
}

function rssMb(): number {
  return Math.round(process.memoryUsage.rss() / 1e6);
}

/** Counts what it receives in a process of its own: counting here would use this one's memory. */
async function curl(options: string[]): Promise<{ bytes: number; lines: number }> {
  const script = 'curl -sS "$@" 2>/dev/null | wc -lc';
  const child = spawn('sh', ['-c', script, 'curl', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of child.stdout) printed += String(chunk);
  const [lines = 0, bytes = 0] = printed.trim().split(/\s+/).map(Number);
  return { bytes, lines };
}

/** The pages that begin later than this after now. */
async function queriesSince(owner: Reader, waitMs: number): Promise<number> {
  await sleep(waitMs);
  const from = new Date();
  await sleep(1_000);
  const [found] = await owner.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE application_name LIKE 'gateway-%' AND query LIKE '%ledger_transactions%'
        AND (state <> 'idle' OR query_start > ?)`,
    [from],
  );
  return found?.n ?? 0;
}

void main();
