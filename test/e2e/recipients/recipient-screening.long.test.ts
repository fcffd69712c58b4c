/** The screening of live recipients (decisions/controls#screening), over HTTP on real PostgreSQL and Temporal. */
import { requireService } from '../../../src/db/screening/screening';
import { DEFAULT_REJECTION_REASON, RECIPIENT_CHANGED } from '../../../src/domain/payout';
import { removeSource } from '../../../src/features/screening/screening';
import { SCREENING_SCENARIOS } from '../../../src/rails/sandbox/screening/scenarios';
import { Admin } from '../../db/admin-harness';
import { payTo } from '../../support/merchant/merchant-client';
import {
  askAboutRecipients,
  casesOf,
  list,
  openWithoutWait,
  pauseSchedule,
  recipientAt,
  screeningOf,
  toAddress,
} from '../../support/merchant/screening-steps';
import { approve, balanceOf, whenFinal, whenPayout } from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { isSound, startGateway } from '../../support/servers/gateway';
import { readBookEntry } from '../../support/servers/sandbox';
import { started } from '../../support/started';

jest.setTimeout(scaled(300_000, 900_000));

const gateway = started(startGateway, isSound);

/** The tests run its workflow themselves. */
beforeAll(() => pauseSchedule(gateway));

const BY = { actor: 'olga@example.com', reason: null, via: 'console' } as const;
const CLEAR = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const REVIEW = SCREENING_SCENARIOS.review.tron;
const BLOCK = SCREENING_SCENARIOS.block.tron;

const open = () => openWithoutWait(gateway);
const ask = () => askAboutRecipients(gateway);

describe('with two lists', () => {
  beforeAll(async () => {
    await list(gateway, 'watched', 'review', REVIEW);
    await list(gateway, 'banned', 'block', BLOCK);
  });

  test('an operator decides about a recipient that is held, and its payout is sent', async () => {
    const { client } = await open();
    const id = await recipientAt(client, REVIEW);
    const { json } = await client.createPayout(payTo(id, { release: { recipient_ready: true } }));
    await approve(gateway, json.data.id);
    await whenPayout(client, json.data.id, 'requested');
    await ask();
    const admin = new Admin(gateway.database.adminUrl);
    const decide = (verdict: string) => [
      'screening',
      'decide',
      id,
      '--verdict',
      verdict,
      '--reason',
      'ticket 812',
    ];
    expect(await admin.json(...decide('clear'))).toMatchObject({ id, screening: 'clear' });
    expect(await casesOf(gateway, id)).toMatchObject([
      { resolution: expect.stringMatching(/^Allowed by/) },
    ]);
    expect(await admin.refusal(1, ...decide('clear'))).toContain(id);
    // The payout is screened as well, before its submission.
    await list(gateway, 'watched', 'review', 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7');
    const sent = await whenFinal(client, json.data.id);
    expect([sent.status, (await readBookEntry(gateway.sandbox.url, sent.id))?.times_sent]).toEqual([
      'completed',
      1,
    ]);
    await list(gateway, 'watched', 'review', REVIEW);
  });

  test('a payout that waits for a blocked recipient is rejected with its funds returned', async () => {
    const { client } = await open();
    const before = await balanceOf(client);
    const id = await recipientAt(client, BLOCK);
    const { json } = await client.createPayout(payTo(id, { release: { recipient_ready: true } }));
    await ask();
    const ended = await whenFinal(client, json.data.id);
    expect([ended.status, ended.rejection_reason]).toEqual(['rejected', DEFAULT_REJECTION_REASON]);
    expect(await balanceOf(client)).toEqual(before);
    const events = await client.get(`/events?object_id=${json.data.id}`);
    expect(events.text).not.toMatch(/screen|sanction|block/i);
  });

  test('of a verdict and another destination at once, the verdict counts for the one it is about', async () => {
    const { client } = await open();
    for (let round = 0; round < scaled(2, 40); round++) {
      const id = await recipientAt(client, CLEAR);
      const { json } = await client.createPayout(payTo(id, { release: { recipient_ready: true } }));
      await Promise.all([ask(), client.patch(`/recipients/${id}`, toAddress(BLOCK))]);
      // The payout of the earlier destination never goes to the new one, nor in spite of the change.
      const ended = await whenFinal(client, json.data.id);
      expect([ended.status, ended.failure_reason]).toEqual(['failed', RECIPIENT_CHANGED]);
      await ask();
      expect(await screeningOf(gateway, id)).toBe('block');
    }
  });
});

test('without an answer a recipient waits, and it is asked about again', async () => {
  await requireService(gateway.db);
  const { client } = await open();
  const id = await recipientAt(client, CLEAR);
  await ask();
  expect(await screeningOf(gateway, id)).toBe('asking');
  expect((await client.createPayout(payTo(id))).json.error.code).toBe('recipient_not_ready');
  await removeSource(gateway.db, BY, 'service');
  const earlier = `UPDATE recipients SET screening_asked_at = now() - interval '2 minutes' WHERE id = ?`;
  await gateway.db.query(earlier, [id]);
  await ask();
  expect(await screeningOf(gateway, id)).toBe('clear');
  expect((await client.createPayout(payTo(id))).status).toBe(201);
});
