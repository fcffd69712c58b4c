/** Events to a fast receiver, against a workflow with one POST. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../../src/db/transaction';
import { newId } from '../../../src/platform/lib/new-id';
import {
  COUNTED_MS_MIN,
  startBareFlows,
  startGatewayFlows,
  type BareFlows,
  type GatewayFlows,
} from '../flows';
import { openLoop, percentile, RETRY_AFTER_MS } from '../load';
import { startCountingReceiver, type Arrival, type CountingReceiver } from '../receiver';
import type { Measured, Row } from '../row';

/** The most that an account can have: a payout's event is delivered to each. */
export const ENDPOINTS = 16;
/** Payouts whose deliveries are under way at the same time. */
const EVENTS_AT_ONCE = 6;

const PAYOUTS_PER_SECOND = 5;
/** Created, approved, processing and completed. */
const EVENTS_OF_PAYOUT = 4;
/** When the gateway approves a payout that needs no review. */
const AUTO_APPROVE_MS = 2_000;

export const DELIVERY_ROWS: readonly Row[] = [
  {
    name: 'delivery',
    description: 'deliveries to a fast receiver; a workflow with one POST',
    needsTemporal: true,
    figures: [{ name: 'deliveries/s', ratio: { atLeast: 0.8 } }],
    prepare: async () => {
      const receiver = await startCountingReceiver();
      const endpoints = Array.from({ length: ENDPOINTS }, (_, n) => `${receiver.url}/${n}`);
      const [gateway, bare] = await Promise.all([
        startGatewayFlows({ endpoints }),
        startBareFlows(),
      ]);
      // A payout that waits for its review has one event.
      const create = () => gateway.create('payout');
      const deliver = async () => {
        const id = newId('payout');
        await bare.deliver(receiver.url, ENDPOINTS, id);
        return id;
      };
      const sideOf = (begin: Begin) => ({
        measure: (ms: number) => deliverAll(receiver, begin, ms),
      });
      return {
        gateway: sideOf(create),
        bare: sideOf(deliver),
        stop: async () => {
          await Promise.all([gateway.stop(), bare.stop()]);
          await receiver.stop();
        },
      };
    },
  },
  {
    name: 'delivery-latency',
    description:
      'commit to first byte, 5 payouts/s; the leanest payouts, with one POST for each commit',
    needsTemporal: true,
    figures: [
      { name: 'p50 ms', ratio: { atMost: 1.5 }, limit: { atMost: 60 } },
      { name: 'p99 ms', limit: { atMost: 500 } },
    ],
    prepare: async () => {
      const receiver = await startCountingReceiver();
      const [gateway, bare] = await Promise.all([
        startGatewayFlows({ isReviewed: false, endpoints: [receiver.url] }),
        startBareFlows({ eventsUrl: receiver.url }),
      ]);
      await noteCommits(gateway.db);
      return {
        gateway: { measure: (ms) => latencyOfGateway(gateway, receiver, ms) },
        bare: { measure: (ms) => latencyOfBare(bare, receiver, ms) },
        stop: async () => {
          await Promise.all([gateway.stop(), bare.stop()]);
          await receiver.stop();
        },
      };
    },
  },
];

interface DeliverOptions {
  /** The number of deliveries of one event. */
  deliveries?: number;
  eventsAtOnce?: number;
  idOf?: (arrival: Arrival) => string;
}

/** Starts the deliveries of one event, and returns its object. Null: refused with 503. */
type Begin = () => Promise<string | null>;

export async function deliverAll(
  receiver: CountingReceiver,
  begin: Begin,
  ms: number,
  options: DeliverOptions = {},
): Promise<Measured> {
  const { deliveries = ENDPOINTS, eventsAtOnce = EVENTS_AT_ONCE, idOf = objectIdOf } = options;
  const arrived = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  const countedMs = Math.max(ms, COUNTED_MS_MIN);
  const start = performance.now() + countedMs / 4;
  const end = start + countedMs;
  let counted = 0;
  receiver.onArrival = (arrival) => {
    const now = performance.now();
    const objectId = idOf(arrival);
    const count = (arrived.get(objectId) ?? 0) + 1;
    arrived.set(objectId, count);
    // A delivery that is repeated is not another one.
    if (count <= deliveries && now >= start && now < end) counted += 1;
    if (count === deliveries) waiting.get(objectId)?.();
  };
  const oneAfterTheOther = async (): Promise<void> => {
    while (performance.now() < end) {
      const id = await begin();
      if (id === null) {
        await sleep(RETRY_AFTER_MS);
        continue;
      }
      if ((arrived.get(id) ?? 0) >= deliveries) continue;
      await new Promise<void>((resolve) => waiting.set(id, resolve));
    }
  };
  await Promise.all(Array.from({ length: eventsAtOnce }, oneAfterTheOther));
  return { 'deliveries/s': (counted * 1_000) / countedMs };
}

function objectIdOf({ objectId }: Arrival): string {
  return objectId;
}

/** The clock is read last before the commit. */
async function noteCommits(db: Db): Promise<void> {
  await db.query('CREATE UNLOGGED TABLE bench_commits (event_id text PRIMARY KEY, at float8)');
  await db.query(
    `CREATE FUNCTION bench_note_commit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
     BEGIN
       INSERT INTO public.bench_commits
       VALUES (NEW.id, extract(epoch FROM clock_timestamp()) * 1000);
       RETURN NULL;
     END $$`,
  );
  await db.query(
    `CREATE CONSTRAINT TRIGGER bench_note_commit AFTER INSERT ON events
     DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bench_note_commit()`,
  );
}

async function latencyOfGateway(
  { create, db }: GatewayFlows,
  receiver: CountingReceiver,
  ms: number,
): Promise<Measured> {
  const { arrivals, whenThere } = collect(receiver);
  const { latenciesMs } = await openLoop(
    PAYOUTS_PER_SECOND,
    ms,
    async () => (await create('payout')) !== null,
  );
  await whenThere(latenciesMs.length * EVENTS_OF_PAYOUT);
  const commits = await db.query<{ eventId: string; at: number }>('SELECT * FROM bench_commits');
  const committedAt = new Map(commits.map(({ eventId, at }) => [eventId, at]));
  return latencyOf(arrivals, ({ eventId = '' }) => committedAt.get(eventId) ?? NaN);
}

async function latencyOfBare(
  { create, approve }: BareFlows,
  receiver: CountingReceiver,
  ms: number,
): Promise<Measured> {
  const { arrivals, whenThere } = collect(receiver);
  const { latenciesMs } = await openLoop(PAYOUTS_PER_SECOND, ms, async () => {
    const id = (await create('payout')) ?? '';
    setTimeout(() => void approve(id), AUTO_APPROVE_MS);
    return true;
  });
  await whenThere(latenciesMs.length * EVENTS_OF_PAYOUT);
  return latencyOf(arrivals, ({ body }) => (JSON.parse(body) as { started: number }).started);
}

function collect(receiver: CountingReceiver) {
  const arrivals: Arrival[] = [];
  let wanted = Infinity;
  let resolveAll = (): void => undefined;
  receiver.onArrival = (arrival) => {
    arrivals.push(arrival);
    if (arrivals.length >= wanted) resolveAll();
  };
  const whenThere = (count: number): Promise<void> =>
    new Promise((resolve) => {
      wanted = count;
      resolveAll = resolve;
      if (arrivals.length >= wanted) resolve();
    });
  return { arrivals, whenThere };
}

function latencyOf(arrivals: readonly Arrival[], since: (arrival: Arrival) => number): Measured {
  const latenciesMs = arrivals.map((arrival) => arrival.at - since(arrival)).sort((a, b) => a - b);
  return { 'p50 ms': percentile(latenciesMs, 0.5), 'p99 ms': percentile(latenciesMs, 0.99) };
}
