/** The reads of a merchant, each against Koa with the same query. */
import { randomBytes } from 'node:crypto';
import { connect } from '../../../src/db/connect';
import type { Db } from '../../../src/db/transaction';
import { STORED_PER_DAY_MAX } from '../../../src/db/request-log/request-log';
import { findFreePort } from '../../../src/dev/ports';
import { ChildProgram } from '../../support/servers/child-program';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { insertCompletedPayouts } from '../../support/merchant/large-ledger';
import { createKey, createMerchant, fund } from '../../support/merchant/merchant';
import { startBareProgram } from '../bare-program';
import { closedLoop, type Request } from '../load';
import type { Row } from '../row';
import { idOf } from '../volume';

const CONNECTIONS = 32;
const PAYOUTS = 1_000;
/** The number that an account may have. */
const KEYS = 50;
/** More than a run sends in a minute. */
const REQUESTS_PER_MINUTE = 10_000_000;

function readRow(name: string, description: string, path: (n: number) => [string, string]): Row {
  return {
    name,
    description,
    needsTemporal: false,
    figures: [{ name: 'requests/s', ratio: { atLeast: 0.5 } }],
    prepare: async () => {
      const { origin, keys, accountId, database, stop } = await startInstallation(PAYOUTS);
      const bare = await startBareProgram('reads', {
        DATABASE_URL: database.apiUrl,
        ACCOUNT_ID: accountId,
      });
      const side = (to: string, request: (n: number) => Request) => ({
        measure: async (ms: number) => ({
          'requests/s': await closedLoop({ origin: to, connections: CONNECTIONS, ms, request }),
        }),
      });
      return {
        gateway: side(origin, (n) => ({
          path: `/api/v1${path(n)[0]}`,
          headers: { authorization: `Bearer ${keys[n % KEYS] ?? ''}` },
        })),
        bare: side(`http://127.0.0.1:${Number(bare.ready)}`, (n) => ({ path: path(n)[1] })),
        stop: async () => {
          await bare.stop();
          await stop();
        },
      };
    },
  };
}

export const READ_ROWS: readonly Row[] = [
  readRow('read', 'GET /payouts/{id}; Koa and the row by its key', (n) => {
    const id = idOf('po', n % PAYOUTS);
    return [`/payouts/${id}`, `/read/${id}`];
  }),
  readRow('list', 'GET /payouts, 25 payouts; Koa and the same query', () => ['/payouts', '/list']),
  readRow('balance', 'GET /balance, 3 currencies; Koa and the same query', () => [
    '/balance',
    '/balance',
  ]),
  readRow('transactions', 'GET /transactions, 25 transactions; Koa and the same query', () => [
    '/transactions',
    '/transactions',
  ]),
];

/** More than a merchant's log stores in a day, so that later requests cost nothing more. */
const BEYOND_THE_LOG = STORED_PER_DAY_MAX + 1_000;
const FILLING_MS = 2_000;
/** Their logs have room for a run. */
const OTHERS = 15;

/** What the log of requests costs: each request of these merchants is stored, and none of the other one. */
export const REQUEST_LOG_ROW: Row = {
  name: 'request-log',
  description: 'GET /balance with every request stored; the same after the maximum of the day',
  needsTemporal: false,
  figures: [{ name: 'requests/s', ratio: { atLeast: 0.8 } }],
  prepare: async () => {
    const { origin, keys, ofOthers, stop } = await startInstallation(0, OTHERS);
    const side = (some: readonly string[]) => ({
      measure: async (ms: number) => ({
        'requests/s': await closedLoop({
          origin,
          connections: CONNECTIONS,
          ms,
          request: (n) => ({
            path: '/api/v1/balance',
            headers: { authorization: `Bearer ${some[n % some.length] ?? ''}` },
          }),
        }),
      }),
    });
    const bare = side(keys);
    for (let sent = 0; sent < BEYOND_THE_LOG;) {
      sent += ((await bare.measure(FILLING_MS))['requests/s'] * FILLING_MS) / 1_000;
    }
    return { gateway: side(ofOthers), bare, stop };
  },
};

/** An API with a database of its own, and a merchant with completed payouts. */
export interface Installation {
  origin: string;
  accountId: string;
  apiKeyId: string;
  keys: readonly string[];
  /** The keys of the further merchants, as many of each. */
  ofOthers: readonly string[];
  database: TestDatabase;
  stop(): Promise<void>;
}

/** @param others how many further merchants, which have no payouts */
export async function startInstallation(payouts: number, others = 0): Promise<Installation> {
  const database = await createTestDatabase();
  const owner = connect({ url: database.ownerUrl, size: 1, applicationName: 'bench' });
  const pepper = randomBytes(32).toString('hex');
  const { accountId } = await createMerchant(owner, pepper);
  const ofAccount = { accountId, mode: 'test' } as const;
  for (const currency of ['USDT', 'BTC', 'ETH']) {
    await fund(owner, accountId, 'test', currency, '50000000');
  }
  const [apiKeyId = ''] = (
    await owner.query<{ id: string }>('SELECT id FROM api_keys WHERE account_id = ?', [accountId])
  ).map(({ id }) => id);
  const batch = { ...ofAccount, currency: 'USDT', apiKeyId, first: 0, count: payouts };
  if (payouts > 0) await insertCompletedPayouts(owner, batch, { isNoted: false });
  await liftRates(owner);
  const requestsPerMinute = REQUESTS_PER_MINUTE;
  const keys: string[] = [];
  while (keys.length < KEYS) {
    keys.push(await createKey(owner, pepper, { ...ofAccount, requestsPerMinute }));
  }
  const ofOthers: string[] = [];
  for (let made = 0; made < others; made += 1) {
    const other = await createMerchant(owner, pepper);
    for (let key = 0; key < KEYS; key += 1) {
      const { accountId: id } = other;
      ofOthers.push(
        await createKey(owner, pepper, { accountId: id, mode: 'test', requestsPerMinute }),
      );
    }
  }
  await owner.destroy();
  const { origin, stop } = await startApi(database, pepper);
  return {
    origin,
    accountId,
    apiKeyId,
    keys,
    ofOthers,
    database,
    stop: async () => {
      await stop();
      await database.drop();
    },
  };
}

/**
 * A load that stayed within one account's rate would measure nothing. The requests are still counted, for
 * the key and for the account.
 */
async function liftRates(owner: Db): Promise<void> {
  const name = 'authenticate_api_key';
  const [found] = await owner.query<{ definition: string }>(
    `SELECT pg_get_functiondef(to_regproc(?)) AS definition`,
    [name],
  );
  const lifted = found?.definition.replace(
    'THEN 2400 ELSE 1200',
    `THEN ${REQUESTS_PER_MINUTE} ELSE ${REQUESTS_PER_MINUTE}`,
  );
  if (lifted === undefined || lifted === found?.definition) {
    throw new Error(`${name} has another limit of the account`);
  }
  await owner.query(lifted);
  await owner.query('ALTER TABLE api_keys DROP CONSTRAINT api_keys_requests_per_minute_check');
}

/** The API alone: reads need neither Temporal nor providers. */
async function startApi(database: TestDatabase, pepper: string) {
  const port = await findFreePort();
  const secret = randomBytes(32).toString('hex');
  const api = new ChildProgram('api', {
    ...process.env,
    LOG_LEVEL: 'info',
    PORT: String(port),
    DATABASE_URL: database.apiUrl,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    KEY_PEPPER: pepper,
    CURSOR_SECRET: secret,
    WEBHOOK_SECRET_KEY: secret,
  });
  await api.start();
  return { origin: `http://127.0.0.1:${port}`, stop: () => api.stop() };
}
