/**
 * The table of the screening (decisions/controls#screening), walked over HTTP on real PostgreSQL and Temporal with a service
 * and a list: what each answer means for payouts and recipients, live and test, and what operators can do about it.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { DEFAULT_REJECTION_REASON } from '../../../src/domain/payout';
import type { Verdict } from '../../../src/domain/screening';
import {
  SCREENING_SCENARIOS,
  type ScreeningScenario,
} from '../../../src/rails/sandbox/screening/scenarios';
import { createSecretBox } from '../../../src/platform/lib/secret-box';
import { createPayoutScreenings } from '../../../src/features/payouts/payout-screenings';
import { createPayoutWorkflows } from '../../../src/temporal/payout-workflows';
import { startLink } from '../../support/chaos/link';
import { ChildProgram } from '../../support/servers/child-program';
import { type MerchantClient, payTo } from '../../support/merchant/merchant-client';
import {
  acceptedPayout,
  approve,
  balanceOf,
  openMerchant,
  reject,
  whenFinal,
} from '../../support/payout/payout-steps';
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
import { scaled } from '../../support/scale';
import { isSound, startGateway } from '../../support/servers/gateway';
import { runAdmin, tryAdmin } from '../../support/servers/gateway-admin';
import { readBookEntry } from '../../support/servers/sandbox';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

jest.setTimeout(scaled(300_000, 900_000));

const gateway = started(() => startGateway({ hasScreening: true }), isSound);

const LISTED_REVIEW = 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8';
const LISTED_BLOCK = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb';

beforeAll(async () => {
  await pauseSchedule(gateway);
  await list(gateway, 'watched', 'review', LISTED_REVIEW, SCREENING_SCENARIOS.block.tron);
  await list(gateway, 'banned', 'block', LISTED_BLOCK);
});

/** What is asked about, by the words of the tables. */
const ADDRESSES = {
  clear: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  'on a list to review': LISTED_REVIEW,
  'on a list to block': LISTED_BLOCK,
  ...(Object.fromEntries(
    Object.entries(SCREENING_SCENARIOS).map(([name, { tron }]) => [name, tron]),
  ) as Record<ScreeningScenario, string>),
};
type Subject = keyof typeof ADDRESSES;

/**
 * What each answer means. `block` is on the list to review as well: the strictest verdict counts. The first two answers
 * to `limited` and `error_5xx` are none.
 */
const MEANS: Record<Subject, Verdict | 'no_answer'> = {
  clear: 'clear',
  slow: 'clear',
  limited: 'clear',
  error_5xx: 'clear',
  review: 'review',
  'on a list to review': 'review',
  block: 'block',
  'on a list to block': 'block',
  hangs: 'no_answer',
  nonsense: 'no_answer',
  unknown_verdict: 'no_answer',
};
const ALL = Object.keys(MEANS) as Subject[];
/** The adapter of the service has tests of each answer (test/db/screening): by day one of those that mean the same. */
const AT_NIGHT: Subject[] = ['slow', 'limited', 'hangs', 'unknown_verdict'];
const SUBJECTS = scaled(
  ALL.filter((subject) => !AT_NIGHT.includes(subject)),
  ALL,
);
const withVerdict = (verdict: Verdict | 'no_answer') =>
  SUBJECTS.filter((subject) => MEANS[subject] === verdict);

const SAYS_NOTHING = /screen|sanction|block|list|mixer/i;
const timesSent = async (id: string) =>
  (await readBookEntry(gateway.sandbox.url, id))?.times_sent ?? 0;

/** A live payout that an operator has approved. */
async function approved(client: MerchantClient, subject: Subject): Promise<string> {
  const id = await acceptedPayout(client, toAddress(ADDRESSES[subject]));
  await approve(gateway, id);
  return id;
}

const whenHeld = (id: string, kind: 'review' | 'no_answer') =>
  waitFor(`${id} to be held`, async () => {
    const [hold] = await gateway.db.query<{ kind: string }>(
      'SELECT kind FROM screening_holds WHERE payout_id = ?',
      [id],
    );
    return hold?.kind === kind ? hold : undefined;
  });

/** Every source cleared the address about which the service gives no answer now. */
const clearedBefore = (accountId: string, hours: number) =>
  gateway.db.query(
    `INSERT INTO screening_answers (account_id, mode, object_id, destination_type, destination_value,
         network, with_beneficiary, source, source_version, verdict, reasons, answered_at)
     SELECT ?, 'live', 'po_earlier', 'crypto_address', ?, 'tron', false, name, version, 'clear', '{}',
            now() - ? * interval '1 hour' FROM screening_sources`,
    [accountId, ADDRESSES.nonsense, hours],
  );

const screenings = () =>
  createPayoutScreenings({
    db: gateway.db,
    screeningService: null,
    payoutWorkflows: createPayoutWorkflows(gateway.temporal),
    secretBox: createSecretBox(gateway.env['WEBHOOK_SECRET_KEY'] ?? '', []),
  });
const OPERATOR = { actor: 'olga@example.com', reason: 'known exchange', via: 'console' } as const;

describe('a live payout', () => {
  test.concurrent.each(withVerdict('clear'))('is sent (%s)', async (subject) => {
    const { client } = await openMerchant(gateway);
    const id = await approved(client, subject);
    expect((await whenFinal(client, id)).status).toBe('completed');
    expect([await timesSent(id), await casesOf(gateway, id)]).toEqual([1, []]);
  });

  test.concurrent.each(
    withVerdict('review').flatMap((subject) => [
      [subject, 'allows'] as const,
      [subject, 'rejects'] as const,
    ]),
  )('is held until an operator decides (%s; the operator %s it)', async (subject, decision) => {
    const { client } = await openMerchant(gateway);
    const before = await balanceOf(client);
    const id = await approved(client, subject);
    await whenHeld(id, 'review');
    expect([(await client.get(`/payouts/${id}`)).json.data.status, await timesSent(id)]).toEqual([
      'approved',
      0,
    ]);
    expect(await casesOf(gateway, id)).toMatchObject([
      { kind: 'screening_review', resolution: null },
    ]);
    if (decision === 'allows') {
      const { seen } = await screenings().read(id);
      await screenings().allow(OPERATOR, id, seen ?? '');
    } else {
      await reject(gateway, id, 'Not this one.');
    }
    const isAllowed = decision === 'allows';
    expect((await whenFinal(client, id)).status).toBe(isAllowed ? 'completed' : 'rejected');
    expect(await timesSent(id)).toBe(isAllowed ? 1 : 0);
    if (!isAllowed) expect(await balanceOf(client)).toEqual(before);
    expect(await casesOf(gateway, id)).toMatchObject([{ resolution: expect.any(String) }]);
  });

  test.concurrent.each(withVerdict('block'))(
    'is rejected, and its funds return (%s)',
    async (subject) => {
      const { client } = await openMerchant(gateway);
      const before = await balanceOf(client);
      const id = await approved(client, subject);
      const ended = await whenFinal(client, id);
      expect([ended.status, ended.rejection_reason]).toEqual([
        'rejected',
        DEFAULT_REJECTION_REASON,
      ]);
      expect([await timesSent(id), await balanceOf(client)]).toEqual([0, before]);
      expect(await casesOf(gateway, id)).toMatchObject([{ kind: 'screening_blocked' }]);
      expect((await client.get(`/events?object_id=${id}`)).text).not.toMatch(SAYS_NOTHING);
      await expect(screenings().allow(OPERATOR, id, '1')).rejects.toThrow();
    },
  );

  test.concurrent.each(withVerdict('no_answer'))(
    'waits without an answer, and is rejected on request (%s)',
    async (subject) => {
      const { client } = await openMerchant(gateway);
      const before = await balanceOf(client);
      const id = await approved(client, subject);
      await whenHeld(id, 'no_answer');
      expect([await timesSent(id), await casesOf(gateway, id)]).toEqual([0, []]);
      // There is no answer that an operator could have seen.
      await expect(screenings().allow(OPERATOR, id, '1')).rejects.toThrow();
      await reject(gateway, id, 'Not this one.');
      expect((await whenFinal(client, id)).status).toBe('rejected');
      expect([await timesSent(id), await balanceOf(client)]).toEqual([0, before]);
    },
  );

  test.concurrent.each([
    [23, 'completed'],
    [25, 'held'],
  ] as const)('with a clear answer of %i hours ago is %s', async (hours, end) => {
    const { client, accountId } = await openMerchant(gateway);
    await clearedBefore(accountId, hours);
    const id = await approved(client, 'nonsense');
    if (end === 'held') {
      await whenHeld(id, 'no_answer');
      await reject(gateway, id, 'Not this one.');
    }
    expect((await whenFinal(client, id)).status).toBe(end === 'held' ? 'rejected' : 'completed');
    expect(await timesSent(id)).toBe(end === 'held' ? 0 : 1);
  });
});

const OF_TEST_MODE = scaled<Subject[]>(['block', 'on a list to block'], ALL);

test.concurrent.each(OF_TEST_MODE)('nothing of test mode is asked about (%s)', async (subject) => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const recipient = await recipientAt(client, ADDRESSES[subject]);
  expect(await screeningOf(gateway, recipient)).toBeNull();
  const { status, json } = await client.createPayout(payTo(recipient));
  expect(status).toBe(201);
  expect((await whenFinal(client, json.data.id)).status).toBe('completed');
  const asked = 'SELECT id FROM screening_answers WHERE object_id = ANY (?::text[])';
  expect(await gateway.db.query(asked, [[recipient, json.data.id]])).toEqual([]);
});

describe('a live recipient', () => {
  /** Three questions, so that those of which the first two fail have an answer. */
  async function ask(id: string): Promise<void> {
    for (let n = 0; n < 3; n += 1) {
      await askAboutRecipients(gateway);
      await gateway.db.query(
        `UPDATE recipients SET screening_asked_at = screening_asked_at - interval '2 minutes' WHERE id = ?`,
        [id],
      );
    }
  }

  const decide = (id: string, verdict: 'clear' | 'block') =>
    tryAdmin(gateway, 'screening', 'decide', id, '--verdict', verdict, '--reason', 'ticket 812');

  /** What is left to an operator, by what the screening said. */
  const DECISIONS: Record<Verdict | 'no_answer', readonly ('clear' | 'block')[]> = {
    clear: [],
    review: ['clear', 'block'],
    block: ['clear'],
    no_answer: [],
  };

  test.each(SUBJECTS)('is paid only if it is clear (%s)', async (subject) => {
    const means = MEANS[subject];
    const { client } = await openWithoutWait(gateway);
    const id = await recipientAt(client, ADDRESSES[subject]);
    const isPaid = async () => {
      const { status, json } = await client.createPayout(payTo(id));
      if (status === 201) return true;
      expect([status, json.error.code]).toEqual([409, 'recipient_not_ready']);
      expect(json.error.message).not.toMatch(SAYS_NOTHING);
      return false;
    };
    expect([await screeningOf(gateway, id), await isPaid()]).toEqual(['asking', false]);
    await ask(id);
    expect(await screeningOf(gateway, id)).toBe(means === 'no_answer' ? 'asking' : means);
    expect(await isPaid()).toBe(means === 'clear');
    const kinds = {
      clear: [],
      no_answer: [],
      review: ['recipient_review'],
      block: ['recipient_blocked'],
    };
    expect((await casesOf(gateway, id)).map(({ kind }) => kind)).toEqual(kinds[means]);

    for (const verdict of ['block', 'clear'] as const) {
      const { code } = await decide(id, verdict);
      expect([verdict, code]).toEqual([verdict, DECISIONS[means].includes(verdict) ? 0 : 1]);
    }
    expect(await isPaid()).toBe(means !== 'no_answer');
    for (const { resolution } of await casesOf(gateway, id)) {
      expect(resolution).toMatch(means === 'block' ? /^Allowed by/ : /^Blocked by/);
    }
  });

  test.each([
    [23, 'clear'],
    [25, 'asking'],
  ] as const)('with a clear answer of %i hours ago is %s', async (hours, screening) => {
    const { client, accountId } = await openWithoutWait(gateway);
    await clearedBefore(accountId, hours);
    const id = await recipientAt(client, ADDRESSES.nonsense);
    await askAboutRecipients(gateway);
    expect(await screeningOf(gateway, id)).toBe(screening);
  });
});

describe('`admin screening ask`', () => {
  test.each([
    ['clear', 'clear', 'completed'],
    ['review', 'review', 'approved'],
    ['block', 'block', 'rejected'],
  ] as const)(
    'asks about a held payout again, which goes on with the answer (%s)',
    async (verdict, outcome, status) => {
      const { client } = await openMerchant(gateway);
      const id = await approved(client, 'on a list to review');
      await whenHeld(id, 'review');
      if (verdict === 'clear') await list(gateway, 'watched', 'review', ADDRESSES.block);
      if (verdict === 'block') await list(gateway, 'banned', 'block', LISTED_BLOCK, LISTED_REVIEW);
      try {
        const asked = await runAdmin(
          gateway,
          'screening',
          'ask',
          id,
          '--reason',
          'the list is new',
        );
        expect(asked).toMatchObject({ object: 'screening', payout_id: id, outcome, problem: null });
        expect(asked.reasons).toHaveLength(verdict === 'clear' ? 0 : 1);
        if (status === 'approved') {
          await whenHeld(id, 'review');
          await reject(gateway, id, 'Not this one.');
        }
        expect((await whenFinal(client, id)).status).toBe(
          status === 'approved' ? 'rejected' : status,
        );
        expect(await timesSent(id)).toBe(status === 'completed' ? 1 : 0);
      } finally {
        await list(gateway, 'watched', 'review', LISTED_REVIEW, ADDRESSES.block).catch(
          () => undefined,
        );
        await list(gateway, 'banned', 'block', LISTED_BLOCK).catch(() => undefined);
      }
      const audit = `SELECT actor, reason FROM audit_log WHERE action = 'payout.screening_ask' AND object_id = ?`;
      expect(await gateway.db.query(audit, [id])).toMatchObject([{ reason: 'the list is new' }]);
    },
  );

  test('says why there is no answer, and that the payout waits', async () => {
    const { client } = await openMerchant(gateway);
    const id = await approved(client, 'nonsense');
    await whenHeld(id, 'no_answer');
    expect(await runAdmin(gateway, 'screening', 'ask', id)).toMatchObject({
      outcome: 'no_answer',
      problem: expect.stringContaining('The answer is not valid JSON'),
    });
    await reject(gateway, id, 'Not this one.');
    expect((await whenFinal(client, id)).status).toBe('rejected');
  });

  test('refuses a payout of test mode, one that has ended, and an id that nobody has', async () => {
    const live = await openMerchant(gateway);
    const ended = await approved(live.client, 'clear');
    await whenFinal(live.client, ended);
    const { client } = await openMerchant(gateway, { mode: 'test' });
    const ofTest = await acceptedPayout(client);
    for (const id of [ended, ofTest, 'po_01m8aatmxzdff9fsjd9b4xdfzv']) {
      const { code, stderr } = await tryAdmin(gateway, 'screening', 'ask', id);
      expect([code, stderr]).toEqual([1, expect.stringContaining(id)]);
    }
  });
});

test('a worker that starts while PostgreSQL does not answer waits for it', async () => {
  let refused = 0;
  const away = createServer((socket) => {
    refused += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(away, 'listening');
  const link = await startLink((away.address() as AddressInfo).port);
  const url = new URL(gateway.env['TEST_WORKER_DATABASE_URL'] ?? '');
  const port = Number(url.port);
  url.port = String(link.port);
  const worker = new ChildProgram('worker', {
    ...gateway.env,
    TEST_WORKER_DATABASE_URL: url.href,
  });
  const starting = worker.start();
  await Promise.race([starting, waitFor('a few attempts', () => refused >= 3)]);
  link.leadTo(port);
  await starting;
  await worker.stop();
  await link.stop();
  away.close();
});
