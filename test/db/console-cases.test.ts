/** The console's pages of cases over HTTP: what they show, change and record. */
import { openCase } from '../../src/db/repositories/cases';
import type { CaseKind } from '../../src/domain/cases';
import { newId } from '../../src/lib/new-id';
import { makeUser, type PageClient, textOf } from '../support/merchant/page-client';
import { started } from '../support/started';
import { PROBE, read, startConsoleWorld } from './console-world';

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
