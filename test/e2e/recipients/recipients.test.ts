/** Recipients and what they are for: waits, and the rules of accounts. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { RECIPIENT_CHANGED } from '../../../src/domain/payout';
import { useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { buildRecipient, type MerchantClient, payTo } from '../../support/merchant/merchant-client';
import { approve, balanceOf, openMerchant, whenFinal } from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { readBookEntry } from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';

jest.setTimeout(scaled(300_000, 900_000));

const gateway = started(useSharedGateway);

interface Condition {
  type: string;
  met_at: string | null;
}

const OTHER = { type: 'crypto_address', value: 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7' };

async function create(client: MerchantClient, overrides: Record<string, unknown> = {}) {
  const answer = await client.createRecipient(buildRecipient(overrides));
  expect(answer.status).toBe(201);
  return answer.json.data;
}

describe('a payout that waits for its recipient', () => {
  const READY = { release: { recipient_ready: true } };

  /** Its wait ends, and the destination stays the same. */
  const endWait = (id: string, at = 'now()') =>
    gateway.db.transaction(async (tx) => {
      await tx.query(`SET LOCAL session_replication_role = 'replica'`);
      await tx.query(`UPDATE recipients SET usable_from = ${at} WHERE id = ?`, [id]);
    });
  const wake = (id: string) => gateway.temporal.workflow.getHandle(id).signal('wake');
  const unlessEnded = (error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  };
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
  const accepted = async (client: MerchantClient, body: Record<string, unknown>) => {
    const { status, json } = await client.createPayout(body);
    expect(status).toBe(201);
    return json.data.id as string;
  };
  const conditionsOf = async (client: MerchantClient, id: string) =>
    (await client.get(`/payouts/${id}`)).json.data.release.conditions as Condition[];

  test('has its funds reserved, and is sent when the wait of the recipient is over', async () => {
    const { client } = await openMerchant(gateway, { reviewAll: false });
    const { id } = await create(client);
    await endWait(id, `now() + interval '3 seconds'`);
    const { status, json } = await client.createPayout(payTo(id, READY));
    expect(status).toBe(201);
    expect(json.data).toMatchObject({
      recipient: id,
      destination: { value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
      release: { conditions: [{ type: 'recipient', recipient: id, met_at: null }] },
    });
    expect(await balanceOf(client)).toMatchObject({ reserved: json.data.total_debit });
    if (json.data.status === 'under_review') await approve(gateway, json.data.id);
    const sent = await whenFinal(client, json.data.id);
    const [{ at, met_at }] = sent.release.conditions;
    expect([sent.status, met_at >= at, sent.release.released_at >= met_at]).toEqual([
      'completed',
      true,
      true,
    ]);
  });

  test.each<[string, (client: MerchantClient, path: string) => Promise<{ status: number }>]>([
    ['gets another destination', (client, path) => client.patch(path, { destination: OTHER })],
    ['is deleted', (client, path) => client.delete(path)],
  ])('fails with its funds returned when the recipient %s', async (_what, change) => {
    const { client } = await openMerchant(gateway, { reviewAll: false });
    const before = await balanceOf(client);
    const { id } = await create(client);
    const payouts = [
      await accepted(client, payTo(id, READY)),
      await accepted(client, payTo(id, { release: { recipient_ready: true, at: inAnHour() } })),
    ];
    await endWait(id);
    await wake(payouts[1]!);
    await waitFor('the recipient to be ready for the payout that waits for more', async () =>
      (await conditionsOf(client, payouts[1]!)).some((one) => one.met_at !== null)
        ? true
        : undefined,
    );
    await endWait(id, `now() + interval '1 hour'`);
    expect((await change(client, `/recipients/${id}`)).status).toBe(200);
    for (const payout of payouts) {
      const ended = await whenFinal(client, payout);
      expect([ended.status, ended.failure_reason, ended.release.released_at]).toEqual([
        'failed',
        RECIPIENT_CHANGED,
        null,
      ]);
      expect(ended.destination.value).not.toBe(OTHER.value);
      expect(await readBookEntry(gateway.sandbox.url, payout)).toBeUndefined();
    }
    expect(await balanceOf(client)).toEqual(before);
  });

  test('is not affected by another name of the recipient, and names no other than its own', async () => {
    const { client } = await openMerchant(gateway, { reviewAll: false });
    const { id } = await create(client);
    const other = await create(client, { destination: OTHER });
    const payout = await accepted(client, payTo(id, READY));
    await client.patch(`/recipients/${id}`, { name: 'Another name' });
    await client.delete(`/recipients/${other.id}`);
    await wake(payout);
    expect((await client.get(`/payouts/${payout}`)).json.data.status).toBe('requested');
    const { status, text } = await client.post(`/payouts/${payout}/cancel`);
    expect([status, text]).toEqual([200, expect.stringContaining(payout)]);
  });

  test('of the end of the wait and a changed destination at once exactly one wins, each time', async () => {
    const { client } = await openMerchant(gateway, { reviewAll: false });
    const ends: string[] = [];
    for (let round = 0; round < scaled(4, 80); round++) {
      const { id } = await create(client);
      const payout = await accepted(client, payTo(id, { amount: '10', ...READY }));
      // The time in which every payout can be cancelled is over, so that the release decides at once.
      const past = `UPDATE payouts SET created_at = created_at - interval '1 minute' WHERE id = ?`;
      await gateway.db.query(past, [payout]);
      const acts = [
        // The payout may have ended when it is woken.
        () => endWait(id).then(() => wake(payout).catch(unlessEnded)),
        () => client.patch(`/recipients/${id}`, { destination: OTHER }),
      ];
      if (round % 2 === 1) acts.reverse();
      const [first, second] = acts;
      const started = first!();
      await sleep(round * 3);
      await Promise.all([started, second!()]);
      const ended = await whenFinal(client, payout);
      const sent = await readBookEntry(gateway.sandbox.url, payout);
      const [order] = await gateway.db.query<{ releasedFirst: boolean | null }>(
        `SELECT p.released_at < r.destination_since AS released_first
           FROM payouts p JOIN recipients r ON r.id = p.recipient_id WHERE p.id = ?`,
        [payout],
      );
      expect([ended.status, sent?.times_sent ?? 0, order?.releasedFirst]).toEqual(
        ended.status === 'completed' ? ['completed', 1, true] : ['failed', 0, null],
      );
      ends.push(ended.status);
    }
    const left = 20_000 - ends.filter((end) => end === 'completed').length * 11.1;
    expect(await balanceOf(client)).toMatchObject({
      available: left.toFixed(8),
      reserved: '0.00000000',
    });
  });
});
