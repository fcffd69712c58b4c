/**
 * The restores of docs/operations.md, "After a restore", with pgBackRest and under load: PostgreSQL to a
 * time that Temporal and the provider have passed, and Temporal to a time that PostgreSQL has passed.
 * Nothing is sent twice, and what the database forgot is named. restore.test.ts has the single cases.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runLedgerVerify } from '../../src/bin/ledger-verify';
import { connect } from '../../src/db/connect';
import { databaseUrl } from '../../src/db/provision';
import type { Db } from '../../src/db/transaction';
import { createTemplate } from '../support/servers/database';
import { brokenInvariants, type OwnGateway, startGateway } from '../support/servers/gateway';
import { runAdmin } from '../support/servers/gateway-admin';
import { fund } from '../support/merchant/merchant';
import { approve, completeAll, MerchantLoad, moreOf } from './merchant-load';
import { type MortalTemporal, startMortalTemporal } from '../support/chaos/mortal-servers';
import { describeWithProgram } from '../support/optional-program';
import { retry } from '../support/merchant/patient-client';
import { auditMoney } from '../support/payout/payout-audit';
import { BACKUP_REMEDY, Backups, findPgBackRest } from './pgbackrest';
import { runProgram } from '../support/servers/programs';
import { readBook } from '../support/servers/sandbox';
import { scaled } from '../support/scale';
import { type Cluster, PostgresHost } from './system-postgres';
import { placeOf, temporalCommand } from '../support/servers/temporal-command';
import { hurryDeliveries } from '../support/webhook/webhook-delivery-audit';
import { startReceiver, type Receiver } from '../support/webhook/webhook-receiver';
import { waitThroughFaults } from '../support/wait-for';

jest.setTimeout(scaled(300_000, 1_200_000));

const CLIENTS = 4;
const EACH = scaled(16, 150);

describeWithProgram(findPgBackRest(), BACKUP_REMEDY, 'a restore', () => {
  let host: PostgresHost;
  let cluster: Cluster;
  let backups: Backups;
  let folder: string;
  let temporal: MortalTemporal;
  let gateway: OwnGateway;
  let receiver: Receiver;

  beforeAll(async () => {
    host = new PostgresHost();
    cluster = await host.createCluster('gateway');
    backups = new Backups(cluster);
    await cluster.start(backups.settings, backups.env);
    await backups.createStanza();
    process.env['TEST_POSTGRES_URL'] = cluster.superuserUrl;
    await createTemplate(cluster.superuserUrl);
    folder = mkdtempSync(join(tmpdir(), 'payments-gateway-restore-'));
    chmodSync(folder, 0o711);
    temporal = await startMortalTemporal(folder);
    gateway = await startGateway();
    const { accountId } = gateway.merchant;
    for (const mode of ['test', 'live'] as const) {
      await fund(gateway.db, accountId, mode, 'USDT', '100000.00000000');
    }
    receiver = await startReceiver();
    const where = ['--account', accountId, '--mode', 'test', '--url', receiver.url];
    await runAdmin(gateway, 'webhooks', 'create', ...where);
  });

  afterAll(async () => {
    await gateway.stop();
    await receiver.stop();
    await Promise.all([temporal.stop(), cluster.stop()]);
    host.remove();
    rmSync(folder, { recursive: true });
  });

  test('of Temporal to an earlier time than PostgreSQL', async () => {
    const load = new MerchantLoad(gateway, CLIENTS);
    await moreOf(load, EACH);
    await temporal.kill();
    temporal.save();
    await temporal.start();
    await moreOf(load, EACH);
    for (const { id } of load.acknowledged.filter((one) => load.isReviewed(one)).slice(0, 5)) {
      await approve(gateway, id);
    }
    await moreOf(load, EACH);

    await Promise.all([gateway.api.stop(), gateway.worker.stop()]);
    await temporal.kill();
    temporal.putBack();
    await temporal.start();
    await ageRows();
    await Promise.all([gateway.api.start(), gateway.worker.start()]);
    await runSchedule('restart-missing');
    await moreOf(load, EACH);
    await load.end();
    expect(load.refused).toEqual([]);

    await completeAll(gateway, load.acknowledged);
    expect(await auditMoney(gateway)).toEqual([]);
    for (const one of load.acknowledged) {
      const again = await retry(() => load.repeat(one));
      expect([again.status, again.text]).toEqual([201, one.text]);
    }
    await verify();
    say('Temporal older', load, []);
  });

  test('of a copy beside the running gateway: the ledger of a time holds', async () => {
    await backups.backUp('full');
    const load = new MerchantLoad(gateway, CLIENTS);
    await moreOf(load, EACH);
    const time = await now();
    const known = load.acknowledged.map(({ id }) => id);
    await moreOf(load, EACH);
    await backups.check();

    const copy = await host.prepareCluster('rehearsal');
    await backups.restore(time, `--pg1-path=${copy.dataDir}`, '--archive-mode=off');
    await copy.start({}, backups.env);
    await copy.whenRestored();
    await load.end();
    const place = { database: new URL(gateway.database.ownerUrl).pathname.slice(1) };
    const copyUrl = databaseUrl(copy.superuserUrl, place);
    const db = connect({ url: copyUrl, size: 2, applicationName: 'test' });
    try {
      expect(await brokenInvariants({ db })).toEqual([]);
      const kept = await readIds(db);
      expect(known.filter((id) => !kept.has(id))).toEqual([]);
      expect(kept.size).toBeLessThan((await readIds(gateway.db)).size);
    } finally {
      await db.destroy();
      await copy.stop();
    }
    await completeAll(gateway, load.acknowledged);
  });

  test('of PostgreSQL to an earlier time than Temporal', async () => {
    const load = new MerchantLoad(gateway, CLIENTS);
    await moreOf(load, EACH);
    await backups.backUp('full');
    await moreOf(load, EACH);
    await backups.backUp('diff');
    await moreOf(load, EACH);
    const reviewed = load.acknowledged.filter((one) => load.isReviewed(one)).slice(0, 5);
    const time = await now();
    // Sent after that time; afterwards they are under review again.
    for (const { id } of reviewed) await approve(gateway, id);
    await completeAll(gateway, reviewed);
    await moreOf(load, EACH);
    await backups.check();

    await cluster.kill();
    cluster.loseData();
    await load.abandon();
    await Promise.all([gateway.api.stop(), gateway.worker.stop()]);
    const begun = Date.now();
    await backups.restore(time);
    await cluster.start(backups.settings, backups.env);
    await cluster.whenRestored();
    const restoredMs = Date.now() - begun;

    const pause = (await runAdmin(gateway, 'payouts', 'pause', '--reason', 'restore')) as {
      id: string;
    };
    await gateway.db.query('UPDATE event_clock SET shift = shift + 1000000000');
    await ageRows();
    await gateway.worker.start();
    for (const schedule of ['restart-missing', 'reconciliation']) await runSchedule(schedule);
    const kept = await readIds(gateway.db);
    const forgotten = await forgottenTransfers(kept);
    await waitThroughFaults('a case for each transfer that the database forgot', async () => {
      const named = await namedTransfers();
      return forgotten.every(({ client_reference: id }) => named.has(id));
    });
    await settle();
    await runAdmin(gateway, 'payouts', 'resume', pause.id);
    await gateway.api.start();

    const all = load.acknowledged;
    const lost = all.filter(({ id }) => !kept.has(id));
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.filter(({ at }) => at < Date.parse(isoTime(time)))).toEqual([]);
    const listed = await listLost(isoTime(time));
    expect(lost.filter(({ id }) => !listed.has(id))).toEqual([]);
    // The others were created, and their answers were lost with the server.
    expect(listed.size).toBeLessThanOrEqual(lost.length + load.unanswered.length);
    await completeAll(
      gateway,
      all.filter(({ id }) => kept.has(id)),
    );
    for (const one of all.filter(({ id }) => kept.has(id))) {
      const again = await retry(() => load.repeat(one));
      expect([again.status, again.text]).toEqual([201, one.text]);
    }
    const faults = await auditMoney(gateway);
    expect(faults.sort()).toEqual(
      forgotten
        .map((one) => `the provider has ${one.client_reference}, which we do not know`)
        .sort(),
    );
    const { transfers } = await readBook(gateway.sandbox.url);
    expect(transfers.filter(({ times_sent: times }) => times > 1)).toEqual([]);
    await verify();
    say(`PostgreSQL older, restored in ${restoredMs} ms`, load, lost);
  });

  /** The time in the form that an operator writes. */
  async function now(): Promise<string> {
    const [row] = await cluster.query<{ time: string }>(
      `SELECT to_char(clock_timestamp(), 'YYYY-MM-DD HH24:MI:SS.USOF') AS time`,
    );
    return row?.time ?? '';
  }

  /** Sweeps leave rows alone for two or five minutes, and a restore takes longer than a test. */
  async function ageRows(): Promise<void> {
    for (const table of ['payouts', 'payments']) {
      await gateway.db.query(
        `UPDATE ${table} SET workflow_checked_at = now() - interval '10 minutes'`,
      );
    }
    await gateway.db.query(
      `UPDATE webhook_deliveries SET check_at = now() WHERE status = 'pending'`,
    );
  }

  /** Now, and not only when it is due. */
  async function runSchedule(id: string): Promise<void> {
    await temporalCommand(placeOf(gateway.env), 'schedule', 'trigger', '-s', id);
  }

  async function forgottenTransfers(kept: Set<string>) {
    const { transfers } = await readBook(gateway.sandbox.url);
    return transfers.filter((one) => !kept.has(one.client_reference));
  }

  /** What Temporal still knows. */
  async function listLost(since: string): Promise<Set<string>> {
    const ids = new Set<string>();
    for (const noun of ['payouts', 'payments']) {
      const { data } = await runAdmin(gateway, noun, 'lost', '--since', since);
      for (const { id } of data as { id: string }[]) ids.add(id);
    }
    return ids;
  }

  /** References of the open cases about transfers without a payout. */
  async function namedTransfers(): Promise<Set<string>> {
    const cases = await gateway.db.query<{ reference: string }>(
      `SELECT details->>'reference' AS reference FROM cases WHERE kind = 'unknown_transfer'`,
    );
    return new Set(cases.map(({ reference }) => reference));
  }

  /** Debits each payout that was sent and forgotten, and resolves its case. */
  async function settle(): Promise<void> {
    const cases = await gateway.db.query<{ id: string; details: Record<string, string> }>(
      `SELECT id, details FROM cases WHERE kind = 'unknown_transfer' AND resolved_at IS NULL`,
    );
    for (const { id, details } of cases) {
      const { mode = '', currency = '', amount = '', reference = '' } = details;
      const debit = ['--mode', mode, '--currency', currency, '--amount', amount];
      await runAdmin(
        gateway,
        ...['adjustments', 'create', '--account', gateway.merchant.accountId, ...debit],
        ...['--direction', 'out', '--reason', `sent before the restore: ${reference}`],
      );
      await runAdmin(gateway, 'cases', 'resolve', id, '--facts', '1', '--resolution', 'debited');
    }
  }

  /** Every event of the test mode, which the endpoint subscribes to. */
  async function whenDelivered(): Promise<void> {
    await waitThroughFaults('the delivery of every event', async () => {
      await hurryDeliveries(gateway);
      const open = await gateway.db.query(
        `SELECT FROM events e LEFT JOIN webhook_deliveries d ON d.event_id = e.id
          WHERE e.mode = 'test' AND d.status IS DISTINCT FROM 'succeeded' LIMIT 1`,
      );
      return open.length === 0;
    });
  }

  async function verify(): Promise<void> {
    await whenDelivered();
    const { code, stdout } = await runProgram(runLedgerVerify, [], {
      ...gateway.env,
      DATABASE_URL: gateway.database.ownerUrl,
    });
    expect(stdout).toContain('ledger verified');
    expect(code).toBe(0);
  }
});

/** The ids of payouts and payments. */
async function readIds(db: Db): Promise<Set<string>> {
  const sql = 'SELECT id FROM payouts UNION ALL SELECT id FROM payments';
  return new Set((await db.query<{ id: string }>(sql)).map(({ id }) => id));
}

function isoTime(time: string): string {
  return time.replace(' ', 'T').replace(/\+00$/, 'Z');
}

function say(what: string, load: MerchantLoad, lost: readonly object[]): void {
  const { acknowledged, unanswered } = load;
  process.stderr.write(
    `${what}: ${acknowledged.length} acknowledged, ${lost.length} of them forgotten, ` +
      `${unanswered.length} unanswered\n`,
  );
}
