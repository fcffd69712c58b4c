/**
 * The API and the worker behind PgBouncer in transaction mode, with fewer connections to PostgreSQL
 * than requests at once.
 */
import { pino } from 'pino';
import { connect } from '../../src/db/connect';
import { withClient } from '../../src/db/provision';
import { createHealth } from '../../src/shell/api/health';
import { API_LOGIN } from '../support/servers/database';
import { brokenInvariants, startGateway, type OwnGateway } from '../support/servers/gateway';
import { runAdmin } from '../support/servers/gateway-admin';
import { atProvider, openedPayment, whenPayment } from '../support/payment/payment-steps';
import { describeWithProgram } from '../support/optional-program';
import { findPgBouncer, type PgBouncer, startPgBouncer } from '../support/servers/pgbouncer';
import { acceptedPayout, openMerchant, whenFinal } from '../support/payout/payout-steps';
import { startReceiver } from '../support/webhook/webhook-receiver';
import { waitThroughFaults } from '../support/wait-for';

const SERVER = new URL(process.env['TEST_POSTGRES_URL'] ?? '');
const AT_ONCE = 24;
const CONNECTIONS_PER_LOGIN = 3;

const REMEDY = 'Install PgBouncer (apt-get install pgbouncer).';

describeWithProgram(findPgBouncer(), REMEDY, 'behind PgBouncer', () => {
  let bouncer: PgBouncer;
  let gateway: OwnGateway;

  beforeAll(async () => {
    bouncer = await startPgBouncer(SERVER, CONNECTIONS_PER_LOGIN);
    gateway = await startGateway({ databasePort: bouncer.port });
  });

  afterAll(async () => {
    await gateway.stop();
    await bouncer.stop();
  });

  test('payouts, payments and webhooks at once: all completed, the ledger balanced', async () => {
    const { accountId, client } = await openMerchant(gateway, { mode: 'test' });
    const receiver = await startReceiver();
    const where = ['--account', accountId, '--mode', 'test', '--url', receiver.url];
    await runAdmin(gateway, 'webhooks', 'create', ...where);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        if (index % 2 === 0) {
          const id = await acceptedPayout(client);
          expect(await whenFinal(client, id)).toMatchObject({ status: 'completed' });
        } else {
          const id = await openedPayment(client);
          await atProvider(gateway, id, 'pay', { amount: '100' });
          await whenPayment(client, id, 'completed');
        }
      }),
    );
    const [found] = await gateway.db.query<{ events: number }>(
      'SELECT count(*)::int AS events FROM events WHERE account_id = ?',
      [accountId],
    );
    const events = found?.events ?? 0;
    expect(events).toBeGreaterThanOrEqual(AT_ONCE);
    await waitThroughFaults(
      'all events at the receiver',
      async () => receiver.received.length >= events,
    );
    await receiver.stop();
    expect(await brokenInvariants(gateway)).toEqual([]);
  });

  test('statements of both logins keep their timeouts', async () => {
    for (const url of [gateway.env['DATABASE_URL'], gateway.env['TEST_WORKER_DATABASE_URL']]) {
      await withClient(url ?? '', async (client) => {
        const { rows: found } = await client.query('SHOW statement_timeout');
        expect(found).toEqual([{ statement_timeout: '15s' }]);
      });
    }
  });

  test('PostgreSQL has no more connections than the pools', async () => {
    const [found] = await gateway.db.query<{ connections: number }>(
      `SELECT count(*)::int AS connections FROM pg_stat_activity
        WHERE datname = current_database() AND usename LIKE 'gateway_test_%'`,
    );
    expect(found?.connections).toBeLessThanOrEqual(2 * CONNECTIONS_PER_LOGIN);
  });

  test('a login without a statement timeout is not ready', async () => {
    const { db, temporal } = gateway;
    const login = API_LOGIN.user;
    const database = new URL(gateway.database.ownerUrl).pathname.slice(1);
    await db.query(`ALTER ROLE ${login} IN DATABASE ${database} SET statement_timeout = 0`);
    // Its connections to PostgreSQL are new ones.
    const another = await startPgBouncer(SERVER, CONNECTIONS_PER_LOGIN);
    const url = new URL(gateway.env['DATABASE_URL'] ?? '');
    url.port = String(another.port);
    const unlimited = connect({ url: url.href, size: 2, applicationName: 'test' });
    const logger = pino({ level: 'silent' });
    const { parts } = await createHealth({
      db: unlimited,
      pagesDb: null,
      temporal,
      logger,
    }).check();
    expect(parts['postgres']).toContain(`ALTER ROLE <login> SET statement_timeout = '15s'`);
    await unlimited.destroy();
    await another.stop();
  });
});
