/** The console's pages of cases over HTTP: what they show, change and record. */
import { openCase } from '../../../src/db/cases/cases';
import type { CaseKind } from '../../../src/domain/cases';
import { newId } from '../../../src/platform/lib/new-id';
import { ageSignIn, makeUser, type PageClient, textOf } from '../../support/merchant/page-client';
import { started } from '../../support/started';
import { PROBE, read, startConsoleWorld } from '../console-world';

const world = started(startConsoleWorld);

/** @returns the id of the case */
async function makeCase(kind: CaseKind, objectId: string): Promise<string> {
  await openCase(world.harness.owner, kind, objectId, { note: PROBE, reference: objectId });
  const [opened] = await world.harness.owner.query<{ id: string }>(
    'SELECT id FROM cases WHERE object_id = ? AND kind = ? AND resolved_at IS NULL',
    [objectId, kind],
  );
  return opened!.id;
}

describe('cases', () => {
  test('are listed by state and kind, page by page, and counted on the start page', async () => {
    const client = await world.signedIn(world.reviewer);
    const ids = await Promise.all(
      Array.from({ length: 27 }, (_, n) => makeCase('sent_twice', `po_listed${n}`)),
    );
    const other = await makeCase('checkout_missing', 'pay_listed');
    const idsIn = (html: string) => [...html.matchAll(/cases\/(case_\w+)"/g)].map(([, id]) => id!);
    const first = await read(client, '/cases?kind=sent_twice');
    const [, next] = /href="([^"]+)" rel="next"/.exec(first)!;
    const second = await read(client, next!.replaceAll('&amp;', '&').replace('/console', ''));
    expect([...idsIn(first), ...idsIn(second)].sort()).toEqual(ids.sort());
    expect(idsIn(await read(client, '/cases?object=pay_listed'))).toEqual([other]);
    expect(idsIn(await read(client, '/cases?state=resolved'))).toEqual([]);
    const today = new Date().toISOString().slice(0, 10);
    expect(idsIn(await read(client, `/cases?kind=checkout_missing&from=${today}`))).toEqual([
      other,
    ]);
    expect(idsIn(await read(client, '/cases?to=2020-01-01'))).toEqual([]);
    const home = await read(client, '/home');
    expect(home).toMatch(/<b>27<\/b> open cases: sent twice/);
    expect(home).toMatch(/<b>1<\/b> open case: checkout missing/);
  });

  test('show both sides, and the first who resolves one decides', async () => {
    const reference = newId('payout');
    const id = await makeCase('unknown_transfer', reference);
    await world.harness.owner.query(
      `INSERT INTO provider_entries (provider, mode, kind, reference, id, amount, currency, state,
                                     held, changed_at, read_at)
       VALUES ('onchain_provider', 'live', 'payout', ?, ?, 12.5, 'USDT', 'done', false, now(), now())`,
      [reference, PROBE],
    );
    const [client, viewer] = await Promise.all([
      world.signedIn(world.reviewer),
      world.signedIn(await makeUser(world.harness.owner, 'operator', 'viewer')),
    ]);
    const detail = await read(client, `/cases/${id}`);
    expect(detail).toContain('12.50000000');
    expect(detail).toContain('Resolve case');
    expect(await read(viewer, `/cases/${id}`)).not.toContain('Resolve case');

    const resolve = (by: PageClient, resolution: string) =>
      by.post(`/console/cases/${id}/resolve`, { resolution, facts: '1' });
    expect(await textOf(await resolve(client, ' '), 422)).toContain('Enter a value.');
    expect((await resolve(client, `Booked twice ${PROBE}`)).status).toBe(303);
    const late = await textOf(
      await resolve(await world.signedIn(world.admin), 'Something else'),
      409,
    );
    expect(late).toContain('Your resolution was not recorded.');
    expect(late).toMatch(new RegExp(`${world.reviewer.email} resolved it \\d+ seconds ago`));
    expect(await read(client, `/cases/${id}`)).toContain('Booked twice');
    expect(await world.auditOf(id)).toEqual([
      {
        actor: world.reviewer.email,
        action: 'case.resolve',
        via: 'console',
        address: '127.0.0.1',
        reason: null,
      },
    ]);
  });
});

test('a case is not resolved by a form that lacks its newest facts', async () => {
  const reference = newId('payout');
  const id = await makeCase('sent_after_return_of_funds', reference);
  const client = await world.signedIn(world.reviewer);
  expect(await read(client, `/cases/${id}`)).toContain('name="facts" value="1"');
  const fact = { note: `a second transfer ${PROBE}` };
  await openCase(world.harness.owner, 'sent_after_return_of_funds', reference, fact);
  const resolve = (values: Record<string, string>) =>
    client.post(`/console/cases/${id}/resolve`, { resolution: 'Claimed back', ...values });
  for (const stale of [{ facts: '1' }, {}, { facts: '02x' }] as Record<string, string>[]) {
    const shown = await textOf(await resolve(stale), 409);
    expect(shown).toContain('This case has new facts. Your resolution was not recorded.');
    expect(shown).toContain('a second transfer');
    expect(shown).toContain('name="facts" value="2"');
    expect(shown).toContain('Claimed back');
  }
  expect((await resolve({ facts: '2' })).status).toBe(303);
});

describe('a recipient that the screening holds', () => {
  /** @returns the id of its case */
  async function held(screening: 'review' | 'block'): Promise<{ recipient: string; path: string }> {
    const { owner } = world.harness;
    const recipient = newId('recipient');
    await owner.query(
      `INSERT INTO recipients (id, account_id, mode, name, currency, destination_type, destination_value, created_by)
       VALUES (?, ?, 'live', ?, 'USDT', 'email', 'ada@example.com', 'key')`,
      [recipient, await world.harness.createAccount(), PROBE],
    );
    await owner.query('UPDATE recipients SET screening = ? WHERE id = ?', [screening, recipient]);
    const kind = screening === 'review' ? 'recipient_review' : 'recipient_blocked';
    return { recipient, path: `/cases/${await makeCase(kind, recipient)}` };
  }

  const screeningOf = async (recipient: string) => {
    const sql = 'SELECT screening FROM recipients WHERE id = ?';
    const [found] = await world.harness.owner.query<{ screening: string }>(sql, [recipient]);
    return found!.screening;
  };
  const seenOn = async (client: PageClient, path: string) =>
    /name="seen" value="([^"]+)"/.exec(await read(client, path))?.[1] ?? '';
  const decide = (client: PageClient, path: string, form: Record<string, string>) =>
    client.post(`/console${path}/recipient`, form);

  test.each([
    ['review', 'clear', 'Allowed'],
    ['review', 'block', 'Blocked'],
    ['block', 'clear', 'Allowed'],
  ] as const)(
    '(%s) is decided by a reviewer (%s), with a reason, which resolves the case',
    async (screening, verdict, word) => {
      const { recipient, path } = await held(screening);
      const client = await world.signedIn(world.reviewer);
      const viewer = await world.signedIn(
        await makeUser(world.harness.owner, 'operator', 'viewer'),
      );
      expect(await read(viewer, path)).not.toContain('Decide about the recipient');
      const seen = await seenOn(client, path);
      const form = { verdict, seen, decision_reason: `Ticket 812 ${PROBE}` };
      const missing = await decide(client, path, { ...form, decision_reason: ' ' });
      expect(await textOf(missing, 422)).toContain('Enter a value.');
      expect(await screeningOf(recipient)).toBe(screening);

      expect((await decide(client, path, form)).status).toBe(303);
      expect(await screeningOf(recipient)).toBe(verdict);
      expect(await read(client, path)).toContain(`${word} by ${world.reviewer.email}: Ticket 812`);
      expect(await world.auditOf(recipient)).toMatchObject([
        {
          actor: world.reviewer.email,
          action: 'recipient.screening_decide',
          via: 'console',
          reason: form.decision_reason,
        },
      ]);
      const again = await textOf(await decide(client, path, form), 409);
      expect(again).toContain(verdict === 'clear' ? 'is not held or blocked' : 'already in force');
    },
  );

  test('is not cleared with a destination that the operator did not see', async () => {
    const { recipient, path } = await held('review');
    const client = await world.signedIn(world.reviewer);
    const form = { verdict: 'clear', seen: await seenOn(client, path), decision_reason: 'Known' };
    const { owner } = world.harness;
    const change = `UPDATE recipients SET destination_value = 'eve@example.com' WHERE id = ?`;
    await owner.query(change, [recipient]);
    await owner.query(`UPDATE recipients SET screening = 'review' WHERE id = ?`, [recipient]);
    const shown = await textOf(await decide(client, path, form), 409);
    expect(shown).toContain('its screening has new answers');
    expect(shown).toContain('eve@example.com');
    expect(
      (await textOf(await decide(client, path, { ...form, seen: '' }), 409)).length,
    ).toBeGreaterThan(0);
    expect(await screeningOf(recipient)).toBe('review');
  });

  test('is decided after a recent sign-in only', async () => {
    const { recipient, path } = await held('review');
    const client = await world.signedIn(world.admin);
    const form = { verdict: 'clear', seen: await seenOn(client, path), decision_reason: 'Known' };
    await ageSignIn(world.harness.owner, world.admin);
    const asked = await decide(client, path, form);
    expect(asked.headers.get('location')).toContain('/console/confirm');
    expect(await screeningOf(recipient)).toBe('review');
  });
});
