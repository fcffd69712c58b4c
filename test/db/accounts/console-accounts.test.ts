/** The console's pages of accounts over HTTP, and the changes that a second admin approves. */
import { setLimits } from '../../../src/features/accounts/limits';
import {
  ageSignIn,
  makeUser,
  type PageClient,
  type TestUser,
  textOf,
} from '../../support/merchant/page-client';
import { started } from '../../support/started';
import { PROBE, read, startConsoleWorld } from '../console-world';

const world = started(startConsoleWorld);

const PROPOSAL_ENDED = 'This change was already decided, was replaced or has expired.';
const PROPOSAL_OUTDATED = 'What is in force has changed since';

test('an admin creates an account on a page, with a reason', async () => {
  const [admin, reviewer] = await Promise.all([
    world.signedIn(world.admin),
    world.signedIn(world.reviewer),
  ]);
  const create = (client: PageClient, fields: Record<string, string>) =>
    client.post('/console/accounts/new', fields);
  expect(await read(admin, '/accounts')).toContain('/console/accounts/new');
  expect(await read(reviewer, '/accounts')).not.toContain('/console/accounts/new');
  const wish = { name: `Shop ${PROBE}`, reason: 'Contract signed' };
  expect((await create(reviewer, wish)).status).toBe(403);
  expect(await textOf(await create(admin, { ...wish, reason: '' }), 422)).toContain('reason');
  const path = (await create(admin, wish)).headers.get('location') ?? '';
  const [, id = ''] = /^\/console\/accounts\/(acc_\w+)$/.exec(path) ?? [];
  expect(await read(admin, `/accounts/${id}`)).toContain('No: no live keys');
  expect(await world.auditOf(id)).toMatchObject([
    { action: 'account.create', via: 'console', reason: wish.reason, actor: world.admin.email },
  ]);
});

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
    world.harness.owner.query<{ id: string; outcome: string | null }>(
      'SELECT id, outcome FROM policy_proposals WHERE account_id = ? ORDER BY created_at',
      [accountId],
    );
  const dailyMaxOf = async (accountId: string) => {
    const sql = 'SELECT daily_max FROM payout_policies WHERE account_id = ?';
    const [policy] = await world.harness.owner.query<{ dailyMax: string }>(sql, [accountId]);
    return policy?.dailyMax ?? null;
  };

  test('one of two who approve at once applies it, and a rejected change applies never', async () => {
    const accountId = await world.harness.createAccount();
    const [client, other] = await Promise.all([
      world.signedIn(world.admin),
      world.signedIn(world.second),
    ]);
    const propose = (daily: string) =>
      client.post(`/console/accounts/${accountId}/limits`, limits(daily));
    await propose('400');
    // It takes the place of the first one.
    await propose('500');
    const [replaced, open] = await proposalsOf(accountId);
    expect([replaced!.outcome, open!.outcome]).toEqual(['replaced', null]);
    const approve = (id: string) => other.post(`/console/proposals/${id}/approve`);
    expect(await textOf(await approve(replaced!.id), 409)).toContain(PROPOSAL_ENDED);
    await ageSignIn(world.harness.owner, world.second);
    const asked = await approve(open!.id);
    expect(asked.headers.get('location')).toMatch('/console/confirm');
    expect(await dailyMaxOf(accountId)).toBeNull();
    await other.confirm(world.second, asked);
    const answers = await Promise.all([approve(open!.id), approve(open!.id)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    expect(await dailyMaxOf(accountId)).toBe('500.00000000');
    const set = await world.harness.owner.query(
      `SELECT actor, after->>'proposed_by' AS proposed_by FROM audit_log
        WHERE account_id = ? AND action = 'limits.set'`,
      [accountId],
    );
    expect(set).toEqual([{ actor: world.second.email, proposedBy: world.admin.email }]);

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
          world.harness.owner,
          { actor: 'shell', reason: null },
          { accountId: id, currency: 'USDT' },
          { perTransaction: '7' },
        ),
    ],
    [
      'it has expired',
      PROPOSAL_ENDED,
      (id: string) =>
        world.harness.owner.query(
          'UPDATE policy_proposals SET expires_at = now() WHERE account_id = ?',
          [id],
        ),
    ],
    [
      'who proposed it is no longer an admin',
      PROPOSAL_OUTDATED,
      () =>
        world.harness.owner.query(`UPDATE users SET operator_role = 'viewer' WHERE id = ?`, [
          proposer.id,
        ]),
    ],
    [
      'the one who approves was raised by the one who proposed it',
      'This approval does not count',
      () =>
        world.harness.owner.query(
          `INSERT INTO audit_log (actor, action, object, object_id, after)
           VALUES ('test', 'user.change_role', 'user', ?, jsonb_build_object('proposed_by', ?::text))`,
          [world.second.id, proposer.email],
        ),
    ],
  ])('a proposal is not approved when %s', async (_, said, happens) => {
    const accountId = await world.harness.createAccount();
    proposer = await makeUser(world.harness.owner, 'operator', 'admin');
    const [client, other] = await Promise.all([
      world.signedIn(proposer),
      world.signedIn(world.second),
    ]);
    await client.post(`/console/accounts/${accountId}/limits`, limits('500'));
    const [open] = await proposalsOf(accountId);
    await happens(accountId);
    const refused = await other.post(`/console/proposals/${open!.id}/approve`);
    expect(await textOf(refused, 409)).toContain(said);
    expect(await dailyMaxOf(accountId)).not.toBe('500.00000000');
    // Nor by the programs: the database refuses one person.
    const byOne = `UPDATE policy_proposals SET outcome = 'approved', decided_by = upper(proposed_by),
                     decided_at = now() WHERE id = ?`;
    await expect(world.harness.owner.query(byOne, [open!.id])).rejects.toThrow('check constraint');
  });
  test('an amount for two approvals is proposed by one admin and approved by another', async () => {
    const [client, other] = await Promise.all([
      world.signedIn(world.admin),
      world.signedIn(world.second),
    ]);
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
    await world.harness.owner.query(`DELETE FROM four_eyes_thresholds WHERE currency = 'XRP'`);
  });

  test('the only admin reads what to do', async () => {
    const client = await world.signedIn(world.admin);
    const accountId = await world.harness.createAccount();
    const others = `UPDATE users SET disabled_at = ?::timestamptz WHERE id <> ?
      AND operator_role = 'admin'`;
    await world.harness.owner.query(others, ['2026-01-01T00:00:00Z', world.admin.id]);
    const html = await read(client, `/accounts/${accountId}/limits?currency=USDT`);
    await world.harness.owner.query(others, [null, world.admin.id]);
    expect(html).toContain('You are the only admin');
    expect(html).toContain(`npm run -s admin -- limits set --account ${accountId}`);
  });
});

const ALREADY_SO = 'These values are already in force.';

describe('accounts', () => {
  test('are found, changed with a reason, and show who changed what', async () => {
    const [client, accountId] = await Promise.all([
      world.signedIn(world.admin),
      world.harness.createAccount(),
    ]);
    await world.harness.owner.query('UPDATE accounts SET name = ? WHERE id = ?', [
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
    await ageSignIn(world.harness.owner, world.admin);
    for (const name of ['review', 'limits', 'fees', 'fees-end']) {
      const asked = `/console/confirm?next=${encodeURIComponent(`/console${path}/${name}`)}`;
      const opened = await client.get(`/console${path}/${name}`);
      expect(opened.headers.get('location')).toBe(asked);
      const sent = await client.post(`/console${path}/${name}`, { reason, rehearse: 'on' });
      expect(sent.headers.get('location')).toBe(asked);
    }
    const again = await client.post(`/console${path}/review`, { reason, rehearse: 'on' });
    expect(await read(client, path)).not.toContain('Rehearse review');
    expect(await client.confirm(world.admin, again)).toBe(`/console${path}/review`);
    const form = await read(client, `${path}/review`);
    expect(form).toContain('value="Register of May');
    expect(form).toMatch(/<option value="on" selected>All wait for review<\/option><\/select>/);
    // Limits, fees and review wait for another admin.
    const other = await world.signedIn(world.second);
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

    const [account] = await world.harness.owner.query(
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
    const log = await read(
      client,
      `/audit-log?account=${accountId}&by=${world.admin.email}&via=console`,
    );
    expect(log.match(/Register of May/g)).toHaveLength(7);
    expect(await read(client, `/audit-log?account=${accountId}&via=admin`)).toContain(
      'No entries match',
    );
  });
});
