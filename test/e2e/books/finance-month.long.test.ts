/**
 * A finance person's month: payments, payouts that are sent and that fail, refunds, a batch and an adjustment.
 * The exports, the journal and the statement agree with each other and with the ledger to the last digit, as a
 * program of its own adds them up from the files.
 */
import { parse } from 'csv-parse/sync';
import { Decimal } from 'decimal.js';
import { EXPORTS } from '../../../src/domain/bookkeeping';
import { add, type Amount, amount, roundTo, ZERO } from '../../../src/domain/money';
import { createDashboardBooks } from '../../../src/features/books/dashboard-books';
import { fund } from '../../support/merchant/merchant';
import { buildPayout, type MerchantClient } from '../../support/merchant/merchant-client';
import { makeUser, type PageClient, signedIn } from '../../support/merchant/page-client';
import { atProvider, openedPayment, whenPayment } from '../../support/payment/payment-steps';
import { acceptedPayout, openMerchant } from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { sharedInRoom } from '../../support/room';
import { isSound, startGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const PAYMENTS = scaled(12, 500);
const PAYOUTS = scaled(10, 300);
const REFUNDS = scaled(4, 20);
const ROWS = scaled(5, 50);
/** Refused by the sandbox at once, and after it was accepted. */
const FAILING = ['10.00009001', '10.00009002'];

const gateway = started(sharedInRoom('gateway', startGateway), isSound);
let accountId: string;
let client: MerchantClient;
let live: MerchantClient;
let finance: PageClient;

type Line = Record<string, string>;

beforeAll(async () => {
  const merchant = await openMerchant(gateway, {
    mode: 'test',
    funds: { USDT: '1000000', ETH: '20' },
  });
  ({ accountId, client, otherMode: live } = merchant);
  const owner = await makeUser(gateway.db, 'merchant', 'owner', accountId);
  finance = await signedIn(gateway.baseUrl, owner);
  await month();
});

/** Amounts with eight decimals, so that every fee is rounded; 300 of them are within a day's limit. */
const odd = (index: number) => new Decimal('13.37000001').times((index % 40) + 1).toFixed(8);

async function month(): Promise<void> {
  const paid = await inTurn(PAYMENTS, async (index) => {
    const id = await openedPayment(client, { amount: odd(index), provider: 'exchange_pay' });
    await atProvider(gateway, id, 'pay');
    await whenPayment(client, id, 'completed');
    return id;
  });
  await inTurn(REFUNDS, async (index) => {
    const body = {
      reference: `return-${index}`,
      ...(index % 2 === 0 ? { amount: '1.00000003' } : {}),
    };
    const { status, text } = await client.create(`/payments/${paid[index]!}/refunds`, body);
    if (status !== 201) throw new Error(`the refund was answered with ${status} ${text}`);
  });
  await inTurn(PAYOUTS, (index) => {
    const currency =
      index % 5 === 4 ? { currency: 'ETH', network: 'ethereum', amount: '0.01234567' } : null;
    const amount = FAILING[index] ?? odd(index);
    const ether = {
      destination: { type: 'crypto_address', value: '0x52908400098527886E0F7030069857D2E4169EE7' },
    };
    return acceptedPayout(client, currency === null ? { amount } : { ...currency, ...ether });
  });
  const rows = Array.from({ length: ROWS }, (_, index) => buildPayout({ amount: odd(index) }));
  const batch = { reference: 'wages', payouts: rows };
  await client.create('/payout_batches', batch);
  await fund(gateway.db, accountId, 'test', 'USDT', '0.00000007');
  await waitFor('the month to be over', async () => {
    const [open] = await gateway.db.query<{ count: string }>(
      `SELECT (SELECT count(*) FROM payouts WHERE account_id = ? AND status_group = 'open')
            + (SELECT count(*) FROM payment_refunds WHERE account_id = ? AND ended_at IS NULL)
            + (SELECT count(*) FROM payout_batches WHERE account_id = ? AND closed_at IS NULL) AS count`,
      [accountId, accountId, accountId],
    );
    return open!.count === '0' ? true : undefined;
  });
}

/** Eight at a time, in the order of their numbers. */
async function inTurn<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let first = 0; first < count; first += 8) {
    const indexes = Array.from({ length: Math.min(8, count - first) }, (_, n) => first + n);
    results.push(...(await Promise.all(indexes.map(work))));
  }
  return results;
}

async function file(query: Record<string, string>): Promise<string> {
  const { status, text } = await client.get(`/exports?${new URLSearchParams(query)}`);
  expect([text.slice(0, 200), status]).toEqual([expect.any(String), 200]);
  return text;
}

async function linesOf(query: Record<string, string>): Promise<Line[]> {
  return parse(await file(query), { columns: true });
}

const sum = (lines: readonly Line[], column: string) =>
  lines.reduce((total, line) => total.plus(line[column] || '0'), new Decimal(0)).toFixed(8);
const sumOf = (lines: readonly Line[], column: string, currency: string) =>
  sum(
    lines.filter((line) => line['currency'] === currency),
    column,
  );
const total = (...amounts: string[]) => Decimal.sum(...amounts).toFixed(8);

const CURRENCIES = ['USDT', 'ETH'];

test('gross less fees is net in every file, and the nets are the balance [endpoint GET /exports]', async () => {
  const { json } = await client.get('/balance');
  const transactions = await linesOf({ kind: 'transactions' });
  const [payments, payouts, refunds, batches, fees] = await Promise.all(
    ['payments', 'payouts', 'refunds', 'batches', 'fees'].map((kind) => linesOf({ kind })),
  );
  expect([payments!.length, refunds!.length, batches!.length]).toEqual([PAYMENTS, REFUNDS, 1]);
  expect(payouts).toHaveLength(PAYOUTS + ROWS);
  expect(payouts!.filter(({ status }) => status === 'failed')).toHaveLength(FAILING.length);
  for (const line of [...transactions, ...payments!, ...payouts!, ...refunds!, ...batches!]) {
    const net = new Decimal(line['gross']!).minus(line['service_fee']!).minus(line['network_fee']!);
    expect([line['id'], line['net']]).toEqual([line['id'], net.toFixed(8)]);
  }
  for (const currency of CURRENCIES) {
    const own = transactions.filter((line) => line['currency'] === currency);
    let balance = new Decimal(0);
    for (const line of own) {
      balance = balance.plus(line['net']!);
      expect([line['id'], line['balance_after']]).toEqual([line['id'], balance.toFixed(8)]);
    }
    const balances = json.balances as Line[];
    const held = balances.find((one) => one['currency'] === currency)!;
    expect(balance.toFixed(8)).toBe(total(held['available']!, held['reserved']!));
    const adjusted = sum(
      own.filter(({ type }) => type === 'adjustment'),
      'net',
    );
    const nets = [payments!, payouts!, refunds!].map((lines) => sumOf(lines, 'net', currency));
    expect(total(...nets, adjusted)).toBe(balance.toFixed(8));
    for (const fee of ['service_fee', 'network_fee']) {
      const parts = [payments!, payouts!, refunds!].map((lines) => sumOf(lines, fee, currency));
      expect(total(...parts)).toBe(sumOf(fees!, fee, currency));
      expect(sumOf(own, fee, currency)).toBe(sumOf(fees!, fee, currency));
    }
  }
  const wages = payouts!.filter((line) => line['batch_id'] === batches![0]!['id']);
  expect(sum(wages, 'net')).toBe(batches![0]!['net']);
  await isSound(gateway);
});

test('the statement closes with the same balance and fees', async () => {
  const books = createDashboardBooks(gateway.db);
  const fees = await linesOf({ kind: 'fees' });
  const transactions = await linesOf({ kind: 'transactions' });
  for (const { currency, months } of await books.months({ accountId, mode: 'test' })) {
    const statements = await Promise.all(
      months.map((one) => books.statement({ accountId, mode: 'test' }, currency, one)),
    );
    const { closing } = statements[0]!;
    const last = transactions.filter((line) => line['currency'] === currency).at(-1)!;
    expect([closing.available, closing.reserved]).toEqual([
      last['available_after'],
      last['reserved_after'],
    ]);
    expect(total(...statements.map(({ serviceFees }) => serviceFees))).toBe(
      sumOf(fees, 'service_fee', currency),
    );
    expect(total(...statements.map(({ networkFees }) => networkFees))).toBe(
      sumOf(fees, 'network_fee', currency),
    );
  }
});

test('the journal balances and has the sums of the other files', async () => {
  const journal = await linesOf({ kind: 'journal' });
  const account = (name: string, currency: string) => {
    const lines = journal.filter((line) => line['account'] === name);
    return new Decimal(sumOf(lines, 'debit', currency))
      .minus(sumOf(lines, 'credit', currency))
      .toFixed(8);
  };
  const negative = (amount: string) => new Decimal(amount).negated().toFixed(8);
  const [transactions, payments, payouts, refunds] = await Promise.all(
    ['transactions', 'payments', 'payouts', 'refunds'].map((kind) => linesOf({ kind })),
  );
  for (const currency of CURRENCIES) {
    expect(sumOf(journal, 'debit', currency)).toBe(sumOf(journal, 'credit', currency));
    const last = transactions!.filter((line) => line['currency'] === currency).at(-1)!;
    expect(account('Crypto balance', currency)).toBe(last['available_after']);
    expect(account('Crypto balance reserved', currency)).toBe(last['reserved_after']);
    expect(account('Sales', currency)).toBe(negative(sumOf(payments!, 'gross', currency)));
    expect(account('Payouts', currency)).toBe(negative(sumOf(payouts!, 'gross', currency)));
    expect(account('Refunds', currency)).toBe(negative(sumOf(refunds!, 'gross', currency)));
    expect(account('Gateway fees', currency)).toBe(sumOf(transactions!, 'service_fee', currency));
    expect(account('Network fees', currency)).toBe(sumOf(transactions!, 'network_fee', currency));
  }
});

test('a journal is the template of Xero, and of QuickBooks, with the account’s own names', async () => {
  const books = {
    time_zone: 'Asia/Kolkata',
    balance: '610',
    reserved: '611',
    sales: '200',
    refunds: '201',
    payouts: '310',
    service_fees: '404',
    network_fees: '405',
    adjustments: '499',
    rounding: '860',
    tax_rate: 'Tax Exempt (0%)',
  };
  expect((await finance.post('/dashboard/test/bookkeeping', books)).status).toBe(303);
  const xero = await file({ kind: 'journal', format: 'xero', currency: 'USDT' });
  expect(xero.split('\r\n')[0]).toBe(
    '*Narration,*Date,Description,*AccountCode,*TaxRate,*Amount,TrackingName1,TrackingOption1,TrackingName2,TrackingOption2',
  );
  const manual: Line[] = parse(xero, { columns: true });
  expect(sum(manual, '*Amount')).toBe('0.00000000');
  expect(manual.length).toBeLessThanOrEqual(300);
  for (const line of manual) {
    expect(line['*Date']).toMatch(/^\d{2}\/\d{2}\/\d{4}$/);
    expect(Object.values(books)).toContain(line['*AccountCode']);
    expect(line['*TaxRate']).toBe('Tax Exempt (0%)');
  }
  const entries = await linesOf({ kind: 'journal', format: 'quickbooks' });
  expect(Object.keys(entries[0]!)).toEqual([
    'Journal No.',
    'Journal Date',
    'Account Name',
    'Debits',
    'Credits',
    'Description',
    'Currency',
  ]);
  const numbers = new Set(entries.map((line) => line['Journal No.']));
  for (const number of numbers) {
    const own = entries.filter((line) => line['Journal No.'] === number);
    expect(sum(own, 'Debits')).toBe(sum(own, 'Credits'));
  }
  // Times are those of the zone, and in JSON those of UTC.
  const [first] = await linesOf({ kind: 'payments' });
  const [same] = JSON.parse(await file({ kind: 'payments', format: 'json' })) as Line[];
  expect(first).toMatchObject({ id: same!['id'], utc_offset: 'UTC+05:30' });
  const local = new Date(`${first!['created_at']!.replace(' ', 'T')}+05:30`);
  expect(local.getTime()).toBe(Math.floor(Date.parse(same!['created_at']!) / 1000) * 1000);
});

test('the journal of a plain-text program and the statement of a bank end with the balances', async () => {
  const transactions = await linesOf({ kind: 'transactions', currency: 'USDT' });
  const last = transactions.at(-1)!;
  const text = await file({ kind: 'journal', format: 'hledger', currency: 'USDT' });
  const amounts = [...text.matchAll(/^ {2}(\S+) {2}(-?\d+\.\d{8}) USDT$/gm)];
  expect(add(ZERO, ...amounts.map(([, , value]) => amount(value!)))).toBe(ZERO);
  const held = amounts.filter(([, name]) => name!.startsWith('Assets:'));
  expect(add(ZERO, ...held.map(([, , value]) => amount(value!)))).toBe(last['balance_after']);
  const bank = await file({ kind: 'transactions', format: 'camt053', currency: 'USDT' });
  const closing = /<Cd>CLBD<.*?<Amt Ccy="XXX">([\d.]+)</.exec(bank)![1];
  expect(closing).toBe(roundTo(5, last['balance_after'] as Amount).slice(0, -3));
});

test('what cannot be exported is refused at its field, and another account sees nothing', async () => {
  const path = '/dashboard/test/exports/file';
  for (const [query, words] of [
    ['kind=payments&format=xero', 'This format is for the journal'],
    ['kind=journal&format=camt053&currency=USDT', 'This format is for the transactions'],
    ['kind=transactions&format=camt053', 'Enter a currency'],
    ['kind=journal&format=xero', 'Enter a currency'],
    ['from=2026-02-31', 'Enter a day'],
    ['from=2026-02-02&to=2026-02-01', 'not before the first one'],
  ]) {
    const response = await finance.get(`${path}?${query!}`);
    expect([query, response.status]).toEqual([query, 422]);
    expect(await response.text()).toContain(words);
  }
  const wrong = await finance.post('/dashboard/test/bookkeeping', {
    time_zone: 'Berlin',
    tax_rate: 'None',
  });
  expect([wrong.status, await wrong.text()]).toEqual([
    422,
    expect.stringContaining('is no time zone'),
  ]);
  const { accountId: other } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const viewer = await makeUser(gateway.db, 'merchant', 'viewer', other);
  const stranger = await signedIn(gateway.baseUrl, viewer);
  for (const kind of EXPORTS) {
    const text = await (await stranger.get(`${path}?kind=${kind}&format=json`)).text();
    expect([kind, JSON.parse(text)]).toEqual([kind, []]);
    expect([kind, (await live.get(`/exports?kind=${kind}&format=json`)).json]).toEqual([kind, []]);
  }
  expect((await stranger.post('/dashboard/test/bookkeeping', {})).status).toBe(403);
});

describe('the list of the shop', () => {
  const KINDS = { payment: 'payments', payout: 'payouts', refund: 'refunds' } as const;
  type Kind = keyof typeof KINDS;
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const period = { created_from: day(-1), created_to: day(1) };

  /** What the shop would have written down: everything that has moved. */
  async function listOf(kind: Kind) {
    const moved = (await linesOf({ kind: KINDS[kind] })).filter(
      ({ gross, status }) => new Decimal(gross!).abs().gt(0) && status !== 'pending',
    );
    return moved.map(({ reference, gross, currency }) => ({
      ...{ reference: reference!, amount: new Decimal(gross!).abs().toFixed(8) },
      currency: currency!,
    }));
  }

  const compare = async (object: Kind, rows: object[]) => {
    const { status, text, json } = await client.post('/reconciliations', {
      ...{ object, ...period, rows },
    });
    expect([status, text.slice(0, 200)]).toEqual([200, expect.any(String)]);
    return json.data;
  };

  test.each(['payment', 'payout', 'refund'] as const)(
    'agrees with every %s that has moved [endpoint POST /reconciliations]',
    async (kind) => {
      const rows = await listOf(kind);
      const { counts, totals } = await compare(kind, rows);
      expect(counts).toEqual({ matched: rows.length, different: 0, unknown: 0, missing: 0 });
      expect(totals.length).toBeGreaterThan(0);
      for (const { expected, recorded } of totals) expect(recorded).toBe(expected);
    },
  );

  test('is told of a wrong amount, a wrong currency, a repeated, an unknown and a missing reference, and of what has not moved', async () => {
    const [first, second, third, lacking, ...rest] = await listOf('payout');
    const failed = (await linesOf({ kind: 'payouts' })).find(({ status }) => status === 'failed')!;
    const rows = [
      { ...first!, amount: '0.00000001' },
      { ...second!, currency: 'XRP' },
      third!,
      third!,
      { reference: 'nobody', amount: '1', currency: 'USDT' },
      { reference: failed['reference']!, amount: failed['requested']!, currency: 'USDT' },
      ...rest,
    ];
    const data = await compare('payout', rows);
    expect(data.counts).toEqual({
      ...{ matched: rest.length + 1, different: 4, unknown: 1, missing: 1 },
    });
    const open = (data.rows as Line[]).filter(({ outcome }) => outcome !== 'matched');
    expect(open.map(({ row, outcome, difference }) => [row, outcome, difference])).toEqual([
      [1, 'different', 'amount'],
      [2, 'different', 'currency'],
      [4, 'different', 'repeated'],
      [5, 'unknown', null],
      [6, 'different', 'status'],
      [null, 'missing', null],
    ]);
    expect(open.at(-1)).toMatchObject({
      ...{ reference: lacking!.reference, recorded_amount: lacking!.amount },
      expected_amount: null,
    });
    expect(open[4]).toMatchObject({ status: 'failed', object_id: failed['id'] });
  });

  test('each wrong row of a request is named', async () => {
    const good = { reference: 'a', amount: '1', currency: 'USDT' };
    const rows = [good, { ...good, amount: '0' }, 'text', { ...good, reference: undefined }];
    const { status, json } = await client.post('/reconciliations', {
      ...{ object: 'payment', ...period, rows },
    });
    expect(status).toBe(422);
    const { fields } = json.error.details;
    expect((fields as Line[]).map(({ field, rule }) => [field, rule])).toEqual([
      ['rows.1.amount', 'min_amount'],
      ['rows.2', 'type'],
      ['rows.3.reference', 'required'],
    ]);
    const long = { created_from: '2024-01-01', created_to: '2026-01-01' };
    const answer = await client.post('/reconciliations', {
      ...{ object: 'payment', ...long, rows: [good] },
    });
    expect(answer.json.error.details.fields).toMatchObject([{ field: 'created_to' }]);
  });

  test('is compared on the dashboard as a spreadsheet writes it, and the result is a file', async () => {
    const [changed, ...rest] = await listOf('refund');
    const cells = [{ ...changed!, amount: '9.5' }, ...rest].map(({ reference, amount, currency }) =>
      [reference, amount.replace('.', ','), currency].join(';'),
    );
    const form = {
      ...{ object: 'refund', from: period.created_from, to: period.created_to },
      table: ['reference;amount;currency', ...cells].join('\n'),
    };
    const page = await finance.post('/dashboard/test/reconcile', form);
    const text = await page.text();
    expect([page.status, text]).toEqual([200, expect.stringContaining(changed!.reference)]);
    expect(text).toContain('Amount differs');
    const download = await finance.post('/dashboard/test/reconcile/result.csv', form);
    const lines: Line[] = parse(await download.text(), { columns: true });
    expect(lines.map(({ outcome }) => outcome)).toEqual([
      'different',
      ...rest.map(() => 'matched'),
    ]);
    const unclear = { ...form, from: '', table: 'reference,amount,currency\na,"1,000",USDT\n' };
    const refused = await finance.post('/dashboard/test/reconcile', unclear);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('Row 1: amount');
  });
});

test('a key that may not read payouts exports no file with their destinations', async () => {
  const sql = `UPDATE api_keys SET scopes = '{payments:read}' WHERE account_id = ? AND mode = 'live'`;
  await gateway.db.query(sql, [accountId]);
  const statuses = await Promise.all(
    EXPORTS.map(async (kind) => [kind, (await live.get(`/exports?kind=${kind}`)).status]),
  );
  expect(Object.fromEntries(statuses)).toEqual({
    payments: 200,
    refunds: 200,
    journal: 200,
    payouts: 403,
    batches: 403,
    transactions: 403,
    fees: 403,
  });
  const rows = [{ reference: 'a', amount: '1', currency: 'USDT' }];
  const list = { created_from: '2026-01-01', created_to: '2026-01-31', rows };
  expect((await live.post('/reconciliations', { object: 'payment', ...list })).status).toBe(200);
  expect((await live.post('/reconciliations', { object: 'payout', ...list })).status).toBe(403);
});
