/** What operators are told: cases, alarms and balances of providers, payouts that wait for long, pauses. */
import { noteAlarms } from '../../../activities/provider-alarms';
import { openCase } from '../../../src/db/cases/cases';
import { listProviderAlarms, noteProviderAlarms } from '../../../src/db/cases/provider-alarms';
import { listProviderWallets } from '../../../src/db/operations/provider-wallets';
import type { Mode } from '../../../src/domain/mode';
import { createProviders } from '../../../src/adapters/providers/registry';
import { newId } from '../../../src/platform/lib/new-id';
import { pausePayouts } from '../../../src/features/accounts/payout-pauses';
import { makeUser } from '../../support/merchant/page-client';
import { buildPayoutMoney, insertPayout, makeAccount } from '../../support/merchant/ledger';
import { startHttpServer } from '../../support/servers/sandbox';
import { startedNotifications } from './notifications-world';

const world = startedNotifications();

test('operators are told of cases and of a ledger that was not checked, merchants are not', async () => {
  await world.newOwner();
  const operator = await makeUser(world.owner, 'operator', 'admin');
  await openCase(world.worker, 'unknown_transfer', 'tx_1', { amount: '1' });
  await openCase(world.worker, 'ledger_not_checked', 'ledger', { problem: 'late' });
  // It is open already.
  await openCase(world.worker, 'ledger_not_checked', 'ledger', { problem: 'late' });
  await world.deliver();
  expect(world.server.mails.map(({ to }) => to)).toEqual([[operator.email], [operator.email]]);
  const subjects = world.server.mails.map(({ source }) =>
    /^Subject: (.*)$/m.exec(source)![1]!.trim(),
  );
  expect(subjects.sort()).toEqual(['A case was opened', 'The ledger check failed']);
});

test('operators are told of each alarm of a provider once, and again when it comes back', async () => {
  const operator = await makeUser(world.owner, 'operator', 'viewer');
  const told = () => world.server.mails.filter(({ to }) => to.includes(operator.email));
  const alarm = (id: string, detail: string) => ({
    ...{ id, kind: 'signer_stopped', network: 'polygon', subject: '0xabc', detail },
    raisedAt: new Date('2026-11-01T00:00:00Z'),
  });
  const answer = async (mode: Mode, ...alarms: ReturnType<typeof alarm>[]) => {
    await noteProviderAlarms(world.worker, { provider: 'onchain_provider', mode }, alarms);
    await world.deliver();
    return told().length;
  };
  expect(await answer('live', alarm('1', 'Nonce 4 is used.'))).toBe(1);
  expect(told()[0]!.source).toContain('signer_stopped on polygon (live mode)');
  expect(told()[0]!.source).toContain('https://ops.example/console/operations');
  // The page has the details; a mail has none.
  expect(told()[0]!.source).not.toContain('Nonce 4');
  expect(await answer('live', alarm('1', 'Nonces 4 and 5 are used.'))).toBe(1);
  expect(await listProviderAlarms(world.owner)).toMatchObject([
    { detail: 'Nonces 4 and 5 are used.' },
  ]);
  expect(await answer('test')).toBe(1);
  expect(await listProviderAlarms(world.owner)).toHaveLength(1);
  expect(await answer('live')).toBe(1);
  expect(await listProviderAlarms(world.owner)).toEqual([]);
  expect(await answer('live', alarm('2', 'Nonce 6 is used.'))).toBe(2);
  // A wallet whose database was restored gives an id again, here while the gateway knows the earlier alarm.
  const reused = { ...alarm('2', 'The database is old.'), kind: 'follower_stalled' };
  const later = { ...reused, raisedAt: new Date('2026-11-02T00:00:00Z') };
  expect(await answer('live', later)).toBe(3);
  expect(await listProviderAlarms(world.owner)).toMatchObject([{ kind: 'follower_stalled' }]);
});

test('a live payout that waits for review or is in doubt for long is told to operators, once', async () => {
  const reviewer = await makeUser(world.owner, 'operator', 'reviewer');
  const viewer = await makeUser(world.owner, 'operator', 'viewer');
  const account = await makeAccount(world.owner);
  const late = async (mode: 'live' | 'test', change: string) => {
    const key = { accountId: account, mode, currency: 'USDT' } as const;
    const payout = { ...buildPayoutMoney('4'), id: newId('payout') };
    await insertPayout(world.owner, key, payout, 'under_review');
    await world.owner.query(`UPDATE payouts SET ${change} WHERE id = ?`, [payout.id]);
    return payout.id;
  };
  const review = await late('live', `created_at = now() - interval '61 minutes'`);
  await late('live', `created_at = now() - interval '59 minutes'`);
  await late('test', `created_at = now() - interval '61 minutes'`);
  const doubt = await late(
    'live',
    `status = 'processing', in_doubt_since = now() - interval '16 minutes'`,
  );
  await late('live', `status = 'processing', in_doubt_since = now() - interval '14 minutes'`);
  await world.deliver();
  await world.deliver();
  const own = world.server.mails.filter(({ to }) => to.includes(reviewer.email));
  const ids = own.map(({ source }) => /console\/payouts\/(po_\w+)/.exec(source)?.[1]);
  expect(ids.sort()).toEqual([review, doubt].sort());
  expect(world.server.mails.filter(({ to }) => to.includes(viewer.email))).toEqual([]);
});

test('a pause of payouts is told to the operators', async () => {
  const operator = await makeUser(world.owner, 'operator', 'viewer');
  const by = { actor: 'alice@example.com', reason: 'maintenance' };
  const everything = { scope: 'global', target: '', mode: null } as const;
  await pausePayouts.make(world.owner, by, everything, { reason: by.reason });
  await world.deliver();
  const own = world.server.mails.filter(({ to }) => to.includes(operator.email));
  expect(own).toHaveLength(1);
  expect(own[0]!.source).toContain('https://ops.example/console/pauses');
});

test('while one of two programs of a provider is silent, its alarms stay, and those of the other change', async () => {
  const answers: Record<string, string[] | null> = { main: ['1'], tron: ['1'] };
  const programs = await Promise.all(
    Object.keys(answers).map((name) =>
      startHttpServer((_request, response) => {
        const ids = answers[name] ?? null;
        const alarms = ids?.map((id) => ({
          ...{ object: 'alarm', id, kind: `${name}_${id}`, network: 'tron', subject: 's' },
          ...{ detail: 'd', raised_at: '2026-11-01T00:00:00.000Z' },
        }));
        response.writeHead(alarms === undefined ? 503 : 200, {
          'content-type': 'application/json',
        });
        response.end(JSON.stringify({ alarms, unknown_transactions: [] }));
      }),
    ),
  );
  const [main, tron] = programs.map(({ url }) => url);
  const secrets = { apiKey: 'key', callbackSecret: 'secret' };
  const providers = createProviders({
    onchain_provider: {
      live: null,
      test: {
        ...{ ...secrets, baseUrl: main!, timeoutMs: 2_000 },
        programs: [{ ...secrets, baseUrl: tron!, networks: ['tron'] }],
      },
    },
    exchange_pay: { test: null, live: null },
  });
  const noted = async (next: Partial<typeof answers> = {}) => {
    Object.assign(answers, next);
    await noteAlarms({ db: world.worker, providers });
    return (await listProviderAlarms(world.owner)).map(({ kind }) => kind).sort();
  };
  expect(await noted()).toEqual(['main_1', 'tron_1']);
  expect(await noted({ tron: null, main: ['2'] })).toEqual(['main_2', 'tron_1']);
  expect(await noted({ tron: [], main: null })).toEqual(['main_2']);
  expect(await noted({ tron: null })).toEqual(['main_2']);
  expect(await noted({ tron: [], main: [] })).toEqual([]);
  await Promise.all([...programs.map(({ stop }) => stop()), providers.close()]);
});

test('balances of a provider stay while it is silent, and are none when it does not report them', async () => {
  const wallet = {
    ...{ object: 'wallet', network: 'base', address: '0xa', asset: 'ETH', balance: '1.5' },
    ...{ minimum: null, pays_fees: true },
  };
  let answer: [status: number, body: object] = [200, { wallets: [wallet] }];
  const program = await startHttpServer((request, response) => {
    const [status, body] = request.url?.includes('/wallets') === true ? answer : [503, {}];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  const own = { apiKey: 'key', callbackSecret: 'secret', baseUrl: program.url, timeoutMs: 2_000 };
  const providers = createProviders({
    onchain_provider: { live: null, test: own },
    exchange_pay: { test: null, live: null },
  });
  const noted = async (...next: typeof answer) => {
    answer = next;
    await noteAlarms({ db: world.worker, providers });
    return (await listProviderWallets(world.owner)).map(({ mode, wallets }) => ({ mode, wallets }));
  };
  const { object: _object, pays_fees: paysFees, ...told } = wallet;
  const stored = [{ mode: 'test', wallets: [{ ...told, paysFees, balance: '1.50000000' }] }];
  expect(await noted(...answer)).toEqual(stored);
  expect(await noted(503, {})).toEqual(stored);
  // A number may have lost digits.
  expect(await noted(200, { wallets: [{ ...wallet, balance: 1.5 }] })).toEqual(stored);
  expect(await noted(404, {})).toEqual([{ mode: 'test', wallets: [] }]);
  await Promise.all([program.stop(), providers.close()]);
});
