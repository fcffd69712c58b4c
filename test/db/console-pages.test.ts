/** The supervising pages of the console over HTTP: what they show, change and record. */
import { openCase } from '../../src/db/repositories/cases';
import { rows } from '../../src/db/transaction';
import type { CaseKind } from '../../src/domain/cases';
import { newId } from '../../src/lib/new-id';
import { makeUser, PageClient, type TestUser } from '../support/page-client';
import { type Gateway, type Harness, startHarness } from './http-harness';

const PROBE = '"><script>alert(1)</script>';

let harness: Harness;
let gateway: Gateway;
let admin: TestUser;
let reviewer: TestUser;

beforeAll(async () => {
  harness = await startHarness();
  const env = { TRUSTED_PROXY_HOPS: '1', TEMPORAL_UI_URL: 'https://temporal.example.com/' };
  gateway = await harness.startGateway({ env });
  [admin, reviewer] = await Promise.all([
    makeUser(harness.owner, 'operator', 'admin'),
    makeUser(harness.owner, 'operator', 'reviewer'),
  ]);
});

afterAll(() => harness.stop());

async function signedIn(user: TestUser): Promise<PageClient> {
  const client = new PageClient(gateway.url);
  await client.signIn(user);
  return client;
}

/** The page, which must be there and must not contain what somebody wrote as markup. */
async function read(client: PageClient, path: string, status = 200): Promise<string> {
  return textOf(await client.get(`/console${path}`), status);
}

async function textOf(response: Response, status: number): Promise<string> {
  const html = await response.text();
  expect({ status: response.status, url: response.url }).toEqual({ status, url: response.url });
  expect(html).not.toContain('<script>alert');
  return html;
}

/** @returns the id of the case */
async function makeCase(kind: CaseKind, objectId: string): Promise<string> {
  await openCase(harness.owner, kind, objectId, { note: PROBE, reference: objectId });
  const [opened] = await rows<{ id: string }>(
    harness.owner,
    'SELECT id FROM cases WHERE object_id = ? AND kind = ? AND resolved_at IS NULL',
    [objectId, kind],
  );
  return opened!.id;
}

/** Newest first. */
function auditOf(objectId: string) {
  return rows<Record<string, unknown>>(
    harness.owner,
    `SELECT actor, action, via, host(address) AS address, reason FROM audit_log
      WHERE object_id = ? ORDER BY id DESC`,
    [objectId],
  );
}

describe('cases', () => {
  test('are listed by state and kind, page by page, and counted on the start page', async () => {
    const client = await signedIn(reviewer);
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
    await rows(
      harness.owner,
      `INSERT INTO provider_entries (provider, mode, kind, reference, id, amount, currency, state,
                                     held, changed_at, read_at)
       VALUES ('onchain_provider', 'live', 'payout', ?, ?, 12.5, 'USDT', 'done', false, now(), now())`,
      [reference, PROBE],
    );
    const [client, viewer] = await Promise.all([
      signedIn(reviewer),
      signedIn(await makeUser(harness.owner, 'operator', 'viewer')),
    ]);
    const detail = await read(client, `/cases/${id}`);
    expect(detail).toContain('12.50000000');
    expect(detail).toContain('Resolve case');
    expect(await read(viewer, `/cases/${id}`)).not.toContain('Resolve case');

    const resolve = (by: PageClient, resolution: string) =>
      by.post(`/console/cases/${id}/resolve`, { resolution });
    expect(await textOf(await resolve(client, ' '), 422)).toContain('Enter a value.');
    expect((await resolve(client, `Booked twice ${PROBE}`)).status).toBe(303);
    const late = await textOf(await resolve(await signedIn(admin), 'Something else'), 409);
    expect(late).toContain('Your resolution was not recorded.');
    expect(late).toMatch(new RegExp(`${reviewer.email} resolved it \\d+ seconds ago`));
    expect(await read(client, `/cases/${id}`)).toContain('Booked twice');
    expect(await auditOf(id)).toEqual([
      {
        actor: reviewer.email,
        action: 'case.resolve',
        via: 'console',
        address: '127.0.0.1',
        reason: null,
      },
    ]);
  });
});
