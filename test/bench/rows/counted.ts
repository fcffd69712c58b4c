/**
 * Counts what one object costs: history events and workflow tasks from Temporal, statements and
 * round trips on the wire to PostgreSQL, bytes of its write-ahead log. Objects run one at a time and
 * background work is paused, so the figures do not depend on the machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../../../src/db/provision';
import { startGateway, type OwnGateway } from '../../support/servers/gateway';
import { runAdmin } from '../../support/servers/gateway-admin';
import type { MerchantClient } from '../../support/merchant/merchant-client';
import { atProvider, openedPayment } from '../../support/payment/payment-steps';
import { acceptedPayout, approve, openMerchant } from '../../support/payout/payout-steps';
import { type Receiver, startReceiver } from '../../support/webhook/webhook-receiver';
import { startCountingProxy, type CountingProxy } from '../counting-proxy';
import type { Figure, Measured, Row } from '../row';
import { waitFor } from '../../support/wait-for';

const NAMES = [
  'history events',
  'workflow tasks',
  'statements',
  'round trips',
  'WAL bytes',
] as const;
type Name = (typeof NAMES)[number];
type Spent = Record<Name, number>;
type SpentInPostgres = Omit<Spent, 'history events' | 'workflow tasks'>;

const OBJECTS = {
  'auto-approved payout': { 'history events': 28, 'workflow tasks': 4 },
  'signalled payout': { 'history events': 28, 'workflow tasks': 4 },
  'completed payment': {},
  'webhook delivery': { 'history events': 7, 'workflow tasks': 1 },
} as const satisfies Record<string, Partial<Spent>>;

const READS = {
  'GET /payouts/{id}': { statements: 2 },
  'GET /payouts?limit=25': { statements: 2 },
  'GET /balance': { statements: 2 },
  'GET /transactions?limit=25': { statements: 2 },
} as const satisfies Record<string, Partial<SpentInPostgres>>;

const READ_NAMES = ['statements', 'round trips', 'WAL bytes'] as const;

/** The size of a record of the log depends on how full the pages are. */
const WAL_TOLERANCE = 0.15;

function figuresOf(
  limits: Readonly<Record<string, Partial<Spent>>>,
  names: readonly Name[],
): Figure[] {
  return Object.entries(limits).flatMap(([what, atMost]) =>
    names.map((name) => ({
      name: `${what}: ${name}`,
      tolerance: name === 'WAL bytes' ? WAL_TOLERANCE : 0,
      ...(atMost[name] === undefined ? {} : { limit: { atMost: atMost[name] } }),
    })),
  );
}

export const COUNTED_ROW: Row = {
  name: 'counted',
  description: 'history events, workflow tasks, statements, round trips and WAL of one object',
  needsTemporal: true,
  figures: [...figuresOf(OBJECTS, NAMES), ...figuresOf(READS, READ_NAMES)],
  rounds: 1,
  prepare: async () => {
    const world = await startWorld();
    return {
      gateway: { measure: () => count(world) },
      bare: null,
      stop: world.stop,
    };
  },
};

interface World {
  gateway: OwnGateway;
  meter: Meter;
  receiver: Receiver;
  stop(): Promise<void>;
}

/** The provider's callback arrives after the workflow has begun to wait for it. */
const SETTLE_MS = 400;

async function startWorld(): Promise<World> {
  await setServer({ autovacuum: 'off', full_page_writes: 'off' });
  const proxy = await startCountingProxy(process.env['TEST_POSTGRES_URL'] ?? '');
  const gateway = await startGateway({
    databasePort: proxy.port,
    sandbox: { settleMs: SETTLE_MS },
  });
  const receiver = await startReceiver();
  await pauseSchedules(gateway);
  return {
    gateway,
    meter: new Meter(gateway, proxy),
    receiver,
    stop: async () => {
      await gateway.stop();
      await Promise.all([receiver.stop(), proxy.stop()]);
      await setServer({ autovacuum: null, full_page_writes: null });
    },
  };
}

/** What would write to the log beside the objects, or in other sizes after a checkpoint. */
async function setServer(settings: Record<string, 'off' | null>): Promise<void> {
  await withClient(process.env['TEST_POSTGRES_URL'] ?? '', async (client) => {
    for (const [name, value] of Object.entries(settings)) {
      await client.query(
        `ALTER SYSTEM ${value === null ? 'RESET' : 'SET'} ${name} ${value === null ? '' : `= ${value}`}`,
      );
    }
    await client.query('SELECT pg_reload_conf()');
  });
}

async function count({ gateway, meter, receiver }: World): Promise<Measured> {
  const review = { mode: 'test', rehearseReview: true } as const;
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const { client: reviewed } = await openMerchant(gateway, review);
  const { client: listening, accountId } = await openMerchant(gateway, review);
  const endpoint = ['--account', accountId, '--mode', 'test', '--url', receiver.url];
  await runAdmin(gateway, 'webhooks', 'create', ...endpoint);

  const signalled = await meter.objects(() => signalledPayout(gateway, reviewed));
  const delivered = await meter.objects(() => signalledPayout(gateway, listening));
  const objects: Record<keyof typeof OBJECTS, Spent> = {
    'auto-approved payout': await meter.objects(() => acceptedPayout(client)),
    'signalled payout': signalled,
    'completed payment': await meter.objects(() => completedPayment(gateway, client)),
    'webhook delivery': {
      ...(await historyOfDelivery(gateway)),
      ...perDelivery(signalled, delivered, await countEvents(gateway, accountId)),
    },
  };
  const id = await acceptedPayout(client);
  await gateway.temporal.workflow.getHandle(id).result();
  const measured: Record<string, number> = {};
  for (const [what, spent] of Object.entries(objects)) {
    for (const name of NAMES) measured[`${what}: ${name}`] = spent[name];
  }
  for (const what of Object.keys(READS)) {
    const path = what.replace('GET ', '').replace('{id}', id);
    const spent = await meter.reads(() => client.get(path));
    for (const name of READ_NAMES) measured[`${what}: ${name}`] = spent[name];
  }
  return measured;
}

/** restart-missing, clean-up, reconciliation and ledger-check read and write beside the objects. */
async function pauseSchedules({ temporal }: OwnGateway): Promise<void> {
  const ids = await waitFor('the schedules', async () => {
    const found: string[] = [];
    for await (const { scheduleId } of temporal.schedule.list()) found.push(scheduleId);
    return found.length >= 4 ? found : undefined;
  });
  await Promise.all(ids.map((id) => temporal.schedule.getHandle(id).pause()));
}

async function signalledPayout(gateway: OwnGateway, client: MerchantClient): Promise<string> {
  const id = await acceptedPayout(client);
  await approve(gateway, id);
  return id;
}

async function completedPayment(gateway: OwnGateway, client: MerchantClient): Promise<string> {
  const id = await openedPayment(client);
  // The workflow has begun to wait.
  await sleep(SETTLE_MS);
  await atProvider(gateway, id, 'pay');
  return id;
}

/** Odd, so that the median is one of them. */
const OBJECTS_MEASURED = 3;
const READS_MEASURED = 20;
/** Longer than the request log waits for its batch. */
const QUIET_MS = 700;

class Meter {
  constructor(
    readonly gateway: OwnGateway,
    readonly proxy: CountingProxy,
  ) {}

  /** The median of several, one after the other. @param make returns the id of its workflow */
  async objects(make: () => Promise<string>): Promise<Spent> {
    const measured: Spent[] = [];
    // The first one opens connections and fills caches.
    for (let number = 0; number <= OBJECTS_MEASURED; number++) {
      const begun = await this.#begin();
      const id = await make();
      await this.gateway.temporal.workflow.getHandle(id).result();
      const spent = await this.#end(begun);
      if (number > 0) measured.push({ ...(await historyOf(this.gateway, id)), ...spent });
    }
    const median = (name: Name) =>
      measured.map((one) => one[name]).sort((a, b) => a - b)[(OBJECTS_MEASURED - 1) / 2] ?? NaN;
    return {
      'history events': median('history events'),
      'workflow tasks': median('workflow tasks'),
      statements: median('statements'),
      'round trips': median('round trips'),
      'WAL bytes': median('WAL bytes'),
    };
  }

  /** The mean of many. */
  async reads(read: () => Promise<{ status: number }>): Promise<SpentInPostgres> {
    await read();
    const begun = await this.#begin();
    for (let number = 0; number < READS_MEASURED; number++) {
      const { status } = await read();
      if (status !== 200) throw new Error(`a read was answered with ${status}`);
    }
    const spent = await this.#end(begun);
    return {
      statements: spent.statements / READS_MEASURED,
      'round trips': spent['round trips'] / READS_MEASURED,
      'WAL bytes': Math.round(spent['WAL bytes'] / READS_MEASURED),
    };
  }

  async #begin(): Promise<string> {
    await this.#quiet();
    this.proxy.take();
    const [row] = await this.gateway.db.query<{ lsn: string }>(
      'SELECT pg_current_wal_insert_lsn()::text AS lsn',
    );
    return row?.lsn ?? '';
  }

  async #end(begun: string): Promise<SpentInPostgres> {
    await this.#quiet();
    const { statements, roundTrips } = this.proxy.take();
    const [row] = await this.gateway.db.query<{ bytes: string }>(
      'SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), ?::pg_lsn)::text AS bytes',
      [begun],
    );
    return { statements, 'round trips': roundTrips, 'WAL bytes': Number(row?.bytes) };
  }

  async #quiet(): Promise<void> {
    for (;;) {
      const leftMs = this.proxy.lastAt() + QUIET_MS - performance.now();
      if (leftMs <= 0) return;
      await sleep(leftMs);
    }
  }
}

async function historyOf({ temporal }: OwnGateway, workflowId: string) {
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
  const all = events ?? [];
  const tasks = all.filter((event) => event.workflowTaskScheduledEventAttributes != null);
  return { 'history events': all.length, 'workflow tasks': tasks.length };
}

/** The history of the last delivery. */
async function historyOfDelivery(gateway: OwnGateway) {
  const [last] = await gateway.db.query<{ id: string }>(
    'SELECT id FROM webhook_deliveries ORDER BY id DESC LIMIT 1',
  );
  return historyOf(gateway, last?.id ?? '');
}

/** What the deliveries of a payout's events add to it, for each. */
function perDelivery(without: Spent, withEndpoint: Spent, deliveries: number): SpentInPostgres {
  const each = (name: keyof SpentInPostgres, digits: number) =>
    Number(((withEndpoint[name] - without[name]) / deliveries).toFixed(digits));
  return {
    statements: each('statements', 2),
    'round trips': each('round trips', 2),
    'WAL bytes': each('WAL bytes', 0),
  };
}

/** Counts the events of one payout. */
async function countEvents({ db }: OwnGateway, accountId: string): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    `SELECT (count(*) / count(DISTINCT object_id))::int AS n FROM events WHERE account_id = ?`,
    [accountId],
  );
  return row?.n ?? 0;
}
