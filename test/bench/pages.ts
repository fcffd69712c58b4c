/**
 * `npm run bench:pages`: how long the pages take with the data of volume.ts. It prints a table in
 * Markdown: the first visit, and p50 and p95 of the next ones, from the request to the last byte.
 *
 * PAYOUTS changes the volume, VISITS the number of visits, ONLY measures the paths that contain it. With
 * TEST_POSTGRES_URL, the database stays and the next run uses it again.
 */
import { sumPostings } from '../../activities/clean-up';
import { connect } from '../../src/db/connect';
import { withClient } from '../../src/db/provision';
import { startHarness } from '../db/http-harness';
import {
  createTestDatabase,
  findTestDatabase,
  type TestDatabase,
} from '../support/servers/database';
import { makeUser, PageClient, type TestUser } from '../support/merchant/page-client';
import { startTestServices, stopTestServices } from '../support/servers/start-services';
import { findVolume, idOf, insertVolume, type Volume } from './volume';

const PAYOUTS = Number(process.env['PAYOUTS'] ?? 100_000);
const VISITS = Number(process.env['VISITS'] ?? 40);
const ONLY = process.env['ONLY'] ?? '';
const TARGET_MS = 50;
const KEPT = 'gateway_volume';

const MIDDLE = Math.floor(PAYOUTS / 2);
const DAYS = `from=${daysAgo(30)}&to=${daysAgo(10)}`;

/** The pages of the merchant with the volume. */
function merchantPaths({ apiKeyId, endpointId }: Volume): string[] {
  const lists = ['payments', 'payouts'].flatMap((list) => [
    list,
    `${list}?status=completed`,
    `${list}?status=failed`,
    `${list}?reference=none`,
    `${list}?currency=BTC`,
    `${list}?provider=exchange_pay`,
    `${list}?status=completed&currency=USDT&${DAYS}`,
    `${list}?status=cancelled&currency=BTC&provider=exchange_pay&${DAYS}`,
    ...(list === 'payouts' ? ['payouts/new'] : ['payment-links']),
  ]);
  return [
    '',
    `balances/USDT`,
    ...lists,
    `payouts/${idOf('po', MIDDLE)}`,
    `payments/${idOf('pay', MIDDLE)}`,
    'transactions',
    'transactions?type=payout_release',
    'transactions?type=payout_settlement&currency=USDT',
    'transactions?currency=BTC',
    `transactions?type=adjustment&${DAYS}`,
    'statements',
    `statements?currency=USDT&month=${daysAgo(0).slice(0, 7)}`,
    'keys',
    `keys/${apiKeyId}`,
    'keys/new',
    'requests',
    'requests?status=2xx',
    'requests?status=4xx',
    'requests?status=5xx',
    'requests?method=POST',
    'requests?path=/api/v1/payouts/77777',
    'requests?path=/nothing',
    'requests?status=2xx&method=POST&path=/nothing',
    `requests/${idOf('req', 110_000)}`,
    'webhooks',
    'webhooks/new',
    'webhooks/debugger',
    `webhooks/${endpointId}`,
    ...['pending', 'succeeded', 'failed', 'skipped', 'abandoned'].map(
      (status) => `webhooks/${endpointId}?status=${status}`,
    ),
    `webhooks/${endpointId}/edit`,
    `webhooks/${endpointId}/test`,
    `webhooks/deliveries/${idOf('whd', MIDDLE)}`,
    'search?q=order-77',
    'search?q=none',
    'search?q=nobody@example.com',
    'search?q=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    'payment-links',
    'payment-links/new',
    'audit-log',
    'audit-log?by=nobody@example.com',
    'audit-log?action=api_key.create&by=user-7@example.com',
    `audit-log?object=none&${DAYS}`,
  ].map((path) => `/dashboard/test${path === '' ? '' : '/'}${path}`);
}

function operatorPaths({ accountId }: Volume): string[] {
  return [
    'home',
    'queue',
    'queue?mode=test&currency=USDT',
    'queue?mode=live',
    `queue?account=${idOf('acc', 5)}`,
    `payouts/${idOf('po', PAYOUTS - 300)}`,
    `payouts/${idOf('po', MIDDLE)}`,
    'in-doubt',
    'in-doubt?mode=live',
    'cases',
    'cases?state=all',
    'cases?state=resolved&kind=row_missing',
    `cases?object=${idOf('po', 77)}`,
    'cases?object=none',
    `cases/${idOf('case', 770)}`,
    'accounts',
    'accounts?name=merchant+77',
    'accounts?name=none&status=suspended',
    `accounts/${accountId}`,
    'pauses',
    'operations',
    'audit-log',
    'audit-log?by=nobody',
    'audit-log?via=console&action=none',
    `audit-log?account=${accountId}&action=limits.set`,
    `audit-log?account=${accountId}&by=user-7@example.com&${DAYS}`,
  ].map((path) => `/console/${path}`);
}

const OWN_PATHS = [
  'security',
  'security/password',
  'people',
  'people/invite',
  'sessions',
  'notifications',
  'confirm',
];

async function main(): Promise<void> {
  const given = process.env['TEST_POSTGRES_URL'];
  await startTestServices(['postgres', 'temporal']);
  const database = given === undefined ? await createTestDatabase() : await keptDatabase(given);
  const harness = await startHarness(database);
  const owner = connect({
    url: database.ownerUrl,
    size: 1,
    applicationName: 'bench',
    statementTimeoutMs: 0,
  });
  const volume = (await findVolume(owner)) ?? (await insertVolume(owner, { payouts: PAYOUTS }));
  // The worker does this every minute.
  await sumPostings(owner, Infinity);
  const counts = await owner.query<{ name: string; n: number }>(
    `SELECT relname AS name, n_live_tup::int AS n FROM pg_stat_user_tables
      WHERE n_live_tup > 1000 ORDER BY 1`,
  );
  console.log(counts.map(({ name, n }) => `${name} ${n.toLocaleString('en')}`).join(', '), '\n');
  const gateway = await harness.startGateway({
    env: { TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '' },
  });
  const merchant = await makeUser(owner, 'merchant', 'owner', volume.accountId);
  const operator = await makeUser(owner, 'operator', 'admin');
  const own = (site: string) => OWN_PATHS.map((path) => `/${site}/${path}`);
  console.log('| Page | First | p50 | p95 |\n| --- | ---: | ---: | ---: |');
  const slow = [
    ...(await measure(gateway.url, merchant, [...merchantPaths(volume), ...own('dashboard')])),
    ...(await measure(gateway.url, operator, [...operatorPaths(volume), ...own('console')])),
  ];
  console.log(slow.length === 0 ? '\nNone above' : `\n${slow.length} above`, `${TARGET_MS} ms`);
  await owner.destroy();
  await harness.stop();
  await stopTestServices();
}

/** @returns the paths above the target */
async function measure(url: string, user: TestUser, paths: string[]): Promise<string[]> {
  const client = new PageClient(url);
  await client.signIn(user);
  const slow: string[] = [];
  for (const path of paths.filter((one) => one.includes(ONLY))) {
    const times: number[] = [];
    for (let visit = 0; visit <= VISITS; visit++) {
      const start = performance.now();
      const response = await client.get(path);
      await response.text();
      times.push(performance.now() - start);
      if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    }
    const [first = 0, ...others] = times;
    others.sort((a, b) => a - b);
    const at = (part: number) => others[Math.ceil(others.length * part) - 1] ?? 0;
    const cells = [first, at(0.5), at(0.95)].map((ms) => ms.toFixed(1));
    console.log(`| \`${path.replace(/\d{20,}/g, '…')}\` | ${cells.join(' | ')} |`);
    if (at(0.95) > TARGET_MS) slow.push(path);
  }
  return slow;
}

/** Stays after the run. */
async function keptDatabase(server: string): Promise<TestDatabase> {
  await withClient(server, async (client) => {
    const name = [KEPT];
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', name);
    if (found.rowCount !== 0) return;
    const made = await createTestDatabase();
    await client.query(`ALTER DATABASE ${made.name} RENAME TO ${KEPT}`);
  });
  return { ...findTestDatabase(KEPT), drop: () => Promise.resolve() };
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

void main();
