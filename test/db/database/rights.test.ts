/** What each role of the gateway may do, on every table and function: the written table is all of it. */
import { connect } from '../../../src/db/connect';
import { post } from '../../../src/db/ledger/ledger';
import type { Db } from '../../../src/db/transaction';
import { reservePosting } from '../../../src/domain/ledger';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { buildPayoutMoney, fund, makeAccount } from '../../support/merchant/ledger';

const ROLES = ['gateway_api', 'gateway_worker', 'gateway_admin', 'gateway_dashboard'] as const;
const PRIVILEGES = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'];

/** For each role the first letters of SELECT, INSERT, UPDATE, DELETE; '-' is nothing. */
const TABLES: Record<
  string,
  readonly [api: string, worker: string, admin: string, dashboard: string]
> = {
  // The worker reads the hash only.
  account_logos: ['-', '-', '-', 'SIUD'],
  accounts: ['S', 'S', 'SIU', 'S'],
  api_key_minutes: ['-', '-', '-', '-'],
  // All columns but the hash: “secrets are read by the roles that need them”.
  // The API inserts keys that a key makes only.
  api_keys: ['I', '-', 'IU', 'IU'],
  // The worker seals and signs; only erase_audit_entry changes a seal, and takes its salt away.
  audit_heads: ['S', 'SI', 'S', 'S'],
  audit_log: ['I', 'SI', 'SI', 'SI'],
  audit_seals: ['S', 'SI', 'S', 'S'],
  audit_unsealed: ['-', 'SD', 'S', '-'],
  authentication_attempts: ['-', '-', '-', 'SID'],
  // note_low_balances changes low_since.
  balance_alerts: ['-', '-', '-', 'SID'],
  balances: ['S', 'S', 'S', 'S'],
  cases: ['SI', 'SIU', 'SIU', 'SU'],
  chat_messages: ['-', 'SIUD', '-', 'SI'],
  // The pages read all columns but the sealed ones and change kinds; the admin command has the sealed ones alone.
  chat_webhooks: ['-', 'S', '-', 'ID'],
  currency_routes: ['S', 'S', 'SU', 'S'],
  event_clock: ['S', '-', '-', '-'],
  // The API inserts the events of recipients and pings only.
  events: ['SI', 'SI', 'SI', 'SI'],
  fee_rules: ['S', 'S', 'SIU', 'SIU'],
  four_eyes_thresholds: ['S', 'S', 'SIUD', 'SIUD'],
  idempotency_keys: ['SIUD', 'SUD', 'S', 'S'],
  invitations: ['-', '-', '-', 'SIU'],
  // The worker changes the status only; take_link_mail gives a token.
  link_mails: ['-', 'D', '-', 'SI'],
  ledger_changes: ['-', 'SD', 'S', '-'],
  ledger_checkpoints: ['-', 'SIU', 'S', '-'],
  ledger_entries: ['S', 'S', 'S', 'S'],
  ledger_proof: ['S', 'SIU', 'S', 'S'],
  ledger_report: ['-', 'SU', '-', 'S'],
  ledger_transactions: ['S', 'S', 'S', 'S'],
  memberships: ['-', '-', 'SIU', 'SIUD'],
  // The worker changes addressed_at only; triggers insert.
  occasions: ['-', 'SD', '-', '-'],
  notification_choices: ['-', 'S', '-', 'SIU'],
  notifications: ['-', 'SIUD', '-', '-'],
  merchant_positions: ['-', 'SIUD', '-', 'S'],
  passkeys: ['-', '-', 'SD', 'SIUD'],
  // The worker reads what was named, and the pages change that alone; the admin command replaces a link.
  refund_links: ['-', '-', 'SI', 'S'],
  operator_identities: ['-', '-', 'SID', 'SI'],
  operator_role_proposals: ['-', '-', '-', 'SID'],
  payment_credits: ['S', 'SI', 'S', 'S'],
  payment_decisions: ['S', 'SIU', 'S', 'S'],
  // Opening and closing change two columns only.
  payment_links: ['-', 'S', '-', 'SI'],
  payment_refunds: ['S', 'SIU', 'S', 'S'],
  payment_verifications: ['SIU', '-', '-', '-'],
  payments: ['S', 'SIU', 'S', 'S'],
  payout_approvals: ['SI', 'S', 'S', '-'],
  // The worker writes outcome and decided_at only.
  payout_batch_decisions: ['-', 'S', 'S', 'SI'],
  payout_batches: ['S', 'SIU', 'S', 'S'],
  payout_beneficiaries: ['S', 'SI', 'SU', 'S'],
  // The worker changes parameters and met_at only.
  payout_conditions: ['S', 'SI', 'S', 'S'],
  payout_decisions: ['-', 'S', 'S', 'SI'],
  payout_escalations: ['S', 'S', 'S', 'S'],
  payout_pauses: ['S', 'SI', 'SIUD', 'SID'],
  payout_policies: ['S', 'S', 'SIU', 'SIU'],
  // Requests change the status and the time of the next run; runs change both tables (the worker).
  payout_schedule_runs: ['S', 'SID', 'S', 'S'],
  payout_schedules: ['SI', 'S', 'S', 'S'],
  payout_usage: ['S', 'S', 'S', 'S'],
  payouts: ['S', 'SIU', 'S', 'S'],
  person_approvals: ['-', 'S', 'S', 'SI'],
  // The dashboard's login writes the outcome only.
  policy_proposals: ['-', '-', 'SI', 'SI'],
  posting_sums: ['-', 'SI', '-', 'S'],
  provider_calls: ['SIU', 'SIUD', 'S', 'S'],
  provider_alarms: ['-', 'S', '-', 'S'],
  provider_wallets: ['-', 'SIUD', '-', 'S'],
  provider_entries: ['-', 'SIU', 'S', 'S'],
  provider_positions: ['-', 'SIUD', '-', 'S'],
  provider_statements: ['-', 'SIU', 'S', 'S'],
  // The worker locks a recipient while it reserves a payout to it.
  // The API changes what the merchant sets only, the worker updated_at and the screening, the console the screening.
  recipients: ['SI', 'S', 'SU', 'S'],
  recovery_codes: ['-', '-', 'D', 'SIUD'],
  request_log: ['S', '-', 'S', 'S'],
  request_log_days: ['-', '-', 'S', 'S'],
  ...Object.fromEntries(
    // Its days, which are reached through it.
    [...Array(9).keys()].map((slot) => [`request_log_${slot}`, ['-', '-', '-', '-'] as const]),
  ),
  saved_filters: ['-', '-', '-', 'SIUD'],
  // What counts on the way of the money is written by the worker, the lists by the admin command.
  schema_migrations: ['S', 'S', 'S', 'S'],
  screening_allowances: ['-', 'S', 'S', 'SI'],
  screening_answers: ['SI', 'SI', 'SI', 'SI'],
  screening_entries: ['S', 'S', 'SID', 'S'],
  screening_holds: ['-', 'SIUD', 'S', 'S'],
  screening_sources: ['S', 'SI', 'SIUD', 'S'],
  second_factor_policies: ['-', '-', 'SID', 'SID'],
  sessions: ['-', '-', 'IU', 'SIU'],
  told_chats: ['-', 'SIU', '-', '-'],
  told_occasions: ['-', 'SIUD', '-', '-'],
  totp_secrets: ['-', '-', 'SUD', 'SIUD'],
  used_challenges: ['-', '-', '-', 'SID'],
  users: ['-', '-', 'IU', 'SIU'],
  webhook_attempts: ['SIU', 'SIUD', 'SIU', 'SIU'],
  webhook_deliveries: ['SI', 'SIU', 'SIU', 'SIU'],
  webhook_endpoints: ['SI', 'SU', 'SIU', 'SIU'],
  webhook_slots: ['-', 'SU', '-', '-'],
};

const GATEWAY = ['gateway_api', 'gateway_worker', 'gateway_admin'] as const;

/** Who may call it. Trigger functions and parts of other functions: nobody. */
const FUNCTIONS: Record<string, readonly (typeof ROLES)[number][]> = {
  add_webhook_slots: [],
  align_event_clock: [],
  approved_by_second_person: [
    'gateway_api',
    'gateway_worker',
    'gateway_admin',
    'gateway_dashboard',
  ],
  audit_refuse_change: [],
  audit_refuse_other_seal: [],
  audit_refuse_other_update: [],
  authenticate_api_key: ['gateway_api'],
  case_facts: [...GATEWAY, 'gateway_dashboard'],
  case_facts_missing: [...GATEWAY, 'gateway_dashboard'],
  case_with_facts: GATEWAY,
  check_key_of_key: [],
  cool_recipient: [],
  conditions_of_payout: [...GATEWAY, 'gateway_dashboard'],
  count_later_review: [],
  count_new_payouts: [],
  count_returned_payout: [],
  erase_audit_entry: ['gateway_admin'],
  event_position: [...GATEWAY, 'gateway_dashboard'],
  forget_event_bodies: ['gateway_worker'],
  forget_old_sign_ins: ['gateway_worker'],
  forget_request_log: ['gateway_worker'],
  complete_refund: [],
  hold_payout_usage: [],
  keep_request_hash: [],
  key_awaits_second_person: ['gateway_worker', 'gateway_admin', 'gateway_dashboard'],
  key_used: [...GATEWAY, 'gateway_dashboard'],
  ledger_adjust: ['gateway_admin'],
  ledger_post: ['gateway_worker'],
  ledger_refuse_change: [],
  ledger_refuse_unbalanced: [],
  ledger_reserve_rows: ['gateway_worker'],
  ledger_write: [],
  link_references: ['gateway_worker', 'gateway_dashboard'],
  lock_payout_limits: ['gateway_worker'],
  lock_payout_usage: ['gateway_worker'],
  note_unsealed_entry: [],
  new_refund_id: ['gateway_worker'],
  payout_dossier: ['gateway_api'],
  note_audited_occasion: [],
  note_case_occasion: [],
  note_endpoint_occasion: [],
  note_ledger_change: [],
  note_occasion: [],
  note_late_payouts: ['gateway_worker'],
  note_closed_statements: ['gateway_worker'],
  note_low_balances: ['gateway_worker'],
  note_waiting: [],
  note_waiting_batch: [],
  note_waiting_recipient: [],
  note_waiting_refund: [],
  note_waiting_schedule: [],
  note_password_occasion: [],
  note_event_occasion: [],
  note_link_paid_twice: [],
  note_payout_occasion: [],
  note_provider_alarm_occasion: [],
  note_provider_alarms: ['gateway_worker'],
  note_second_person_occasion: [],
  note_payout_escalation: [],
  payout_policy: [...GATEWAY, 'gateway_dashboard'],
  payout_sums: [...GATEWAY, 'gateway_dashboard'],
  payout_usage_key: [],
  payout_used: [...GATEWAY, 'gateway_dashboard'],
  take_link_mail: ['gateway_worker'],
  person_alone: [...GATEWAY, 'gateway_dashboard'],
  person_of_requester: [...GATEWAY, 'gateway_dashboard'],
  person_scheduled: [],
  person_used: [],
  related_people: ['gateway_admin', 'gateway_dashboard'],
  runs_a_day: [],
  schedule_awaits_second_person: [...GATEWAY, 'gateway_dashboard'],
  own_payments_of_customer: ['gateway_dashboard'],
  payment_stands: ['gateway_worker'],
  recipient_stands: ['gateway_worker'],
  requester_fault: ['gateway_worker'],
  refund_requester_fault: ['gateway_worker'],
  refunds_used: [...GATEWAY, 'gateway_dashboard'],
  write_request_log: ['gateway_api'],
};

let database: TestDatabase;
let owner: Db;
let worker: Db;
let api: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  const open = (url: string) => connect({ url, size: 2, applicationName: 'rights-test' });
  owner = open(database.ownerUrl);
  worker = open(database.workerUrl);
  api = open(database.apiUrl);
});

afterAll(async () => {
  await Promise.all([owner.destroy(), worker.destroy(), api.destroy()]);
  await database.drop();
});

test('every table', async () => {
  const found = await owner.query<{ name: string; role: string; privilege: string }>(
    `SELECT c.relname AS name, role, privilege
       FROM pg_class c CROSS JOIN unnest(?::text[]) AS role CROSS JOIN unnest(?::text[]) AS privilege
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
        AND has_table_privilege(role, c.oid, privilege)`,
    [[...ROLES], PRIVILEGES],
  );
  const [tables] = await owner.query<{ names: string[] }>(
    `SELECT array_agg(relname::text ORDER BY relname) AS names FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')`,
  );
  const letters = (name: string, role: string) =>
    PRIVILEGES.filter((privilege) =>
      found.some((one) => one.name === name && one.role === role && one.privilege === privilege),
    )
      .map((privilege) => (privilege === 'TRUNCATE' ? 'truncate' : privilege.charAt(0)))
      .join('') || '-';
  const actual = (tables?.names ?? []).map((name) => [name, ROLES.map((r) => letters(name, r))]);
  expect(Object.fromEntries(actual)).toEqual(TABLES);
});

/** Each secret that is stored, sealed or hashed, and who reads it. */
const SECRETS: Record<string, readonly (typeof ROLES)[number][]> = {
  'api_keys.secret_hash': [],
  'chat_webhooks.sealed': ['gateway_worker', 'gateway_admin'],
  'invitations.token_hash': ['gateway_dashboard'],
  'link_mails.token_hash': ['gateway_dashboard'],
  'payout_beneficiaries.sealed': [...ROLES],
  'recovery_codes.code_hash': ['gateway_dashboard'],
  // The admin command replaces a link.
  'refund_links.token_hash': ['gateway_admin', 'gateway_dashboard'],
  'sessions.token_hash': ['gateway_dashboard'],
  'totp_secrets.sealed': ['gateway_admin', 'gateway_dashboard'],
  'users.password_hash': ['gateway_dashboard'],
  'webhook_endpoints.secret_sealed': [...ROLES],
};

test('secrets are read by the roles that need them', async () => {
  const found = await owner.query<{ name: string; readers: string[] }>(
    `SELECT c.relname || '.' || a.attname AS name,
            ARRAY(SELECT role FROM unnest(?::text[]) WITH ORDINALITY AS r(role, n)
                   WHERE has_column_privilege(role, c.oid, a.attnum, 'SELECT') ORDER BY n) AS readers
       FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
        AND NOT a.attisdropped AND a.attname ~ '(secret|password|token|code)_hash$|sealed$'`,
    [[...ROLES]],
  );
  expect(Object.fromEntries(found.map(({ name, readers }) => [name, readers]))).toEqual(SECRETS);
});

test('of a table with such a secret, a role reads all other columns', async () => {
  const found = await owner.query<{ name: string; hidden: string[] }>(
    `SELECT role || ' ' || c.relname AS name, array_agg(a.attname::text) AS hidden
       FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid CROSS JOIN unnest(?::text[]) AS role
      WHERE c.oid = ANY (?::regclass[]) AND a.attnum > 0 AND NOT a.attisdropped
        AND (c.relname = 'api_keys' OR role = 'gateway_admin')
        AND NOT has_column_privilege(role, c.oid, a.attnum, 'SELECT')
      GROUP BY 1`,
    [[...ROLES], ['api_keys', 'users', 'sessions', 'recovery_codes']],
  );
  expect(Object.fromEntries(found.map(({ name, hidden }) => [name, hidden]))).toEqual({
    ...Object.fromEntries(ROLES.map((role) => [`${role} api_keys`, ['secret_hash']])),
    'gateway_admin recovery_codes': ['code_hash'],
    'gateway_admin sessions': ['token_hash'],
    'gateway_admin users': ['password_hash'],
  });
  await expect(api.query('SELECT * FROM api_keys')).rejects.toThrow('permission denied');
});

test('the pages change some columns of an account', async () => {
  const found = await owner.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
      WHERE attrelid = 'accounts'::regclass AND attnum > 0 AND NOT attisdropped
        AND has_column_privilege('gateway_dashboard', attrelid, attnum, 'UPDATE') ORDER BY attname`,
  );
  expect(found.map(({ name }) => name)).toEqual([
    'journal_accounts',
    'live_keys_by_api',
    'recipient_wait_hours',
    'recipients_only',
    'rehearse_review',
    'review_all',
    'second_person_above',
    'status',
    'tax_rate',
    'time_zone',
    'verified_at',
  ]);
});

test('every function', async () => {
  const found = await owner.query<{ name: string; callers: string[] }>(
    `SELECT p.proname AS name,
            ARRAY(SELECT role FROM unnest(?::text[]) WITH ORDINALITY AS r(role, n)
                   WHERE has_function_privilege(role, p.oid, 'EXECUTE') ORDER BY n) AS callers
       FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace`,
    [[...ROLES]],
  );
  expect(Object.fromEntries(found.map(({ name, callers }) => [name, callers]))).toEqual(FUNCTIONS);
});

test('definer functions look for names in public first and in temporary tables last', async () => {
  const found = await owner.query<{ name: string; settings: string[] | null }>(
    `SELECT proname AS name, proconfig AS settings FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace AND prosecdef`,
  );
  expect(found.length).toBeGreaterThan(5);
  for (const { name, settings } of found) {
    const paths = settings?.filter((setting) => !setting.startsWith('TimeZone='));
    expect({ name, paths }).toEqual({ name, paths: ['search_path=public, pg_temp'] });
  }
});

test('the worker posts payouts, and never an adjustment', async () => {
  const key = { accountId: await makeAccount(owner), mode: 'test', currency: 'USDT' } as const;
  await fund(owner, key, '10');
  const posting = reservePosting(buildPayoutMoney('4'));
  expect(await worker.transaction((tx) => post(tx, key, posting))).toMatchObject({
    outcome: 'posted',
  });
  await expect(fund(worker, key, '5')).rejects.toThrow('permission denied');
  const raw = `SELECT ledger_post('txn_x', 'x', ?, 'test', 'USDT', ?, 'x', ?, 'x', ?::jsonb)`;
  const lines = (account: string) =>
    JSON.stringify([
      { account: 'available', direction: 'in', amount: '5' },
      { account, direction: 'out', amount: '5' },
    ]);
  for (const [type, source, against] of [
    ['adjustment', 'adjustment', 'adjustments'],
    ['payin_settlement', 'payment', 'adjustments'],
    ['payout_release', 'payment', 'reserved'],
  ] as const) {
    await expect(worker.query(raw, [key.accountId, type, source, lines(against)])).rejects.toThrow(
      'does not post',
    );
  }
  await expect(
    api.query(raw, [key.accountId, 'payout_reserve', 'payout', lines('reserved')]),
  ).rejects.toThrow('permission denied');
});
