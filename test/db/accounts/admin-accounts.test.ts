/** Accounts and cases, by the admin command. */
import { openCase } from '../../../src/db/cases/cases';
import { Admin, auditRows } from '../admin-harness';
import { bearer, errorOf, startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let admin: Admin;

beforeAll(async () => {
  admin = new Admin(harness.database.adminUrl);
});

describe('accounts', () => {
  test('a new one is active, not verified, and every live payout of it waits', async () => {
    const account = await admin.json('accounts', 'create', '--name', ' Example Shop ');
    expect(account).toMatchObject({
      id: expect.stringMatching(/^acc_/),
      name: 'Example Shop',
      status: 'active',
      verified_at: null,
      review_all: true,
      rehearse_review: false,
    });
    const shown = await admin.json('accounts', 'show', account.id);
    expect(shown).toEqual({ ...account, working_keys: 0, balances: [] });
    expect(await auditRows(harness.owner, account.id)).toMatchObject([
      { action: 'account.create', before: null, after: account },
    ]);
  });

  test('the list is newest first, and says when there are more', async () => {
    const [older, newer] = [
      await admin.json('accounts', 'create', '--name', 'Older'),
      await admin.json('accounts', 'create', '--name', 'Newer'),
    ];
    const two = await admin.json('accounts', 'list', '--limit', '2');
    expect(two.data).toEqual([newer, older]);
    expect(two.has_more).toBe(true);
    const all = await admin.json('accounts', 'list');
    expect(all.has_more).toBe(false);
    expect((await admin.run('accounts', 'list', '--limit', '1')).stdout).toMatch(/raise --limit/);
  });

  test('a suspended one gets 403 on the next request, and works again when it is back', async () => {
    const { accountId, secret } = await harness.createKey();
    const getBalance = () => fetch(`${gateway.url}/api/v1/balance`, { headers: bearer(secret) });
    expect((await getBalance()).status).toBe(200);
    await admin.json('accounts', 'suspend', accountId, '--reason', 'dispute', '--by', 'alice');
    const refused = await getBalance();
    expect(refused.status).toBe(403);
    expect(await errorOf(refused)).toMatchObject({ code: 'account_suspended' });
    await admin.json('accounts', 'reinstate', accountId);
    expect((await getBalance()).status).toBe(200);
    expect(await auditRows(harness.owner, accountId)).toMatchObject([
      {
        actor: 'alice',
        action: 'account.suspend',
        before: { status: 'active' },
        after: { status: 'suspended' },
        reason: 'dispute',
      },
      { action: 'account.reinstate', before: { status: 'suspended' }, after: { status: 'active' } },
    ]);
  });

  test('what is so already is refused, and leaves no audit row', async () => {
    const id = await harness.createAccount();
    await admin.json('accounts', 'verify', id);
    await admin.json('accounts', 'suspend', id);
    const before = await auditRows(harness.owner, id);
    expect(await admin.refusal(1, 'accounts', 'verify', id)).toContain(
      'is already verified, since',
    );
    expect(await admin.refusal(1, 'accounts', 'suspend', id)).toContain('is already suspended');
    await admin.json('accounts', 'reinstate', id);
    expect(await admin.refusal(1, 'accounts', 'reinstate', id)).toContain('is not suspended');
    expect(await auditRows(harness.owner, id)).toHaveLength(before.length + 1);
  });

  test.each([
    [2, ['create'], /'--name <TEXT>' not specified/],
    [2, ['create', '--name', '  '], /'--name <TEXT>'.*must not be empty/],
    [2, ['create', '--name', 'x'.repeat(101)], /^error: --name: It has 101 characters/],
    [2, ['suspend'], /^error: The id is missing: .* --account\. `accounts list`/],
    [2, ['show'], /^error: --account is missing/],
    [1, ['verify', 'acc_x'], /acc_x does not exist\. `accounts list`/],
    [2, ['list', '--limit', '0'], /'--limit <N>' argument '0'/],
    [2, ['create', '--name', 'x', '--by', ' '], /'--by <NAME>'.*must not be empty/],
    [2, ['create', '--name', 'x', '--reason', 'a\u0007'], /^error: --reason: .*control characters/],
  ] as const)('end with %i for %j', async (code, args, sentence) => {
    expect(await admin.refusal(code, 'accounts', ...args)).toMatch(sentence);
  });
});

describe('cases', () => {
  const idOf = async (objectId: string): Promise<string> => {
    await openCase(harness.db, 'transfer_mismatch', objectId, { ours: '1', theirs: '2' });
    const open = await admin.list('cases', 'list');
    return open.find(({ object_id }) => object_id === objectId)?.['id'] ?? '';
  };

  test('one is listed, shown, resolved once, and then no longer open', async () => {
    const id = await idOf('po_one');
    const shown = await admin.json('cases', 'show', id);
    expect(shown).toMatchObject({ id, details: { ours: '1', theirs: '2' }, resolved_at: null });
    const resolution = 'The provider had booked it twice';
    const resolved = await admin.json(
      'cases',
      'resolve',
      id,
      '--facts',
      '1',
      '--resolution',
      resolution,
    );
    expect(resolved).toMatchObject({ id, resolution, resolved_at: expect.any(String) });
    const again = ['cases', 'resolve', id, '--facts', '1', '--resolution', 'Something else'];
    expect(await admin.refusal(1, ...again)).toContain('is already resolved');
    expect(await admin.json('cases', 'show', id)).toEqual(resolved);
    const open = await admin.json('cases', 'list');
    expect(open.data).not.toContainEqual(expect.objectContaining({ id }));
    const all = await admin.json('cases', 'list', '--all');
    expect(all.data).toContainEqual(resolved);
    expect(await auditRows(harness.owner, id)).toMatchObject([
      { action: 'case.resolve', before: { resolved_at: null }, after: { resolution } },
    ]);
  });

  test('two at once: one resolves it, the other is told', async () => {
    const id = await idOf('po_two');
    const ended = await Promise.all(
      ['first', 'second'].map((text) =>
        admin.run('cases', 'resolve', id, '--facts', '1', '--resolution', text),
      ),
    );
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(await auditRows(harness.owner, id)).toHaveLength(1);
  });

  test.each([
    [1, ['show', 'case_x'], /case_x does not exist/],
    [1, ['resolve', 'case_x', '--resolution', 'x', '--facts', '1'], /case_x does not exist/],
    [2, ['resolve', 'case_x'], /'--resolution <TEXT>' not specified/],
    [
      2,
      ['resolve', '--resolution', 'x', '--facts', '1'],
      /^error: The id is missing: .* --id\. `cases list`/,
    ],
  ] as const)('end with %i for %j', async (code, args, sentence) => {
    expect(await admin.refusal(code, 'cases', ...args)).toMatch(sentence);
  });
});
