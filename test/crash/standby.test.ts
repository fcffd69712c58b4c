/**
 * PostgreSQL's primary is lost under load and its synchronous standby is promoted, as docs/operations.md
 * says: what was acknowledged is there, each request repeats its answer, and the ledger holds.
 */
import { createTemplate } from '../support/servers/database';
import { isSound, type OwnGateway, startGateway } from '../support/servers/gateway';
import { type Link, startLink } from '../support/chaos/link';
import { fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../support/merchant/merchant-client';
import { completeAll, MerchantLoad, moreOf } from './merchant-load';
import { describeWithProgram } from '../support/optional-program';
import { PatientClient, retry } from '../support/merchant/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { scaled } from '../support/scale';
import { type Cluster, findSystemPostgres, POSTGRES_REMEDY, PostgresHost } from './system-postgres';
import { waitThroughFaults } from '../support/wait-for';

jest.setTimeout(scaled(300_000, 1_200_000));

const CLIENTS = 6;
const BEFORE = scaled(40, 600);
const AFTER = scaled(20, 300);

describeWithProgram(findSystemPostgres(), POSTGRES_REMEDY, 'a synchronous standby', () => {
  let host: PostgresHost;
  let primary: Cluster;
  let standby: Cluster;
  /** The address of the database, which operators move: HAProxy, a virtual IP, a DNS name. */
  let address: Link;
  let gateway: OwnGateway;

  beforeAll(async () => {
    host = new PostgresHost();
    primary = await host.createCluster('primary');
    await primary.start();
    address = await startLink(primary.port);
    const server = new URL(primary.superuserUrl);
    server.port = String(address.port);
    process.env['TEST_POSTGRES_URL'] = server.href;
    await createTemplate(server.href);
    // What the standby keeps waiting is given up sooner.
    gateway = await startGateway({ env: { DATABASE_STATEMENT_TIMEOUT_MS: '4000' } });
    for (const mode of ['test', 'live'] as const) {
      await fund(gateway.db, gateway.merchant.accountId, mode, 'USDT', FUNDS);
    }
    standby = await host.createStandby(primary, 'standby');
    await standby.start();
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (standby)'`);
    await primary.query('SELECT pg_reload_conf()');
    await whenSynchronous();
  });

  afterAll(async () => {
    await gateway.stop();
    await address.stop();
    await Promise.all([primary.stop(), standby.stop()]);
    host.remove();
  });

  async function whenSynchronous(): Promise<void> {
    await waitThroughFaults('the standby to be synchronous', async () => {
      const found = await primary.query(
        `SELECT FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')`,
      );
      return found.length > 0;
    });
  }

  test('while it is away, nothing is acknowledged; afterwards the same request is', async () => {
    const client = new MerchantClient(gateway.baseUrl, gateway.merchant.testKey);
    const [body, key] = [buildPayout(), randomKey()];
    await standby.stop();
    const meanwhile = await client.createPayout(body, key);
    expect(meanwhile.status).toBe(503);
    await standby.start();
    await whenSynchronous();
    const answer = await retry(() => client.createPayout(body, key));
    expect(answer.status).toBe(201);
    const payouts = await gateway.db.query<{ id: string }>('SELECT id FROM payouts');
    expect(payouts).toEqual([{ id: answer.json.data.id as string }]);
  });

  test('it is promoted under load: nothing acknowledged is lost', async () => {
    const load = new MerchantLoad(gateway, CLIENTS);
    await moreOf(load, BEFORE);
    const killedAt = Date.now();
    await primary.kill();
    await standby.query('SELECT pg_promote()');
    address.leadTo(standby.port);
    const promotedMs = Date.now() - killedAt;
    // Every client may be about a request whose key is claimed still.
    await load.createPayout('test');
    const fresh = load.acknowledged.find(({ begunAt }) => begunAt >= killedAt + promotedMs);
    await moreOf(load, AFTER);
    await load.end();
    const { acknowledged, refused } = load;
    expect(refused).toEqual([]);

    const stored = await gateway.db.query<{ id: string }>(
      'SELECT id FROM payouts UNION ALL SELECT id FROM payments',
    );
    const known = new Set(stored.map(({ id }) => id));
    const lost = acknowledged.filter(({ id }) => !known.has(id));
    expect(lost).toEqual([]);
    for (const one of acknowledged) {
      const again = await retry(() => load.repeat(one));
      expect([again.status, again.text]).toEqual([201, one.text]);
    }

    await completeAll(gateway, acknowledged);
    expect(await auditPayouts(gateway)).toEqual([]);
    await isSound(gateway);
    const live = new PatientClient(gateway.baseUrl, gateway.merchant.liveKey);
    const { accountId } = gateway.merchant;
    expect(await live.balance()).toEqual(
      await expectedBalance(gateway.db, accountId, FUNDS, 'live'),
    );
    const before = acknowledged.filter(({ at }) => at < killedAt).length;
    const slowestMs = Math.max(...acknowledged.map(({ at, begunAt }) => at - begunAt));
    process.stderr.write(
      `standby: ${acknowledged.length} acknowledged (${before} before the loss), ${lost.length} lost; ` +
        `promoted after ${promotedMs} ms, first new request ${(fresh?.at ?? NaN) - killedAt} ms after ` +
        `the loss, slowest request ${slowestMs} ms\n`,
    );
  });
});
