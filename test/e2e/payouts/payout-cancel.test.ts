/** POST /payouts/{id}/cancel, alone and against everything else (the specification; decisions/payouts#payout-cancel). */
import { WorkflowNotFoundError } from '@temporalio/client';
import { newId } from '../../../src/platform/lib/new-id';
import { useSharedGateway, isSound } from '../../support/servers/gateway';
import { buildPayout, type MerchantClient } from '../../support/merchant/merchant-client';
import {
  acceptedPayout,
  approve,
  balanceOf,
  openMerchant,
  whenFinal,
} from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { readBookEntry } from '../../support/servers/sandbox';
import { started } from '../../support/started';

jest.setTimeout(scaled(300_000, 900_000));

const gateway = started(useSharedGateway, isSound);

const cancel = (client: MerchantClient, id: string) => client.post(`/payouts/${id}/cancel`);

const invalidState = (status: string) => ({
  status: 409,
  json: { error: { code: 'invalid_state', details: { status } } },
});

/** A test payout is approved after two seconds, which a busy machine may need for the cancel. */
async function cancelInTime(mode: 'live' | 'test') {
  for (let attempt = 1; ; attempt += 1) {
    const { client } = await openMerchant(gateway, { mode, funds: { USDT: '100' } });
    const created = await client.createPayout(buildPayout());
    const answer = await cancel(client, created.json.data.id);
    const isLate = mode === 'test' && answer.status === 409;
    if (!isLate || attempt === 5) return { client, created, answer };
  }
}

test.concurrent.each([
  { mode: 'live', status: 'under_review' },
  { mode: 'test', status: 'requested' },
] as const)(
  'a $status payout is cancelled once, and the second cancel says so [endpoint POST /payouts/{id}/cancel]',
  async (row) => {
    const { client, created, answer } = await cancelInTime(row.mode);
    const { id } = created.json.data;
    expect(created.json.data.status).toBe(row.status);
    expect(answer.status).toBe(200);
    const { updated_at, ...unchanged } = answer.json.data;
    expect({ ...created.json.data, status: 'cancelled', updated_at }).toEqual(answer.json.data);
    expect(unchanged).toMatchObject({ failure_reason: null, rejection_reason: null });
    expect((await client.get(`/payouts/${id}`)).text).toBe(answer.text);
    expect(await balanceOf(client)).toMatchObject({
      available: '100.00000000',
      reserved: '0.00000000',
    });
    expect(await cancel(client, id)).toMatchObject(invalidState('cancelled'));
  },
);

test.concurrent('of ten cancels at once one succeeds', async () => {
  const { client } = await openMerchant(gateway, { funds: { USDT: '100' } });
  const id = await acceptedPayout(client);
  const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(client, id)));
  const won = answers.filter(({ status }) => status === 200);
  expect(won.length).toBe(1);
  for (const answer of answers.filter((one) => one !== won[0])) {
    expect(answer).toMatchObject(invalidState('cancelled'));
  }
  const events = await gateway.db.query<{ type: string }>(
    'SELECT type FROM events WHERE object_id = ? ORDER BY sequence',
    [id],
  );
  expect(events.map(({ type }) => type)).toEqual(['payout.requested', 'payout.cancelled']);
  expect(await balanceOf(client)).toMatchObject({ available: '100.00000000' });
});

/** A workflow whose payout was cancelled meanwhile takes no signal any more. */
async function approveOrTooLate(id: string): Promise<null> {
  await approve(gateway, id).catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
  return null;
}

test.concurrent('of a cancel and an approval at once exactly one wins, each time', async () => {
  const { client } = await openMerchant(gateway, { funds: { USDT: '10000' } });
  const count = scaled(20, 200);
  const ends: string[] = [];
  for (let round = 0; round < count; round++) {
    const id = await acceptedPayout(client);
    // Each is given the start in turn.
    const both = [() => cancel(client, id), () => approveOrTooLate(id)];
    if (round % 2 === 1) both.reverse();
    const answer = (await Promise.all(both.map((act) => act()))).find((one) => one !== null);
    const { status } = await whenFinal(client, id);
    const sent = await readBookEntry(gateway.sandbox.url, id);
    ends.push(status);
    expect({ answered: answer?.status, times_sent: sent?.times_sent ?? 0 }).toEqual(
      status === 'cancelled' ? { answered: 200, times_sent: 0 } : { answered: 409, times_sent: 1 },
    );
    expect(['cancelled', 'completed']).toContain(status);
  }
  const completed = ends.filter((end) => end === 'completed').length;
  const left = (10_000 - completed * 11.1).toFixed(8);
  expect(await balanceOf(client)).toMatchObject({ available: left, reserved: '0.00000000' });
});

test.concurrent(
  'a payout that is not the caller’s own is as unknown as one that does not exist',
  async () => {
    const owner = await openMerchant(gateway, { funds: { USDT: '100' } });
    const stranger = await openMerchant(gateway);
    const id = await acceptedPayout(owner.client);
    const answers = await Promise.all([
      cancel(stranger.client, id),
      cancel(stranger.otherMode, id),
      cancel(owner.otherMode, id),
      cancel(owner.client, newId('payout')),
      cancel(owner.client, id.toLowerCase()),
      cancel(owner.client, 'po_1'),
      cancel(owner.client, `${id}%00`),
      cancel(owner.client, "'%20or%20true--"),
    ]);
    for (const { status, json } of answers) {
      expect({ status, error: { ...json.error, request_id: null } }).toEqual({
        status: 404,
        error: {
          code: 'not_found',
          message: expect.stringMatching(/./),
          details: { resource: 'payout' },
          request_id: null,
          doc_url: expect.stringMatching(/\/docs\/errors\/not_found$/),
        },
      });
    }
    expect((await owner.client.get(`/payouts/${id}`)).json.data.status).toBe('under_review');
  },
);

test.concurrent('a payout whose workflow was terminated can still be cancelled', async () => {
  const { client } = await openMerchant(gateway, { funds: { USDT: '100' } });
  const id = await acceptedPayout(client);
  await gateway.temporal.workflow.getHandle(id).terminate('by mistake');
  expect(await cancel(client, id)).toMatchObject({
    status: 200,
    json: { data: { status: 'cancelled' } },
  });
  expect(await balanceOf(client)).toMatchObject({ available: '100.00000000' });
});
