/** Who may use which page of the dashboard and the console, and see which objects on it. */
import { createConsole } from '../../../src/shell/console/console';
import { createDashboard } from '../../../src/shell/dashboard/dashboard';
import { MERCHANT_ROLES, OPERATOR_ROLES } from '../../../src/domain/users';
import { buildPayoutMoney, insertPayment, insertPayout } from '../../support/merchant/ledger';
import { makeUser, PageClient, type TestUser } from '../../support/merchant/page-client';
import { PUBLIC_URL, startHarness } from '../http-harness';
import { scaled } from '../../support/scale';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let accountId: string;
let owner: TestUser;

beforeAll(async () => {
  accountId = await harness.createAccount();
  owner = await makeUser(harness.owner, 'merchant', 'owner', accountId);
});

const newClient = () => new PageClient(gateway.url);

/** The routes of both sites for every role. */
const OWN_PAGES = [
  'get /confirm',
  'post /confirm',
  'post /confirm/passkey',
  'get /security',
  'post /security/totp/start',
  'get /security/totp',
  'post /security/totp',
  'post /security/totp/remove',
  'get /security/recovery-codes',
  'post /security/recovery-codes',
  'get /security/passkeys/new',
  'get /security/password',
  'post /security/password',
  'post /security/passkeys/new',
  'post /security/passkeys/:id/remove',
  'get /sessions',
  'post /sessions/:id/end',
  'get /notifications',
  'post /notifications',
  'get /people',
];

/** The routes of both sites for owners and admins. */
const PEOPLE_PAGES = [
  'get /people/invite',
  'post /people/invite',
  'get /people/invited',
  'post /people/invitations/:id/revoke',
  'post /people/invitations/:id/send',
  'post /people/:id/role',
  'post /people/:id/remove',
  'post /people/second-factor',
];

/** Who may use a route of the dashboard, by the first letter of the role; in test mode and in live mode. */
const DASHBOARD: Record<string, [test: string, live: string]> = {
  'get /': ['OFDSV', 'OFDSV'],
  'post /first-steps/hide': ['OFDSV', 'OFDSV'],
  'get /balances/:id': ['OFDSV', 'OFDSV'],
  'get /payments': ['OFDSV', 'OFDSV'],
  'get /payment-links': ['OFDSV', 'OFDSV'],
  'get /payment-links/:id': ['OFDSV', 'OFDSV'],
  'post /payment-links/:id/close': ['OFD', 'OFD'],
  'get /payment-links/new': ['OFD', 'OFD'],
  'post /payment-links/new': ['OFD', 'OFD'],
  'get /logo': ['O', 'O'],
  'post /logo': ['O', 'O'],
  'post /logo/remove': ['O', 'O'],
  'get /payments/:id': ['OFDSV', 'OFDSV'],
  'post /payments/:id/cancel': ['OFD', 'OFD'],
  'get /payments/:id/refund': ['OFD', 'OF'],
  'post /payments/:id/refund': ['OFD', 'OF'],
  'get /refunds': ['OFDSV', 'OFDSV'],
  'get /refunds/:id': ['OFDSV', 'OFDSV'],
  'get /batches': ['OFDSV', 'OFDSV'],
  'get /batches/new': ['OFD', 'OF'],
  'get /batches/template.csv': ['OFD', 'OF'],
  'post /batches/new': ['OFD', 'OF'],
  'post /batches/faults.csv': ['OFD', 'OF'],
  'post /batches/create': ['OFD', 'OF'],
  'get /batches/:id': ['OFDSV', 'OFDSV'],
  'get /batches/:id/proof.csv': ['OFDSV', 'OFDSV'],
  'get /batches/:id/proof.json': ['OFDSV', 'OFDSV'],
  'post /batches/:id/stop': ['OFD', 'OF'],
  'post /batches/:id/leave_out': ['OFD', 'OF'],
  'get /schedules': ['OFDSV', 'OFDSV'],
  'get /schedules/new': ['OFD', 'OF'],
  'post /schedules/new': ['OFD', 'OF'],
  'post /schedules/create': ['OFD', 'OF'],
  'get /schedules/:id': ['OFDSV', 'OFDSV'],
  'post /schedules/:id/pause': ['OFD', 'OF'],
  'post /schedules/:id/resume': ['OFD', 'OF'],
  'post /schedules/:id/end': ['OFD', 'OF'],
  'get /payouts': ['OFDSV', 'OFDSV'],
  'get /payouts/new': ['OFD', 'OF'],
  'post /payouts/new': ['OFD', 'OF'],
  'get /payouts/:id': ['OFDSV', 'OFDSV'],
  'get /payouts/:id/dossier.json': ['OFDSV', 'OFDSV'],
  'post /payouts/:id/cancel': ['OFD', 'OF'],
  'get /recipients': ['OFDSV', 'OFDSV'],
  'get /recipients/new': ['OFD', 'OF'],
  'post /recipients/new': ['OFD', 'OF'],
  'get /recipients/template.csv': ['OFD', 'OF'],
  'get /recipients/import': ['OFD', 'OF'],
  'post /recipients/import': ['OFD', 'OF'],
  'get /recipients/rules': ['O', 'O'],
  'post /recipients/rules': ['O', 'O'],
  'get /recipients/:id': ['OFDSV', 'OFDSV'],
  'get /recipients/:id/edit': ['OFD', 'OF'],
  'post /recipients/:id/edit': ['OFD', 'OF'],
  'post /recipients/:id/delete': ['OFD', 'OF'],
  'get /approvals': ['OFDSV', 'OFDSV'],
  'get /low-balances': ['OF', 'OF'],
  'post /low-balances': ['OF', 'OF'],
  'get /chats': ['OD', 'O'],
  'post /chats': ['OD', 'O'],
  'get /chats/:id': ['OD', 'O'],
  'post /chats/:id': ['OD', 'O'],
  'post /chats/:id/test': ['OD', 'O'],
  'post /chats/:id/remove': ['OD', 'O'],
  'get /second-person': ['O', 'O'],
  'post /second-person': ['O', 'O'],
  'post /second-person/:id/approve': ['OF', 'OF'],
  'post /second-person/:id/decline': ['OF', 'OF'],
  'post /refunds/:id/withdraw': ['OFD', 'OF'],
  'post /refunds/:id/link': ['OFD', 'OF'],
  'get /transactions': ['OFDSV', 'OFDSV'],
  'get /transactions/export': ['OFDSV', 'OFDSV'],
  'get /statements': ['OFDSV', 'OFDSV'],
  'get /statements/file.pdf': ['OFDSV', 'OFDSV'],
  'get /exports': ['OFDSV', 'OFDSV'],
  'get /exports/file': ['OFDSV', 'OFDSV'],
  'get /reconcile': ['OFDSV', 'OFDSV'],
  'post /reconcile': ['OFDSV', 'OFDSV'],
  'post /reconcile/result.csv': ['OFDSV', 'OFDSV'],
  'get /bookkeeping': ['OF', 'OF'],
  'post /bookkeeping': ['OF', 'OF'],
  'get /keys': ['OFDSV', 'OFDSV'],
  'get /keys/new': ['OD', 'O'],
  'post /keys/new': ['OD', 'O'],
  'post /keys/by-api': ['O', 'O'],
  'get /keys/:id': ['OFDSV', 'OFDSV'],
  'get /keys/:id/edit': ['OD', 'O'],
  'post /keys/:id/edit': ['OD', 'O'],
  'get /keys/:id/limits': ['OD', 'O'],
  'post /keys/:id/limits': ['OD', 'O'],
  'post /keys/:id/rotate': ['OD', 'O'],
  'post /keys/:id/revoke': ['OD', 'O'],
  'get /webhooks/debugger': ['OFDSV', 'OFDSV'],
  'post /webhooks/debugger': ['OFDSV', 'OFDSV'],
  'get /webhooks/deliveries/:id': ['OFDSV', 'OFDSV'],
  'post /webhooks/deliveries/:id/retry': ['ODS', 'ODS'],
  'get /webhooks': ['OFDSV', 'OFDSV'],
  'get /webhooks/new': ['OD', 'O'],
  'post /webhooks/new': ['OD', 'O'],
  'get /webhooks/:id': ['OFDSV', 'OFDSV'],
  'post /webhooks/:id/ping': ['ODS', 'ODS'],
  'get /webhooks/:id/edit': ['OD', 'O'],
  'post /webhooks/:id/edit': ['OD', 'O'],
  'get /webhooks/:id/test': ['ODS', 'ODS'],
  'post /webhooks/:id/test': ['ODS', 'ODS'],
  'post /webhooks/:id/real-event': ['OFD', 'OFD'],
  'post /webhooks/:id/recover': ['ODS', 'ODS'],
  'post /webhooks/:id/replay': ['ODS', 'ODS'],
  'post /webhooks/:id/roll': ['OD', 'O'],
  'post /webhooks/:id/enable': ['OD', 'O'],
  'post /webhooks/:id/disable': ['OD', 'O'],
  'post /webhooks/:id/delete': ['OD', 'O'],
  'get /requests': ['OFDSV', 'OFDSV'],
  'get /requests/:id': ['OFDSV', 'OFDSV'],
  'get /search': ['OFDSV', 'OFDSV'],
  'get /audit-log': ['O', 'O'],
};

/** Past the role: what a form without fields, or an object that does not exist, is answered with. */
const answerOf = (route: string): number =>
  ANSWERS.find(([, routes]) => routes.includes(route))?.[0] ??
  (route.includes('/:id') ? 404 : route.startsWith('get') ? 200 : 422);

const ANSWERS: [number, string[]][] = [
  [200, ['get /accounts/:id/schedules', 'post /webhooks/debugger']],
  [
    303,
    [
      'get /people/invited',
      'get /security/recovery-codes',
      'get /statements/file.pdf',
      ...['first-steps/hide', 'keys/by-api', 'logo/remove', 'low-balances', 'notifications'].map(
        (form) => `post /${form}`,
      ),
      ...['second-person', 'payouts/filters/remove', 'people/second-factor', 'queue/approve'].map(
        (form) => `post /${form}`,
      ),
      ...['recovery-codes', 'totp/remove', 'totp/start'].map((form) => `post /security/${form}`),
    ],
  ],
  [401, ['post /confirm', 'post /confirm/passkey']],
  [404, ['get /audit-log/head.json', 'get /operations/ledger-proof', 'post /operations/run']],
  [
    409,
    [
      'post /four-eyes/withdraw',
      'post /people/:id/role/approve',
      'post /proposals/:id/approve',
      'post /proposals/:id/reject',
    ],
  ],
  [422, ['post /people/:id/role']],
];

/**
 * Every role asks for every page of the test mode. In live mode, whose pages have the same code, the roles whose rights
 * differ most do by day, and all of them at night.
 */
const LIVE_ROLES: readonly string[] = scaled(['developer', 'viewer'], [...MERCHANT_ROLES]);

test('every route of the dashboard is for the roles that are written down, and no other', async () => {
  const parts = { services: {}, users: {}, once: {}, host: null, publicUrl: PUBLIC_URL } as never;
  const routes = createDashboard(parts).routes.filter(({ path }) => path.startsWith('/:mode'));
  const nameOf = ({ method, path }: { method: string; path: string }) =>
    `${method} ${path.slice('/:mode'.length) || '/'}`;
  expect(routes.map(nameOf).sort()).toEqual(Object.keys(DASHBOARD).sort());
  const found = Object.fromEntries(routes.map((route) => [nameOf(route), ['', ''] as string[]]));
  for (const role of MERCHANT_ROLES) {
    const client = newClient();
    // An account of its own, because the requests of an account are limited.
    const own = await harness.createAccount();
    await client.signIn(await makeUser(harness.owner, 'merchant', role, own));
    for (const route of routes) {
      for (const [index, mode] of ['test', 'live'].entries()) {
        if (mode === 'live' && !LIVE_ROLES.includes(role)) continue;
        const path = `/dashboard${route.path.replace(':mode', mode).replace(':id', 'none')}`;
        const { status } = await client[route.method](path);
        if (status !== 403)
          expect([nameOf(route), status]).toEqual([nameOf(route), answerOf(nameOf(route))]);
        const letter = role.charAt(0).toUpperCase();
        const roles = found[nameOf(route)]!;
        if (status !== 403) roles[index] = `${roles[index] ?? ''}${letter}`;
      }
    }
  }
  const asked = LIVE_ROLES.map((role) => role.charAt(0).toUpperCase());
  const expected = Object.entries(DASHBOARD).map(([route, [test, live]]) => [
    route,
    [
      test,
      Array.from(live)
        .filter((letter) => asked.includes(letter))
        .join(''),
    ],
  ]);
  expect(found).toEqual(Object.fromEntries(expected));
});

/** Who may use a route of the console: A admin, R reviewer, V viewer. */
const CONSOLE: Record<string, string> = {
  'get /home': 'ARV',
  'get /search': 'ARV',
  'get /queue': 'ARV',
  'get /queue/selection': 'AR',
  'post /queue/approve': 'AR',
  'post /queue/reject': 'AR',
  'get /queue/decided': 'ARV',
  'get /batches': 'ARV',
  'get /batches/:id': 'ARV',
  'post /batches/:id/approve': 'AR',
  'post /batches/:id/reject': 'AR',
  'post /batches/:id/stop': 'AR',
  'post /batches/:id/leave_out': 'AR',
  'get /payouts': 'ARV',
  'post /payouts/filters': 'ARV',
  'post /payouts/filters/remove': 'ARV',
  'get /payouts/:id': 'ARV',
  'get /payouts/:id/dossier.json': 'ARV',
  'post /payouts/:id/approve': 'AR',
  'post /payouts/:id/reject': 'AR',
  'post /payouts/:id/notes': 'AR',
  'post /payouts/:id/beneficiary': 'AR',
  'post /payouts/:id/screening/allow': 'AR',
  'post /payouts/:id/screening/ask': 'AR',
  'get /in-doubt': 'ARV',
  'post /in-doubt/:id/ask': 'AR',
  'get /accounts': 'ARV',
  'get /accounts/new': 'A',
  'post /accounts/new': 'A',
  'get /accounts/:id': 'ARV',
  'get /accounts/:id/recipients': 'ARV',
  'get /accounts/:id/schedules': 'ARV',
  'get /accounts/:id/verify': 'A',
  'post /accounts/:id/verify': 'A',
  'get /accounts/:id/suspend': 'A',
  'post /accounts/:id/suspend': 'A',
  'get /accounts/:id/reinstate': 'A',
  'post /accounts/:id/reinstate': 'A',
  'get /accounts/:id/review': 'A',
  'post /accounts/:id/review': 'A',
  'get /accounts/:id/limits': 'A',
  'post /accounts/:id/limits': 'A',
  'get /accounts/:id/fees': 'A',
  'post /accounts/:id/fees': 'A',
  'get /accounts/:id/fees-end': 'A',
  'post /accounts/:id/fees-end': 'A',
  'post /proposals/:id/approve': 'A',
  'post /proposals/:id/reject': 'A',
  'get /four-eyes': 'ARV',
  'post /four-eyes': 'A',
  'post /four-eyes/confirm': 'A',
  'post /four-eyes/withdraw': 'A',
  'get /payments': 'ARV',
  'get /payments/:id': 'ARV',
  'post /payments/:id/ask': 'AR',
  'post /payments/:id/cancel': 'AR',
  'post /payments/:id/refund': 'AR',
  'post /payments/:id/refund-link': 'AR',
  'post /payments/:id/reject': 'AR',
  'post /payments/:id/release': 'AR',
  'get /pauses': 'ARV',
  'post /pauses': 'A',
  'post /pauses/resume': 'A',
  'get /operations': 'ARV',
  'get /operations/ledger-proof': 'ARV',
  'post /operations/run': 'A',
  'get /audit-log': 'ARV',
  'get /chats': 'A',
  'post /chats': 'A',
  'get /chats/:id': 'A',
  'post /chats/:id': 'A',
  'post /chats/:id/test': 'A',
  'post /chats/:id/remove': 'A',
  'get /audit-log/head.json': 'ARV',
  'get /cases': 'ARV',
  'get /cases/:id': 'ARV',
  'post /cases/:id/resolve': 'AR',
  'post /cases/:id/notes': 'AR',
  'post /cases/:id/recipient': 'AR',
  'post /people/invitations/:id/approve': 'A',
  'post /people/:id/role/approve': 'A',
  'post /people/:id/role/reject': 'A',
  ...Object.fromEntries(OWN_PAGES.map((route) => [route, 'ARV'])),
  ...Object.fromEntries(PEOPLE_PAGES.map((route) => [route, 'A'])),
};

test('every route of the console is for the roles that are written down, and no other', async () => {
  const parts = {
    ...{ services: {}, users: {}, singleSignOn: null, host: null, publicUrl: PUBLIC_URL },
  } as never;
  const routes = createConsole(parts).routes.filter(({ needs }) => needs !== null);
  const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
  expect(routes.map(nameOf).sort()).toEqual(Object.keys(CONSOLE).sort());
  const roles = new Map(routes.map((route) => [nameOf(route), [] as string[]]));
  for (const role of OPERATOR_ROLES) {
    const client = newClient();
    await client.signIn(await makeUser(harness.owner, 'operator', role));
    for (const route of routes) {
      const { status } = await client[route.method](
        `/console${route.path.replace(/:\w+/g, 'none')}`,
      );
      if (status === 403) continue;
      expect([nameOf(route), status]).toEqual([nameOf(route), answerOf(nameOf(route))]);
      roles.get(nameOf(route))!.push(role.charAt(0).toUpperCase());
    }
  }
  const found = [...roles].map(([route, letters]) => [route, letters.join('')]);
  expect(Object.fromEntries(found)).toEqual(CONSOLE);
});

test('every route about the person and the account is for the same roles in the dashboard', async () => {
  const parts = { services: {}, users: {}, once: {}, host: null, publicUrl: PUBLIC_URL } as never;
  const routes = createDashboard(parts).routes.filter(
    ({ needs, path }) => needs !== null && !path.startsWith('/:mode'),
  );
  const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
  expect(routes.map(nameOf).sort()).toEqual(
    [...OWN_PAGES, ...PEOPLE_PAGES, 'get /accounts', 'post /accounts'].sort(),
  );
  for (const role of MERCHANT_ROLES) {
    const client = newClient();
    await client.signIn(await makeUser(harness.owner, 'merchant', role, accountId));
    for (const route of routes) {
      const { status } = await client[route.method](
        `/dashboard${route.path.replace(':id', 'none')}`,
      );
      const isAllowed = role === 'owner' || !PEOPLE_PAGES.includes(nameOf(route));
      expect([role, nameOf(route), status === 403]).toEqual([role, nameOf(route), !isAllowed]);
    }
  }
});

test('without a session every route leads to the sign-in', async () => {
  const parts = {
    ...{ services: {}, users: {}, singleSignOn: null, once: {}, host: null },
    publicUrl: PUBLIC_URL,
  } as never;
  for (const site of [createDashboard(parts), createConsole(parts)]) {
    for (const { method, path, needs } of site.routes) {
      if (needs === null) continue;
      const url = site.prefix + path.replace(':mode', 'test').replace(':id', 'none');
      const response = await newClient()[method](url);
      expect(response.headers.get('location')).toMatch(`${site.prefix}/sign-in`);
    }
  }
});

test('objects of another account, of the other mode and with hostile ids do not exist', async () => {
  const other = await harness.createAccount();
  const [theirs, live, mine] = [
    await harness.createKey({ accountId: other }),
    await harness.createKey({ accountId, mode: 'live' }),
    await harness.createKey({ accountId }),
  ];
  const client = newClient();
  await client.signIn(owner);
  expect((await client.get(`/dashboard/test/keys/${mine.id}`)).status).toBe(200);
  for (const id of [theirs.id, live.id, '%00', "'%20OR%201=1", '..%2f', 'x'.repeat(500)]) {
    for (const list of ['keys', 'payments', 'payouts', 'webhooks', 'webhooks/deliveries']) {
      expect((await client.get(`/dashboard/test/${list}/${id}`)).status).toBe(404);
    }
  }
  expect((await client.get('/dashboard/test/payments?reference=%00')).status).toBe(422);
  expect((await client.post('/dashboard/sign-in', { email: '\0' })).status).toBe(422);
  const long = { email: `${'x'.repeat(300)}@example.com`, password: 'x' };
  expect((await newClient().post('/dashboard/sign-in', long)).status).toBe(401);
  const place = (account: string, mode: 'test' | 'live') => ({
    ...{ accountId: account, mode, currency: 'USDT' },
  });
  for (const [to, status] of [
    [place(accountId, 'test'), 200],
    [place(accountId, 'live'), 404],
    [place(other, 'test'), 404],
  ] as const) {
    const payment = await insertPayment(harness.owner, to, 'pending');
    const payout = buildPayoutMoney('1');
    await insertPayout(harness.owner, to, payout, 'completed');
    for (const page of [`payments/${payment}`, `payouts/${payout.id}`]) {
      expect((await client.get(`/dashboard/test/${page}`)).status).toBe(status);
    }
  }
  for (const change of [`keys/${theirs.id}/rotate`, `keys/${theirs.id}/revoke`]) {
    expect((await client.post(`/dashboard/test/${change}`)).status).toBe(404);
  }
});
