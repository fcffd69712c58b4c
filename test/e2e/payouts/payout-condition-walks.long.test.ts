/**
 * The table of what a payout can wait for (decisions/payouts#payout-conditions), walked over HTTP on real PostgreSQL and
 * Temporal: every set of conditions, to each of its ends.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Scope } from '../../../src/domain/scopes';
import {
  buildPayout,
  buildRecipient,
  type MerchantClient,
} from '../../support/merchant/merchant-client';
import { atProvider, openedPayment, whenPayment } from '../../support/payment/payment-steps';
import {
  acceptedPayout,
  addKey,
  approve,
  balanceOf,
  openMerchant,
  reject,
  setKey,
  whenFinal,
  whenPayout,
} from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { readBookEntry } from '../../support/servers/sandbox';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

jest.setTimeout(scaled(300_000, 900_000));

const gateway = started(useSharedGateway, isSound);

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
/** Wakes it, unless the sweep was first and has ended it. */
async function wake(id: string): Promise<void> {
  try {
    await gateway.temporal.workflow.getHandle(id).signal('wake');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** A merchant with everything that a payout can wait for. */
async function open() {
  const { accountId, client, otherMode } = await openMerchant(gateway);
  const { second, secondKey } = await addKey(gateway, { accountId, mode: 'live' });
  const payment = await openedPayment(client);
  const recipient = await client.createRecipient(buildRecipient());
  expect(recipient.status).toBe(201);
  return {
    accountId,
    client,
    otherMode,
    second,
    secondKey,
    payment,
    recipient: recipient.json.data.id,
  };
}

type World = Awaited<ReturnType<typeof open>>;

interface Rule {
  wish(world: World): object;
  /** Makes it true, for all payouts that wait for the same or for these alone. */
  meet(world: World, payouts: readonly string[]): Promise<void>;
}

const RULES = {
  time: {
    wish: () => ({ at: inAnHour() }),
    meet: async (_, payouts) => {
      await gateway.db.query(
        `UPDATE payout_conditions SET parameters = jsonb_build_object('at', now())
          WHERE kind = 'time' AND payout_id = ANY (?::text[])`,
        [[...payouts]],
      );
      await Promise.all(payouts.map(wake));
    },
  },
  payment: {
    wish: ({ payment }) => ({ after_payment: payment }),
    meet: async ({ client, payment }) => {
      await atProvider(gateway, payment, 'pay', { amount: '100' });
      await whenPayment(client, payment, 'completed');
    },
  },
  approval: {
    wish: ({ secondKey }) => ({ approval_by_key: secondKey }),
    meet: async ({ second }, payouts) => {
      const answers = await Promise.all(payouts.map((id) => release(second, id)));
      expect(answers.map(({ status }) => status)).toEqual(payouts.map(() => 200));
    },
  },
  recipient: {
    wish: () => ({ recipient_ready: true }),
    meet: async ({ recipient }, payouts) => {
      await gateway.db.transaction(async (tx) => {
        await tx.query(`SET LOCAL session_replication_role = 'replica'`);
        await tx.query('UPDATE recipients SET usable_from = now() WHERE id = ?', [recipient]);
      });
      await Promise.all(payouts.map(wake));
    },
  },
} satisfies Record<string, Rule>;

type Kind = keyof typeof RULES;
const KINDS = Object.keys(RULES) as Kind[];

const release = (client: MerchantClient, id: string) => client.post(`/payouts/${id}/release`);
const cancel = (client: MerchantClient, id: string) => client.post(`/payouts/${id}/cancel`);
const timesSent = async (id: string) =>
  (await readBookEntry(gateway.sandbox.url, id))?.times_sent ?? 0;

/** Every set of conditions, by day each alone and all together; which of them is met last changes from set to set. */
const SETS = Array.from({ length: 2 ** KINDS.length - 1 }, (_, n) => {
  const set = KINDS.filter((_kind, bit) => ((n + 1) & (1 << bit)) !== 0);
  const turn = n % set.length;
  return [...set.slice(turn), ...set.slice(0, turn)];
}).filter(({ length }) => scaled(length === 1 || length === KINDS.length, true));

async function request(world: World, set: readonly Kind[]): Promise<string> {
  const wishes = set.map((kind) => RULES[kind].wish(world));
  const wish = Object.assign({ expires_at: new Date(Date.now() + 7_200_000) }, ...wishes) as object;
  const to = set.includes('recipient')
    ? { recipient: world.recipient, destination: undefined, network: undefined }
    : {};
  const id = await acceptedPayout(world.client, { ...to, release: wish });
  await approve(gateway, id);
  await whenPayout(world.client, id, 'requested');
  return id;
}

/** Its conditions that are met, once they are as many. */
const whenMet = (client: MerchantClient, id: string, kinds: readonly Kind[]) =>
  waitFor(`${id} to have ${kinds.join(' and ')} met`, async () => {
    const { data } = (await client.get(`/payouts/${id}`)).json;
    const met = (data.release.conditions as { type: Kind; met_at: string | null }[])
      .filter(({ met_at }) => met_at !== null)
      .map(({ type }) => type);
    return kinds.every((kind) => met.includes(kind)) ? data : undefined;
  });

test.concurrent.each(SETS.map((set) => ({ set, name: set.join(', then ') })))(
  'of payouts that wait for $name, one is sent once all is met, one is cancelled, and one expires',
  async ({ set }) => {
    const world = await open();
    const { client, second } = world;
    const before = await balanceOf(client);
    const payouts = [
      await request(world, set),
      await request(world, set),
      await request(world, set),
    ];
    const [sent, cancelled, expired] = payouts as [string, string, string];
    const last = set.at(-1)!;
    for (const [n, kind] of set.slice(0, -1).entries()) {
      await RULES[kind].meet(world, payouts);
      for (const id of payouts) {
        const { status } = await whenMet(client, id, set.slice(0, n + 1));
        expect([status, await timesSent(id)]).toEqual(['requested', 0]);
      }
    }

    expect((await cancel(client, cancelled)).status).toBe(200);
    await gateway.db.query('UPDATE payouts SET release_expires_at = now() WHERE id = ?', [expired]);
    await wake(expired);
    expect((await whenFinal(client, expired)).release.expired_at).not.toBeNull();
    expect((await client.get(`/payouts/${sent}`)).json.data.status).toBe('requested');

    await RULES[last].meet(world, [sent]);
    const ends = await Promise.all(payouts.map((id) => whenFinal(client, id)));
    expect(ends.map(({ status }) => status)).toEqual(['completed', 'cancelled', 'cancelled']);
    expect(await Promise.all(payouts.map(timesSent))).toEqual([1, 0, 0]);
    const [{ release: released, total_debit: debit }] = ends;
    for (const { met_at } of released.conditions) expect(released.released_at >= met_at).toBe(true);
    // The payment, if it was paid, has been credited meanwhile.
    expect(await balanceOf(client)).toMatchObject({ reserved: before?.reserved });
    expect(await movedBy(payouts)).toBe(`-${debit as string}`);

    // Nothing of it can be decided again.
    for (const id of payouts) expect((await cancel(client, id)).status).toBe(409);
    const isRepeated = set.includes('approval');
    expect((await release(second, sent)).status).toBe(isRepeated ? 200 : 409);
    expect((await release(second, expired)).status).toBe(
      isRepeated && last !== 'approval' ? 200 : 409,
    );
  },
);

/** What the payouts took out of the available balance. */
async function movedBy(ids: readonly string[]): Promise<string> {
  const [moved] = await gateway.db.query<{ sum: string }>(
    `SELECT sum(CASE e.direction WHEN 'in' THEN e.amount ELSE -e.amount END)::numeric(38,8)::text AS sum
       FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
      WHERE t.source_id = ANY (?::text[]) AND e.account = 'available'`,
    [[...ids]],
  );
  return moved!.sum;
}

describe('who may release a payout', () => {
  const world = started(open);
  const waits = () => acceptedPayout(world.client, { release: RULES.approval.wish(world) });

  test.each<[who: string, status: number, code: string, by: () => Promise<MerchantClient>]>([
    ['the key that requested it', 403, 'release_not_allowed', () => Promise.resolve(world.client)],
    ['a third key', 403, 'release_not_allowed', async () => (await another()).second],
    [
      'a key that only reads',
      403,
      'insufficient_scope',
      async () => (await another(['payouts:read'])).second,
    ],
    ['a key of the other mode', 404, 'not_found', () => Promise.resolve(world.otherMode)],
    ['a key of another account', 404, 'not_found', async () => (await open()).client],
  ])('not %s', async (_who, status, code, by) => {
    const id = await waits();
    expect(await release(await by(), id)).toMatchObject({ status, json: { error: { code } } });
    const { data } = (await world.client.get(`/payouts/${id}`)).json;
    expect(data.release.conditions).toMatchObject([{ met_at: null }]);
  });

  const another = (scopes?: readonly Scope[]) =>
    addKey(gateway, { accountId: world.accountId, mode: 'live', ...(scopes && { scopes }) });
  const revoke = (id: string) => setKey(gateway, id, 'revoked_at = now()');

  test('not a key that was revoked meanwhile: its payout waits until it is cancelled', async () => {
    const { second, secondKey } = await another();
    const id = await acceptedPayout(world.client, { release: { approval_by_key: secondKey } });
    await revoke(secondKey);
    expect((await release(second, id)).status).toBe(401);
    expect((await world.client.get(`/payouts/${id}`)).json.data.status).toBe('under_review');
    expect((await cancel(world.client, id)).status).toBe(200);
    expect(await movedBy([id])).toBe('0.00000000');
  });

  test('what a key approved stands after the key is revoked', async () => {
    const { second, secondKey } = await another();
    const wish = { approval_by_key: secondKey, at: inAnHour() };
    const id = await acceptedPayout(world.client, { release: wish });
    await approve(gateway, id);
    await whenPayout(world.client, id, 'requested');
    expect((await release(second, id)).status).toBe(200);
    await revoke(secondKey);
    await RULES.time.meet(world, [id]);
    expect((await whenFinal(world.client, id)).status).toBe('completed');
  });

  test.each(['cancelled', 'rejected', 'expired'] as const)(
    'nobody, when it is %s before',
    async (end) => {
      const id = await waits();
      if (end === 'cancelled') await cancel(world.client, id);
      if (end === 'rejected') await reject(gateway, id, 'A test');
      if (end === 'expired') {
        await gateway.db.query('UPDATE payouts SET release_expires_at = now() WHERE id = ?', [id]);
        await wake(id);
      }
      await whenFinal(world.client, id);
      expect(await release(world.second, id)).toMatchObject({
        status: 409,
        json: { error: { code: 'invalid_state' } },
      });
      expect([await timesSent(id), await movedBy([id])]).toEqual([0, '0.00000000']);
    },
  );
});

describe('a payment that a payout waits for', () => {
  const world = started(open);
  /** Where a payment ends without having been completed. */
  const ENDS = {
    cancelled: (id: string) => atProvider(gateway, id, 'cancel'),
    expired: async (id: string) => {
      await gateway.db.query('UPDATE payments SET expires_at = clock_timestamp() WHERE id = ?', [
        id,
      ]);
    },
    failed: (id: string) => atProvider(gateway, id, 'fail'),
  };

  test.each(['cancelled', 'expired', 'failed'] as const)(
    'that is %s lets nothing through, and the payout expires with its funds returned',
    async (end) => {
      const payment = await openedPayment(world.client);
      const wish = { after_payment: payment, expires_at: inAnHour() };
      const id = await acceptedPayout(world.client, { release: wish });
      await approve(gateway, id);
      await whenPayout(world.client, id, 'requested');
      await ENDS[end](payment);
      await whenPayment(world.client, payment, end);
      await wake(id);
      const { data } = (await world.client.get(`/payouts/${id}`)).json;
      expect([data.status, data.release.conditions[0].met_at]).toEqual(['requested', null]);
      await gateway.db.query('UPDATE payouts SET release_expires_at = now() WHERE id = ?', [id]);
      await wake(id);
      expect((await whenFinal(world.client, id)).status).toBe('cancelled');
      expect([await timesSent(id), await movedBy([id])]).toEqual([0, '0.00000000']);

      // A new payout may name it only while late money can still complete it.
      const again = await world.client.createPayout(buildPayout({ release: wish }));
      if (end === 'failed') {
        expect(again.json.error.details.fields).toMatchObject([
          { field: 'release.after_payment', rule: 'unsupported' },
        ]);
        return;
      }
      expect(again.status).toBe(201);
      await approve(gateway, again.json.data.id);
      await atProvider(gateway, payment, 'pay', { amount: '100' });
      await whenPayment(world.client, payment, 'completed');
      expect((await whenFinal(world.client, again.json.data.id)).status).toBe('completed');
    },
  );

  test('that is completed already holds nothing back', async () => {
    const payment = await openedPayment(world.client);
    await atProvider(gateway, payment, 'pay', { amount: '100' });
    await whenPayment(world.client, payment, 'completed');
    const id = await acceptedPayout(world.client, { release: { after_payment: payment } });
    await approve(gateway, id);
    expect((await whenFinal(world.client, id)).status).toBe('completed');
  });
});
