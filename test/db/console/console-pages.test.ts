/** The console's pages of pauses, operations and the audit log over HTTP: what they show, change and record. */
import { noteProviderWallets } from '../../../src/db/operations/provider-wallets';
import { amount } from '../../../src/domain/money';
import { addProviderCalls } from '../../../src/db/operations/provider-calls';
import { LEDGER_INVARIANTS } from '../../../src/db/ledger/ledger-invariants';
import { proveChanges } from '../../../src/db/ledger/ledger-verify';
import { countPositions } from '../../../src/db/books/provider-statements';
import { makeUser, textOf } from '../../support/merchant/page-client';
import { started } from '../../support/started';
import { PROBE, read, startConsoleWorld } from '../console-world';

const world = started(startConsoleWorld);

test('a pause holds with its reason on every page until it is lifted', async () => {
  const [client, accountId] = await Promise.all([
    world.signedIn(world.admin),
    world.harness.createAccount(),
  ]);
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
  await world.harness.owner.query(`DELETE FROM payout_pauses WHERE scope <> 'account'`);
  expect((await pause({ scope: 'account', target: accountId, reason: 'Second' })).status).toBe(303);
  const shown = await read(client, '/pauses');
  const [first, second] = [...shown.matchAll(/name="id" value="(\d+)"/g)].map(([, id]) => id!);
  expect(shown).toMatch(/Lifts the pause of [^<]+<b>Keys leaked/);
  const lift = (id: string) => client.post('/console/pauses/resume', { id, reason: 'Done' });
  expect((await lift(first!)).status).toBe(303);
  expect(await read(client, '/pauses')).toContain('Second');
  expect(await textOf(await lift(first!), 409)).toContain('There is no pause');
  await world.harness.owner.query('DELETE FROM payout_pauses WHERE id = ?', [second!]);
  expect(await read(client, '/pauses')).toContain('Nothing is paused');
  expect((await world.auditOf(accountId)).map(({ action, reason: why }) => [action, why])).toEqual([
    ['payouts.resume', 'Done'],
    ['payouts.pause', 'Second'],
    ['payouts.pause', reason],
  ]);
});

test('operations show statements, positions, the ledger check and the waiting deliveries', async () => {
  const [client, accountId] = await Promise.all([
    world.signedIn(world.admin),
    world.harness.createAccount(),
  ]);
  await world.harness.owner.query(
    `INSERT INTO provider_statements (provider, mode, kind, read_at, trouble)
     VALUES ('exchange_pay', 'live', 'payouts', now() - interval '1 day', ?)`,
    [PROBE],
  );
  await world.harness.owner.query(
    `INSERT INTO provider_entries (provider, mode, kind, reference, id, amount, currency, state,
                                   held, changed_at, read_at)
     SELECT 'exchange_pay', 'live', kind, kind, kind, amount, 'XRP', 'done', false, now(), now()
       FROM (VALUES ('payin', 100), ('refund', 10), ('payout', 20.5)) AS entry(kind, amount)`,
  );
  await world.harness.owner.query(
    `INSERT INTO balances (account_id, mode, currency, available, reserved, version, last_posted_at)
     VALUES (?, 'live', 'XRP', 60, 5, 1, now())`,
    [accountId],
  );
  await countPositions(world.harness.owner);
  await world.harness.owner.query(
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
  await proveChanges(world.harness.owner, { timeoutMs: 60_000 });
  const file = await client.get(`/console${proof}`);
  expect(file.headers.get('content-disposition')).toMatch(
    /^attachment; filename="ledger-proof-.*\.json"$/,
  );
  // The balance above has no postings.
  expect(await file.json()).toMatchObject({
    object: 'ledger_proof',
    result: 'failed',
    downloaded_by: world.admin.email,
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
  expect(html).toContain('/workflows?query=TemporalScheduledById%20IS%20NULL');
  const home = await read(client, '/home');
  expect(home).toMatch(/<b>1<\/b> provider statement was not read/);
  expect(home).toMatch(/<b>1<\/b> webhook endpoint has 200 or more waiting deliveries/);
  // Two processes called it in the same minute.
  const called = { provider: 'exchange_pay', mode: 'live', limited: 1, totalMs: 9_000 } as const;
  for (const failed of [2, 3]) {
    const counts = [{ ...called, calls: 5, failed, slowestMs: failed * 1_000 }];
    await addProviderCalls(world.harness.owner, counts);
  }
  expect(await read(client, '/operations')).toMatch(
    /Failing.*>10<.*>5<.*>2<.*1800 ms.*3000 ms.*Temporal does not answer/s,
  );
  const { owner } = world.harness;
  await noteProviderWallets(owner, { provider: 'exchange_pay', mode: 'live' }, []);
  const [balance, minimum] = [amount('0.4'), amount('0.5')];
  await noteProviderWallets(owner, { provider: 'onchain_provider', mode: 'live' }, [
    { network: 'base', address: '0xhot', asset: 'ETH', balance, minimum, paysFees: true },
  ]);
  expect(await read(client, '/operations')).toMatch(
    /Exchange Pay.*Not reported.*Base.*0xhot.*0\.40000000.*network fees.*0\.50000000.*Low/s,
  );
  expect(await read(client, '/home')).toContain('5 of 10 live requests to Exchange Pay failed');
  // No provider is enabled here, and no Temporal is there.
  expect(await read(client, '/operations?check=providers')).toContain('No provider is enabled');
  const run = (schedule: string) => client.post('/console/operations/run', { schedule });
  const after = (await run('ledger-check')).headers.get('location') ?? '';
  expect(after).toMatch(/^\/console\/operations\?unreachable=\d+$/);
  expect(await read(client, after.slice('/console'.length))).toContain('did not start the run');
  // Whoever opens the address later reads what is.
  expect(await read(client, '/operations?unreachable=1')).not.toContain('did not start the run');
  expect((await run('clean-up')).status).toBe(404);
});

describe('the audit log', () => {
  test('is read page by page, and an entry is found by its object', async () => {
    const client = await world.signedIn(world.admin);
    await world.harness.owner.query(
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
    expect(await read(client, `/audit-log?action=user.sign_in&by=${world.admin.email}`)).toContain(
      '127.0.0.1',
    );
  });

  test('shows an owner the account, and not which operator changed it, nor why', async () => {
    const accountId = await world.harness.createAccount();
    const owner = await makeUser(world.harness.owner, 'merchant', 'owner', accountId);
    const [client, operator] = [await world.signedIn(owner), await world.signedIn(world.admin)];
    const reason = 'An internal matter';
    for (const name of ['verify', 'suspend', 'reinstate']) {
      await operator.post(`/console/accounts/${accountId}/${name}`, { reason });
    }
    const review = { reason, reviewAll: 'off', rehearse: 'off' };
    await operator.post(`/console/accounts/${accountId}/review`, review);
    const [proposal] = await world.harness.owner.query<{ id: string }>(
      'SELECT id FROM policy_proposals WHERE account_id = ?',
      [accountId],
    );
    await (await world.signedIn(world.second)).post(`/console/proposals/${proposal!.id}/approve`);
    expect(await world.auditOf(accountId)).toContainEqual(
      expect.objectContaining({ actor: world.second.email, action: 'review.set' }),
    );
    const page = async (query = '') =>
      textOf(await client.get(`/dashboard/test/audit-log${query}`), 200);
    const html = await page();
    expect(html).toContain('Account suspend');
    expect(html).toContain('User sign in');
    for (const hidden of [
      world.admin.email,
      world.second.email,
      reason,
      'Review set',
      'Policy propose',
    ])
      expect(html).not.toContain(hidden);
    // Not by trying names either.
    expect(await page(`?by=${world.admin.email}`)).toContain('No entries match');
    expect(await page('?action=review.set')).toContain('No entries match');
    expect(await page(`?account=${await world.harness.createAccount()}`)).toContain(
      'Account suspend',
    );
  });
});
