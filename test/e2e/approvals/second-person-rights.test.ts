/**
 * Who releases what waits for a second person: each kind of object, made by each role that may make it, and
 * everybody else who could try.
 */
import { newDecisionId } from '../../../src/features/payouts/payout-reviews';
import { SECOND_PERSON_KINDS, type SecondPersonKind } from '../../../src/domain/second-person';
import type { MerchantRole } from '../../../src/domain/users';
import {
  type ApiAnswer,
  type MerchantClient,
  randomKey,
} from '../../support/merchant/merchant-client';
import { makeUser, PageClient, signedIn } from '../../support/merchant/page-client';
import {
  approveAs,
  LISTS,
  makeBatch,
  makePayout,
  makeRecipient,
  makeRefund,
  makeSchedule,
  paidFor,
  versionOn,
} from '../../support/merchant/second-person';
import { checkoutOf, whenDetails } from '../../support/payment/payment-steps';
import { openMerchant, whenFinal } from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { tryAdmin } from '../../support/servers/gateway-admin';
import { readBookEntry } from '../../support/servers/sandbox';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const gateway = started(useSharedGateway, isSound);
let accountId: string;
let api: MerchantClient;
/** One of each role, one more owner, and those who have no role in the account. */
let people: Record<MerchantRole | 'otherOwner' | 'stranger' | 'former', PageClient>;
let operator: PageClient;
/** Users whose rows in person_approvals must not count. */
let powerless: string[];

const enter = async (role: MerchantRole, account = accountId) => {
  const user = await makeUser(gateway.db, 'merchant', role, account);
  return { id: user.id, client: await signedIn(gateway.baseUrl, user) };
};

beforeAll(async () => {
  const merchant = await openMerchant(gateway, { mode: 'test', funds: { USDT: '10000' } });
  ({ accountId, client: api } = merchant);
  await gateway.db.query('UPDATE accounts SET second_person_above = ?::jsonb WHERE id = ?', [
    JSON.stringify({ USDT: '100.00000000' }),
    accountId,
  ]);
  const strange = await openMerchant(gateway, { mode: 'test' });
  const [owner, otherOwner, finance, developer, support, viewer, former, stranger] = [
    await enter('owner'),
    await enter('owner'),
    await enter('finance'),
    await enter('developer'),
    await enter('support'),
    await enter('viewer'),
    await enter('owner'),
    await enter('owner', strange.accountId),
  ];
  // After the sign-in: the session that is open loses the right as well.
  await gateway.db.query(`UPDATE memberships SET role = 'viewer' WHERE user_id = ?`, [former.id]);
  const admin = await makeUser(gateway.db, 'operator', 'admin');
  operator = await signedIn(gateway.baseUrl, admin);
  people = {
    owner: owner.client,
    otherOwner: otherOwner.client,
    finance: finance.client,
    developer: developer.client,
    support: support.client,
    viewer: viewer.client,
    former: former.client,
    stranger: stranger.client,
  };
  powerless = [developer, support, viewer, former, stranger, admin].map(({ id }) => id);
});

/** What is made, above the account's amount of 100 USDT. */
const MAKE: Record<SecondPersonKind, (by: PageClient) => Promise<string>> = {
  payout: (by) => makePayout(by, '100.00000001'),
  payoutBatch: (by) => makeBatch(by, '60', '40.01'),
  refund: async (by) => makeRefund(by, await paidFor(gateway, api), '100.01'),
  recipient: (by) => makeRecipient(by),
  payoutSchedule: (by) => makeSchedule(by, '60', '40.01'),
};

const readObject = async (kind: SecondPersonKind, id: string): Promise<ApiAnswer['json']> =>
  (await api.get(`/${LISTS[kind].api}/${id}`)).json.data;

async function waits(kind: SecondPersonKind, id: string): Promise<boolean> {
  const object = await readObject(kind, id);
  if (kind !== 'payout') return object.awaits_second_person;
  const conditions = object.release.conditions as { met_at: string | null }[];
  return conditions.some(({ met_at: met }) => met === null);
}

interface Trial {
  kind: SecondPersonKind;
  id: string;
  version: string;
}

type Attempt = (trial: Trial) => Promise<Response>;

const approve =
  (who: keyof typeof people): Attempt =>
  ({ id, version }) =>
    approveAs(people[who], id, version);

const NOT_ALLOWED = /Your role does not allow this/;

/** Who is refused whatever the object is, and what the answer says. */
const REFUSED: Record<string, [status: number, says: RegExp, attempt: Attempt]> = {
  'a developer': [403, NOT_ALLOWED, approve('developer')],
  'a person of support': [403, NOT_ALLOWED, approve('support')],
  'a viewer': [403, NOT_ALLOWED, approve('viewer')],
  'an owner who is a viewer since': [403, NOT_ALLOWED, approve('former')],
  'an owner of another account': [404, /Check the address/, approve('stranger')],
  'an owner, about other rows or another destination': [
    409,
    /changed/,
    ({ id, version }) => approveAs(people.otherOwner, id, version === '' ? 'x' : '0'.repeat(64)),
  ],
  'an owner in live mode': [
    404,
    /Check the address/,
    ({ id, version }) =>
      people.otherOwner.post(`/dashboard/live/second-person/${id}/approve`, { version }),
  ],
  'an API key at the page': [
    303,
    /dashboard\/sign-in/,
    ({ id, version }) =>
      new PageClient(gateway.baseUrl).post(
        `/dashboard/test/second-person/${id}/approve`,
        { version },
        { authorization: `Bearer ${api.apiKey}`, 'sec-fetch-site': 'same-origin' },
      ),
  ],
  'an API key at the API': [
    404,
    /not_found/,
    ({ kind, id }) => send(`${LISTS[kind].api}/${id}/approve`),
  ],
  'an operator at the page': [
    303,
    /dashboard\/sign-in/,
    ({ id, version }) => approveAs(operator, id, version),
  ],
};

/** What a page says was wrong; the answer itself when it is no page. */
const problemIn = (text: string) => /class="problem">.*?<\/section>/s.exec(text)?.[0] ?? text;

const send = (path: string) =>
  fetch(`${gateway.baseUrl}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.apiKey}` },
  });

const payTo = (recipient: string) => {
  const reference = `to-${randomKey()}`.slice(0, 40);
  return api.createPayout({ recipient, amount: '1', currency: 'USDT', reference });
};

/** What else moves objects of a kind, and what it says. It ends when the object was looked at again. */
const OTHER_WAYS: Record<SecondPersonKind, (trial: Trial) => Promise<void>> = {
  payout: async ({ id }) => {
    const handle = gateway.temporal.workflow.getHandle(id);
    await handle.signal('approve', { by: 'olivia' });
    const decided = await operator.post(`/console/payouts/${id}/approve`, {
      decision: newDecisionId(),
    });
    const page = await operator.read(decided.headers.get('location')!);
    expect(page).toContain('Your decision had no effect');
    const released = await api.post(`/payouts/${id}/release`);
    expect([released.status, released.json.error.code]).toEqual([409, 'invalid_state']);
    await handle.executeUpdate('release');
  },
  payoutBatch: async ({ id, version }) => {
    const decided = await operator.post(`/console/batches/${id}/approve`, {
      decision: newDecisionId(),
      manifest: version,
    });
    const page = await operator.read(decided.headers.get('location')!);
    expect(page).toContain('another person of the merchant must approve the batch first');
    const command = ['approve', id, '--manifest', version, '--by', 'olivia'];
    const { code, stderr } = await tryAdmin(gateway, 'batches', ...command);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Another person of the merchant')]);
    await gateway.temporal.workflow
      .getHandle(id)
      .signal('approve', { by: 'olivia', manifest: version });
    await whenDetails(gateway, id, /another person of the merchant must approve/);
  },
  refund: async ({ kind, id }) => {
    const { payment_id: payment } = await readObject(kind, id);
    const handle = gateway.temporal.workflow.getHandle(payment);
    await handle.signal('release', { by: 'olivia' });
    await handle.executeUpdate('verify');
    expect((await checkoutOf(gateway, payment)).refunds).toEqual([]);
  },
  recipient: async ({ id }) => {
    expect((await payTo(id)).json.error.code).toBe('recipient_not_ready');
  },
  payoutSchedule: async ({ id }) => {
    for (const verb of ['pause', 'resume']) await api.post(`/payout_schedules/${id}/${verb}`);
  },
};

/** Whoever makes it, another person with one of these roles releases it. */
const RELEASED: [maker: keyof typeof people, approver: keyof typeof people, toMaker: RegExp][] = [
  ['owner', 'otherOwner', /You requested \w+ yourself\. Another person must approve it\./],
  ['finance', 'owner', /You requested \w+ yourself\. Another person must approve it\./],
  ['developer', 'finance', NOT_ALLOWED],
];

const APPROVERS = new Set(['owner', 'otherOwner', 'finance']);

/** By day a payout and a batch stand for all that waits. */
const TRIED = scaled<readonly SecondPersonKind[]>(['payout', 'payoutBatch'], SECOND_PERSON_KINDS);

describe.each(TRIED)('%s', (kind) => {
  test.each(RELEASED)(
    'made by %s, released by %s and nobody else',
    async (maker, approver, toMaker) => {
      const by = people[maker];
      const id = await MAKE[kind](by);
      const version = await versionOn(people[approver], kind, id);
      const trial = { kind, id, version };
      expect(await waits(kind, id)).toBe(true);
      for (const [who, client] of Object.entries(people)) {
        if (who === 'stranger') continue;
        const html = await client.read(`/dashboard/test/${LISTS[kind].pages}/${id}`);
        expect(html).toContain('Waiting for two-person approval');
        const mayApprove = APPROVERS.has(who) && who !== maker;
        expect([who, html.includes(`/second-person/${id}/approve`)]).toEqual([who, mayApprove]);
      }
      for (const [who, [status, says, attempt]] of Object.entries(REFUSED)) {
        const answer = await attempt(trial);
        expect([who, answer.status, problemIn(await answer.text())]).toEqual([
          who,
          status,
          expect.stringMatching(says),
        ]);
      }
      const own = await approveAs(by, id, version);
      expect(problemIn(await own.text())).toMatch(toMaker);
      // Rows of people who may not approve do not count either.
      for (const user of powerless) {
        await gateway.db.query(
          'INSERT INTO person_approvals (object_id, version, user_id) VALUES (?, ?, ?)',
          [id, version, user],
        );
      }
      await OTHER_WAYS[kind](trial);
      expect(await waits(kind, id)).toBe(true);

      expect((await approveAs(people[approver], id, version)).status).toBe(303);
      await waitFor(`${id} to go on`, async () => !(await waits(kind, id)));
      const again = await approveAs(people[approver], id, version);
      expect([again.status, problemIn(await again.text())]).toEqual([
        409,
        expect.stringContaining(`${id} is no longer waiting for an approval.`),
      ]);
    },
  );

  test.each(['support', 'viewer'] as const)('is not made by %s', async (who) => {
    await expect(MAKE[kind](people[who])).rejects.toThrow('was answered with 403');
  });
});

/** How its maker takes an object back. */
const TAKE_BACK: Record<SecondPersonKind, string> = {
  payout: 'cancel',
  payoutBatch: 'stop',
  refund: 'withdraw',
  recipient: 'delete',
  payoutSchedule: 'end',
};

/** Waits for the end of an object that was approved and taken back, and proves that it has one. */
const ENDS_ONCE: Record<SecondPersonKind, (id: string) => Promise<void>> = {
  payout: async (id) => {
    const { status, release } = await whenFinal(api, id);
    expect([status, release.released_at !== null]).toEqual(
      status === 'completed' ? ['completed', true] : ['cancelled', false],
    );
  },
  payoutBatch: async (id) => {
    const proof = await waitFor(`${id} to end`, async () => {
      if ((await readObject('payoutBatch', id)).closed_at === null) return undefined;
      return (await api.get(`/payout_batches/${id}/proof`)).json.data;
    });
    expect(proof.balanced).toBe(true);
    for (const row of proof.rows) {
      const sent = await readBookEntry(gateway.sandbox.url, row.id);
      expect([row.status, sent !== undefined]).toEqual(
        row.status === 'completed' ? ['completed', true] : ['cancelled', false],
      );
    }
  },
  refund: async (id) => {
    const refund = await waitFor(`${id} to end`, async () => {
      const seen = await readObject('refund', id);
      return seen.status === 'pending' ? undefined : seen;
    });
    const { refunds } = await checkoutOf(gateway, refund.payment_id);
    expect(refunds).toHaveLength(refund.status === 'completed' ? 1 : 0);
  },
  recipient: async (id) => {
    const { json } = await payTo(id);
    expect(json.error.code).toMatch(/not_found|recipient_not_ready|validation_failed/);
  },
  payoutSchedule: async (id) => {
    expect(await readObject('payoutSchedule', id)).toMatchObject({ status: 'ended' });
    const answer = await approveAs(people.otherOwner, id);
    expect(answer.status).toBe(409);
  },
};

describe('an approval and its maker’s change of mind at the same moment have one end', () => {
  test.each(TRIED)('%s', async (kind) => {
    const id = await MAKE[kind](people.owner);
    const version = await versionOn(people.otherOwner, kind, id);
    const path = `/dashboard/test/${LISTS[kind].pages}/${id}/${TAKE_BACK[kind]}`;
    const answers = await Promise.all([
      approveAs(people.otherOwner, id, version),
      people.owner.post(path),
    ]);
    const statuses = answers.map(({ status }) => status);
    // Without an answer in time, a page says 503: the end alone tells what became of it.
    for (const status of statuses) expect([303, 409, 503]).toContain(status);
    if (!statuses.includes(503)) expect(statuses).toContain(303);
    await ENDS_ONCE[kind](id);
  });
});

test.each(SECOND_PERSON_KINDS)(
  'a %s that another person declines ends, and says who did',
  async (kind) => {
    const id = await MAKE[kind](people.finance);
    const version = await versionOn(people.otherOwner, kind, id);
    const decline = (by: PageClient, seen = version) =>
      by.post(`/dashboard/test/second-person/${id}/decline`, { version: seen, reason: 'Not ours' });
    expect((await decline(people.finance)).status).toBe(409);
    expect((await decline(people.developer)).status).toBe(403);
    expect(await waits(kind, id)).toBe(true);
    expect((await decline(people.otherOwner)).status).toBe(303);
    await ENDS_ONCE[kind](id);
    const html = await people.owner.read(`/dashboard/test/${LISTS[kind].pages}/${id}`);
    expect(html).toContain('Declined by');
    expect(html).toContain('Not ours');
    expect(html).not.toContain(`/second-person/${id}/approve`);
  },
);
