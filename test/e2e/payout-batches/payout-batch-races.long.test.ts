/** Races about batches over HTTP and Temporal: exactly one side wins, whoever asks first. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { findPayoutBatch } from '../../../src/db/payout-batches/payout-batches';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { readBook } from '../../support/servers/sandbox';
import {
  type ApiAnswer,
  buildBatch,
  type MerchantClient,
} from '../../support/merchant/merchant-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const gateway = started(useSharedGateway, isSound);

/** How often each order of two requests is tried. */
const TIMES = scaled(1, 20);
const inEachOrder = <Order extends string>(...orders: Order[]) =>
  Array.from({ length: TIMES }, (_, time) => orders.map((order) => [order, time] as const)).flat();
const ROUNDS = scaled(3, 60);
/** The pace of a batch's workflow. */
const RELEASES_EVERY_MS = 500;
const rounds = Array.from({ length: ROUNDS }, (_, round) => round);

interface Opened {
  client: MerchantClient;
  id: string;
  manifest: string;
}

/** @param needsReview whether it waits for an operator */
async function openBatch(rows: number, needsReview: boolean): Promise<Opened> {
  const { client } = await openMerchant(gateway, { mode: 'test', rehearseReview: needsReview });
  const { status, json } = await client.create('/payout_batches', buildBatch(rows));
  expect(status).toBe(201);
  return { client, id: json.data.id, manifest: json.data.manifest_sha256 };
}

/** The batch may have ended before the signal arrives. */
async function signal(id: string, name: string, input: object): Promise<void> {
  try {
    await gateway.temporal.workflow.getHandle(id).signal(name, input);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

const read = async ({ client, id }: Opened): Promise<ApiAnswer['json']> =>
  (await client.get(`/payout_batches/${id}`)).json.data;

async function whenClosed(batch: Opened) {
  return waitFor(`${batch.id} to be closed`, async () => {
    const now = await read(batch);
    return now.closed_at === null ? undefined : now;
  });
}

/** Each row was sent once, or returned without a word to the provider. */
async function expectOneWayForEachRow({ client, id }: Opened): Promise<void> {
  const { json } = await client.get(`/payout_batches/${id}/proof`);
  expect(json.data.balanced).toBe(true);
  const rows = json.data.rows as { id: string; status: string }[];
  const { transfers } = await readBook(gateway.sandbox.url);
  const book = new Map(transfers.map((one) => [one.client_reference, one.times_sent]));
  const isSent = ({ status }: { status: string }) => status === 'completed';
  expect(rows.map((row) => [row.status, book.get(row.id)])).toEqual(
    rows.map((row) => (isSent(row) ? ['completed', 1] : [row.status, undefined])),
  );
  const statuses = new Set(rows.map(({ status }) => status));
  expect(['cancelled', 'completed', 'rejected']).toEqual(expect.arrayContaining([...statuses]));
}

const eventsOf = async (id: string) =>
  (
    await gateway.db.query<{ type: string }>(
      'SELECT type FROM events WHERE object_id = ? ORDER BY sequence',
      [id],
    )
  ).map(({ type }) => type);

test.concurrent.each(inEachOrder('before', 'beside', 'after'))(
  'a stop %s an approval: nothing is sent that was stopped first (%i)',
  async (order) => {
    const batch = await openBatch(8, true);
    const { client, id, manifest } = batch;
    const approve = () => signal(id, 'approve', { by: 'olivia', manifest });
    const earlier = order === 'before' ? null : approve();
    if (order === 'after') await earlier;
    const stopping = client.post(`/payout_batches/${id}/stop`);
    await (earlier ?? approve());
    const stopped = await stopping;
    const { status, rows } = await whenClosed(batch);
    const stored = await findPayoutBatch(gateway.db, id);
    if (stopped.status === 200) expect(status).toBe('stopped');
    else expect([stopped.status, status]).toEqual([409, 'completed']);
    if (stored?.approvedAt === null) {
      expect([rows.sent, rows.returned]).toEqual([0, 8]);
      expect(await eventsOf(id)).toEqual(['payout_batch.stopped']);
    } else {
      expect(stored?.approvedBy).toBe('olivia');
      expect(await eventsOf(id)).toEqual(['payout_batch.approved', `payout_batch.${status}`]);
      if (stored?.endingAt) expect(stored.approvedAt <= stored.endingAt).toBe(true);
    }
    await expectOneWayForEachRow(batch);
  },
);

test.concurrent.each(inEachOrder('the approval', 'the rejection'))(
  'of a rejection and an approval one counts, %s sent first (%i)',
  async (first) => {
    const batch = await openBatch(8, true);
    const { id, manifest } = batch;
    const decisions = [
      () => signal(id, 'approve', { by: 'olivia', manifest }),
      () => signal(id, 'reject', { by: 'oscar', reason: 'wrong list' }),
    ];
    if (first === 'the rejection') decisions.reverse();
    await Promise.all(decisions.map((decide) => decide()));
    const { status, rows } = await whenClosed(batch);
    const approved = await findPayoutBatch(gateway.db, id);
    expect([status, rows.sent, rows.returned, approved?.approvedBy]).toEqual(
      status === 'completed' ? ['completed', 8, 0, 'olivia'] : ['rejected', 0, 8, null],
    );
    expect(await eventsOf(id)).toEqual(
      status === 'completed'
        ? ['payout_batch.approved', 'payout_batch.completed']
        : ['payout_batch.rejected'],
    );
    await expectOneWayForEachRow(batch);
  },
);

test.concurrent.each(rounds)(
  'a stop and the submission of a row: it is sent or returned (%i)',
  async (round) => {
    const batch = await openBatch(80, false);
    const { client, id } = batch;
    // The rounds stop at different rows, and at different times between two releases.
    await waitFor('rows to be released', async () => {
      const { rows } = await read(batch);
      return rows.waiting <= 79 - (round * 60) / ROUNDS;
    });
    await sleep((round * RELEASES_EVERY_MS) / ROUNDS);
    const [one, other] = await Promise.all([
      client.post(`/payout_batches/${id}/stop`),
      client.post(`/payout_batches/${id}/stop`),
    ]);
    const { status, rows } = await whenClosed(batch);
    // A stop that came in time is answered again; after the last row there is nothing to stop.
    const answer = status === 'stopped' ? 200 : 409;
    expect([status, one.status, other.status]).toEqual([
      status === 'stopped' ? 'stopped' : 'completed',
      answer,
      answer,
    ]);
    const { sent, returned } = rows as { sent: number; returned: number };
    expect(sent + returned).toBe(80);
    expect(sent).toBeGreaterThan(0);
    await expectOneWayForEachRow(batch);
  },
);
