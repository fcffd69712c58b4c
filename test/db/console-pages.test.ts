/** The supervising pages of the console over HTTP: what they show, change and record. */
import { LEDGER_INVARIANTS } from '../../src/db/ledger-invariants';
import { proveChanges } from '../../src/db/ledger-verify';
import { openCase } from '../../src/db/repositories/cases';
import type { CaseKind } from '../../src/domain/cases';
import { setLimits } from '../../src/services/limits';
import { newId } from '../../src/lib/new-id';
import { countPositions } from '../../src/db/repositories/provider-statements';
import { ageSignIn, makeUser, PageClient, type TestUser } from '../support/merchant/page-client';
import { startHarness } from './http-harness';
import { started } from '../support/started';

const PROBE = '"><script>alert(1)</script>';

const harness = started(startHarness);
const gateway = started(() =>
  harness.startGateway({
    env: { TRUSTED_PROXY_HOPS: '1', TEMPORAL_UI_URL: 'https://temporal.example.com/' },
  }),
);
let admin: TestUser;
let reviewer: TestUser;
let second: TestUser;

beforeAll(async () => {
  [admin, second, reviewer] = await Promise.all([
    makeUser(harness.owner, 'operator', 'admin'),
    makeUser(harness.owner, 'operator', 'admin'),
    makeUser(harness.owner, 'operator', 'reviewer'),
  ]);
});

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
  const [opened] = await harness.owner.query<{ id: string }>(
    'SELECT id FROM cases WHERE object_id = ? AND kind = ? AND resolved_at IS NULL',
    [objectId, kind],
  );
  return opened!.id;
}

/** Newest first. */
function auditOf(objectId: string) {
  return harness.owner.query<Record<string, unknown>>(
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
    await harness.owner.query(
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
      by.post(`/console/cases/${id}/resolve`, { resolution, facts: '1' });
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

test('a case is not resolved by a form that lacks its newest facts', async () => {
  const reference = newId('payout');
  const id = await makeCase('sent_after_return_of_funds', reference);
  const client = await signedIn(reviewer);
  expect(await read(client, `/cases/${id}`)).toContain('name="facts" value="1"');
  const fact = { note: `a second transfer ${PROBE}` };
  await openCase(harness.owner, 'sent_after_return_of_funds', reference, fact);
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

const PROPOSAL_ENDED = 'This change was already decided, was replaced or has expired.';
const PROPOSAL_OUTDATED = 'What is in force has changed since';

describe('four eyes for policies', () => {
  let proposer: TestUser;
  const limits = (daily: string) => ({
    reason: 'Contract',
    currency: 'USDT',
    perTransaction: '100',
    daily,
    autoApproveMax: 'default',
    autoApproveDailyMax: 'default',
  });
  const proposalsOf = async (accountId: string) =>
    harness.owner.query<{ id: string; outcome: string | null }>(
      'SELECT id, outcome FROM policy_proposals WHERE account_id = ? ORDER BY created_at',
      [accountId],
    );
  const dailyMaxOf = async (accountId: string) => {
    const sql = 'SELECT daily_max FROM payout_policies WHERE account_id = ?';
    const [policy] = await harness.owner.query<{ dailyMax: string }>(sql, [accountId]);
    return policy?.dailyMax ?? null;
  };

  test('one of two who approve at once applies it, and a rejected change applies never', async () => {
    const accountId = await harness.createAccount();
    const [client, other] = await Promise.all([signedIn(admin), signedIn(second)]);
    const propose = (daily: string) =>
      client.post(`/console/accounts/${accountId}/limits`, limits(daily));
    await propose('400');
    // It takes the place of the first one.
    await propose('500');
    const [replaced, open] = await proposalsOf(accountId);
    expect([replaced!.outcome, open!.outcome]).toEqual(['replaced', null]);
    const approve = (id: string) => other.post(`/console/proposals/${id}/approve`);
    expect(await textOf(await approve(replaced!.id), 409)).toContain(PROPOSAL_ENDED);
    await ageSignIn(harness.owner, second);
    const asked = await approve(open!.id);
    expect(asked.headers.get('location')).toMatch('/console/confirm');
    expect(await dailyMaxOf(accountId)).toBeNull();
    await other.confirm(second, asked);
    const answers = await Promise.all([approve(open!.id), approve(open!.id)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    expect(await dailyMaxOf(accountId)).toBe('500.00000000');
    const set = await harness.owner.query(
      `SELECT actor, after->>'proposed_by' AS proposed_by FROM audit_log
        WHERE account_id = ? AND action = 'limits.set'`,
      [accountId],
    );
    expect(set).toEqual([{ actor: second.email, proposedBy: admin.email }]);

    await propose('600');
    const [, , third] = await proposalsOf(accountId);
    expect((await other.post(`/console/proposals/${third!.id}/reject`)).status).toBe(303);
    expect(await textOf(await approve(third!.id), 409)).toContain(PROPOSAL_ENDED);
    expect(await dailyMaxOf(accountId)).toBe('500.00000000');
  });

  test.each([
    [
      'what is in force has changed',
      PROPOSAL_OUTDATED,
      (id: string) =>
        setLimits.make(
          harness.owner,
          { actor: 'shell', reason: null },
          { accountId: id, currency: 'USDT' },
          { perTransaction: '7' },
        ),
    ],
    [
      'it has expired',
      PROPOSAL_ENDED,
      (id: string) =>
        harness.owner.query('UPDATE policy_proposals SET expires_at = now() WHERE account_id = ?', [
          id,
        ]),
    ],
    [
      'who proposed it is no longer an admin',
      PROPOSAL_OUTDATED,
      () =>
        harness.owner.query(`UPDATE users SET operator_role = 'viewer' WHERE id = ?`, [
          proposer.id,
        ]),
    ],
    [
      'the one who approves was raised by the one who proposed it',
      'This approval does not count',
      () =>
        harness.owner.query(
          `INSERT INTO audit_log (actor, action, object, object_id, after)
           VALUES ('test', 'user.change_role', 'user', ?, jsonb_build_object('proposed_by', ?::text))`,
          [second.id, proposer.email],
        ),
    ],
  ])('a proposal is not approved when %s', async (_, said, happens) => {
    const accountId = await harness.createAccount();
    proposer = await makeUser(harness.owner, 'operator', 'admin');
    const [client, other] = await Promise.all([signedIn(proposer), signedIn(second)]);
    await client.post(`/console/accounts/${accountId}/limits`, limits('500'));
    const [open] = await proposalsOf(accountId);
    await happens(accountId);
    const refused = await other.post(`/console/proposals/${open!.id}/approve`);
    expect(await textOf(refused, 409)).toContain(said);
    expect(await dailyMaxOf(accountId)).not.toBe('500.00000000');
    // Nor by the programs: the database refuses one person.
    const byOne = `UPDATE policy_proposals SET outcome = 'approved', decided_by = upper(proposed_by),
                     decided_at = now() WHERE id = ?`;
    await expect(harness.owner.query(byOne, [open!.id])).rejects.toThrow('check constraint');
  });
  test('an amount for two approvals is proposed by one admin and approved by another', async () => {
    const [client, other] = await Promise.all([signedIn(admin), signedIn(second)]);
    const change = { currency: 'XRP', above: '90000', reason: `Policy ${PROBE}` };
    expect(
      await textOf(await client.post('/console/four-eyes', { ...change, above: 'x' }), 422),
    ).toContain('is not a valid amount');
    expect((await client.post('/console/four-eyes', change)).status).toBe(303);
    expect(await read(other, '/home')).toContain('proposed amount for two approvals');
    const confirm = (by: PageClient, above: string) =>
      by.post('/console/four-eyes/confirm', { ...change, above });
    expect(await textOf(await confirm(client, '90000'), 409)).toContain('proposed this change.');
    expect(await textOf(await confirm(other, '1'), 409)).toContain('proposed 90000.00000000 for');
    expect((await confirm(other, '90000')).status).toBe(303);
    expect(await read(other, '/four-eyes')).toContain('90,000.00');
    expect((await client.post('/console/four-eyes', { ...change, above: 'none' })).status).toBe(
      303,
    );
    const withdrawn = await client.post('/console/four-eyes/withdraw', { currency: 'XRP' });
    expect(withdrawn.status).toBe(303);
    await harness.owner.query(`DELETE FROM four_eyes_thresholds WHERE currency = 'XRP'`);
  });

  test('the only admin reads what to do', async () => {
    const client = await signedIn(admin);
    const accountId = await harness.createAccount();
    const others = `UPDATE users SET disabled_at = ?::timestamptz WHERE id <> ?
      AND operator_role = 'admin'`;
    await harness.owner.query(others, ['2026-01-01T00:00:00Z', admin.id]);
    const html = await read(client, `/accounts/${accountId}/limits?currency=USDT`);
    await harness.owner.query(others, [null, admin.id]);
    expect(html).toContain('You are the only admin');
    expect(html).toContain(`npm run -s admin -- limits set --account ${accountId}`);
  });
});

const ALREADY_SO = 'These values are already in force.';

describe('accounts', () => {
  test('are found, changed with a reason, and show who changed what', async () => {
    const [client, accountId] = await Promise.all([signedIn(admin), harness.createAccount()]);
    await harness.owner.query('UPDATE accounts SET name = ? WHERE id = ?', [
      `Zebra% ${PROBE}`,
      accountId,
    ]);
    const path = `/accounts/${accountId}`;
    expect(await read(client, '/accounts?name=zebra%25')).toContain(accountId);
    expect(await read(client, '/accounts?name=zebra_')).not.toContain(accountId);
    expect(await read(client, `/accounts?name=${accountId}&status=active`)).toContain(accountId);
    expect(await read(client, '/accounts?status=suspended')).not.toContain(accountId);

    const change = async (name: string, form: Record<string, string>, status = 303) => {
      await read(client, `${path}/${name}?currency=USDT`);
      return textOf(await client.post(`/console${path}/${name}`, form), status);
    };
    expect(await change('verify', {}, 422)).toContain('Enter a value.');
    const reason = `Register of May ${PROBE}`;
    await change('verify', { reason });
    expect(await change('verify', { reason }, 409)).toContain('is already verified');
    await change('suspend', { reason });
    await ageSignIn(harness.owner, admin);
    for (const name of ['review', 'limits', 'fees', 'fees-end']) {
      const asked = `/console/confirm?next=${encodeURIComponent(`/console${path}/${name}`)}`;
      const opened = await client.get(`/console${path}/${name}`);
      expect(opened.headers.get('location')).toBe(asked);
      const sent = await client.post(`/console${path}/${name}`, { reason, rehearse: 'on' });
      expect(sent.headers.get('location')).toBe(asked);
    }
    const again = await client.post(`/console${path}/review`, { reason, rehearse: 'on' });
    expect(await read(client, path)).not.toContain('Rehearse review');
    expect(await client.confirm(admin, again)).toBe(`/console${path}/review`);
    const form = await read(client, `${path}/review`);
    expect(form).toContain('value="Register of May');
    expect(form).toMatch(/<option value="on" selected>All wait for review<\/option><\/select>/);
    // Limits, fees and review wait for another admin.
    const other = await signedIn(second);
    const proposalIn = async () => {
      const [, id] = /proposals\/(prop_\w+)\/approve/.exec(await read(other, path))!;
      return id!;
    };
    const approve = async () =>
      textOf(await other.post(`/console/proposals/${await proposalIn()}/approve`), 303);
    await change('review', { reason, reviewAll: 'off', rehearse: 'on' });
    expect(await read(client, path)).toContain('Another admin must approve it.');
    expect(await read(client, '/home')).toContain('Rehearse review: false → true');
    const own = await client.post(`/console/proposals/${await proposalIn()}/approve`);
    expect(await textOf(own, 409)).toContain('proposed this change.');
    // This does not outdate the proposal.
    await change('reinstate', { reason });
    expect(await read(client, path)).not.toContain('Review set');
    await approve();
    const policy = {
      currency: 'USDT',
      perTransaction: '100',
      daily: 'none',
      autoApproveMax: 'default',
      autoApproveDailyMax: '7',
    };
    expect(await change('limits', { ...policy, daily: '-1', reason }, 422)).toContain(
      'is not a valid amount',
    );
    await change('limits', { ...policy, reason });
    await approve();
    expect(await change('limits', { ...policy, reason }, 409)).toContain(ALREADY_SO);
    const fee = { direction: 'payout', provider: 'onchain_provider', currency: 'usdt' };
    expect(await change('fees', { ...fee, percentage: 'x', reason }, 422)).toContain(
      'Use 0 to 100',
    );
    await change('fees', { ...fee, percentage: '1.5', minFee: '0.2', reason });
    await approve();
    expect(await read(client, path)).toMatch(/1\.5<!-- --> %|1\.5 %/);
    await change('fees-end', { rule: 'payout~onchain_provider~USDT', reason });
    await approve();
    const ended = { rule: 'payout~onchain_provider~USDT', reason };
    expect(await change('fees-end', ended, 409)).toContain('has no fee rule for');

    const [account] = await harness.owner.query(
      'SELECT status, verified_at IS NOT NULL AS verified, review_all, rehearse_review FROM accounts WHERE id = ?',
      [accountId],
    );
    expect(account).toEqual({
      status: 'active',
      verified: true,
      reviewAll: false,
      rehearseReview: true,
    });
    const shown = await read(client, path);
    for (const line of ['Status: active → suspended', 'Review all: true → false', 'Daily max: ']) {
      expect(shown).toContain(line);
    }
    const log = await read(client, `/audit-log?account=${accountId}&by=${admin.email}&via=console`);
    expect(log.match(/Register of May/g)).toHaveLength(7);
    expect(await read(client, `/audit-log?account=${accountId}&via=admin`)).toContain(
      'No entries match',
    );
  });
});

test('a pause holds with its reason on every page until it is lifted', async () => {
  const [client, accountId] = await Promise.all([signedIn(admin), harness.createAccount()]);
  const pause = (form: Record<string, string>) => client.post('/console/pauses', form);
  const reason = `Keys leaked ${PROBE}`;
  expect(await textOf(await pause({ scope: 'global' }), 422)).toContain('Enter a value.');
  expect((await pause({ scope: 'account', target: 'acc_none', reason })).status).toBe(422);
  expect((await pause({ scope: 'account', target: accountId, reason })).status).toBe(303);
  // The form twice, as by a double click.
  const twice = await pause({ scope: 'account', target: accountId, reason });
  expect(await textOf(twice, 409)).toContain('has already paused these payouts');
  expect(await read(client, '/home')).toMatch(/1 pause holds payouts<\/b> Keys leaked/);
  expect((await pause({ scope: 'onchain_provider', reason: 'Maintenance' })).status).toBe(303);
  expect((await pause({ scope: 'global', reason: 'Restore' })).status).toBe(303);
  for (const path of ['/home', '/cases', '/accounts', '/pauses', '/operations', '/audit-log']) {
    expect(await read(client, path)).toMatch(/All payouts are paused<\/b> Restore/);
  }
  // A resume wakes the held payouts through Temporal, which is not there.
  await harness.owner.query(`DELETE FROM payout_pauses WHERE scope <> 'account'`);
  expect((await pause({ scope: 'account', target: accountId, reason: 'Second' })).status).toBe(303);
  const shown = await read(client, '/pauses');
  const [first, second] = [...shown.matchAll(/name="id" value="(\d+)"/g)].map(([, id]) => id!);
  expect(shown).toMatch(/Lifts the pause of [^<]+<b>Keys leaked/);
  const lift = (id: string) => client.post('/console/pauses/resume', { id, reason: 'Done' });
  expect((await lift(first!)).status).toBe(303);
  expect(await read(client, '/pauses')).toContain('Second');
  expect(await textOf(await lift(first!), 409)).toContain('There is no pause');
  await harness.owner.query('DELETE FROM payout_pauses WHERE id = ?', [second!]);
  expect(await read(client, '/pauses')).toContain('Nothing is paused');
  expect((await auditOf(accountId)).map(({ action, reason: why }) => [action, why])).toEqual([
    ['payouts.resume', 'Done'],
    ['payouts.pause', 'Second'],
    ['payouts.pause', reason],
  ]);
});

test('operations show statements, positions, the ledger check and the waiting deliveries', async () => {
  const [client, accountId] = await Promise.all([signedIn(admin), harness.createAccount()]);
  await harness.owner.query(
    `INSERT INTO provider_statements (provider, mode, kind, read_at, trouble)
     VALUES ('exchange_pay', 'live', 'payouts', now() - interval '1 day', ?)`,
    [PROBE],
  );
  await harness.owner.query(
    `INSERT INTO provider_entries (provider, mode, kind, reference, id, amount, currency, state,
                                   held, changed_at, read_at)
     SELECT 'exchange_pay', 'live', kind, kind, kind, amount, 'XRP', 'done', false, now(), now()
       FROM (VALUES ('payin', 100), ('refund', 10), ('payout', 20.5)) AS entry(kind, amount)`,
  );
  await harness.owner.query(
    `INSERT INTO balances (account_id, mode, currency, available, reserved, version, last_posted_at)
     VALUES (?, 'live', 'XRP', 60, 5, 1, now())`,
    [accountId],
  );
  await countPositions(harness.owner);
  await harness.owner.query(
    `WITH endpoint AS (
       INSERT INTO webhook_endpoints (id, account_id, mode, url, secret_sealed, secret_key_id)
       VALUES ('we_waiting', ?, 'live', ?, '', 'k') RETURNING id)
     INSERT INTO webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, check_at)
     SELECT 'whd_' || n, 'evt_' || n, id, now(), now() FROM endpoint, generate_series(1, 205) AS n`,
    [accountId, `https://shop.example/${PROBE}`],
  );
  const proof = '/operations/ledger-proof';
  expect(await read(client, '/operations')).not.toContain(proof);
  expect((await client.get(`/console${proof}`)).status).toBe(404);
  await proveChanges(harness.owner, { timeoutMs: 60_000 });
  const file = await client.get(`/console${proof}`);
  expect(file.headers.get('content-disposition')).toMatch(
    /^attachment; filename="ledger-proof-.*\.json"$/,
  );
  // The balance above has no postings.
  expect(await file.json()).toMatchObject({
    object: 'ledger_proof',
    result: 'failed',
    downloaded_by: admin.email,
    invariants: LEDGER_INVARIANTS.map(({ number }) =>
      number === 3
        ? { number, broken: 1, rows: [expect.objectContaining({ account_id: accountId })] }
        : expect.objectContaining({ number }),
    ),
  });
  const html = await read(client, '/operations');
  expect(html).toContain(proof);
  expect(html).toContain('69.50000000');
  expect(html).toContain('4.50000000');
  expect(html).toContain('200 or more');
  expect(html).toContain('we_waiting');
  const home = await read(client, '/home');
  expect(home).toMatch(/<b>1<\/b> provider statement was not read/);
  expect(home).toMatch(/<b>1<\/b> webhook endpoint has 200 or more waiting deliveries/);
  // No provider is enabled here, and no Temporal is there.
  expect(await read(client, '/operations?check=providers')).toContain('No provider is enabled');
  const run = (schedule: string) => client.post('/console/operations/run', { schedule });
  expect((await run('ledger-check')).headers.get('location')).toBe(
    '/console/operations?unreachable=ledger-check',
  );
  expect((await run('clean-up')).status).toBe(404);
});

describe('the audit log', () => {
  test('is read page by page, and an entry is found by its object', async () => {
    const client = await signedIn(admin);
    await harness.owner.query(
      `INSERT INTO audit_log (actor, action, object, object_id)
       SELECT 'listed', 'x.y', 'thing', 'thing_' || n FROM generate_series(1, 30) AS n`,
    );
    const first = await read(client, '/audit-log?by=listed');
    expect(first.match(/thing_\d+/g)).toHaveLength(25);
    const [, next] = /href="([^"]+)" rel="next"/.exec(first)!;
    const second = await read(client, next!.replaceAll('&amp;', '&').replace('/console', ''));
    expect(second.match(/thing_\d+/g)).toEqual([
      'thing_5',
      'thing_4',
      'thing_3',
      'thing_2',
      'thing_1',
    ]);
    expect((await read(client, '/audit-log?object=thing_7')).match(/thing_7</g)).toHaveLength(1);
    expect(await read(client, `/audit-log?action=user.sign_in&by=${admin.email}`)).toContain(
      '127.0.0.1',
    );
  });

  test('shows an owner the account, and not which operator changed it, nor why', async () => {
    const accountId = await harness.createAccount();
    const owner = await makeUser(harness.owner, 'merchant', 'owner', accountId);
    const [client, operator] = [await signedIn(owner), await signedIn(admin)];
    const reason = 'An internal matter';
    for (const name of ['verify', 'suspend', 'reinstate']) {
      await operator.post(`/console/accounts/${accountId}/${name}`, { reason });
    }
    const review = { reason, reviewAll: 'off', rehearse: 'off' };
    await operator.post(`/console/accounts/${accountId}/review`, review);
    const [proposal] = await harness.owner.query<{ id: string }>(
      'SELECT id FROM policy_proposals WHERE account_id = ?',
      [accountId],
    );
    await (await signedIn(second)).post(`/console/proposals/${proposal!.id}/approve`);
    expect(await auditOf(accountId)).toContainEqual(
      expect.objectContaining({ actor: second.email, action: 'review.set' }),
    );
    const page = async (query = '') =>
      textOf(await client.get(`/dashboard/test/audit-log${query}`), 200);
    const html = await page();
    expect(html).toContain('Account suspend');
    expect(html).toContain('User sign in');
    for (const hidden of [admin.email, second.email, reason, 'Review set', 'Policy propose'])
      expect(html).not.toContain(hidden);
    // Not by trying names either.
    expect(await page(`?by=${admin.email}`)).toContain('No entries match');
    expect(await page('?action=review.set')).toContain('No entries match');
    expect(await page(`?account=${await harness.createAccount()}`)).toContain('Account suspend');
  });
});
