/**
 * What the repositories give to an account is the account's own, and of one mode: another account and
 * the other mode of the same account have the same objects here.
 */
import { listApiKeys } from '../../../src/db/api-keys/api-keys';
import { findEventBody } from '../../../src/db/webhooks/events';
import { listFeeRules } from '../../../src/db/accounts/fee-rules';
import type { BalanceKey } from '../../../src/db/ledger/ledger';
import { readAttention } from '../../../src/db/object-history';
import { findPaymentByReference } from '../../../src/db/payments/payments';
import { readPayoutFacts } from '../../../src/db/payouts/payout-facts';
import {
  findRequest,
  listRequests,
  writeRequestLog,
} from '../../../src/db/request-log/request-log';
import { listEndpoints } from '../../../src/db/webhooks/webhook-endpoints';
import { amount } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import { appendAudit } from '../../../src/db/audit/audit-log';
import { replayMissing } from '../../../src/features/webhooks/webhook-recovery';
import { readAuditLogOfAccount } from '../../../src/features/audit/audit-log';
import { openTestDatabase } from '../../support/servers/database';
import { addFeeRule } from '../fee-rules';
import {
  buildPayoutMoney,
  insertPayment,
  insertPayout,
  makeAccount,
} from '../../support/merchant/ledger';
import { createKey } from '../../support/merchant/merchant';
import { started } from '../../support/started';

interface Owned extends BalanceKey {
  payoutId: string;
  paymentId: string;
  endpointId: string;
  eventId: string;
  requestId: string;
}

const BY = { actor: 'test', reason: null };

const database = started(() => openTestDatabase({ owner: 2 }));
let own: Owned;
/** The other mode of the same account, and another account. */
let others: Owned[];

beforeAll(async () => {
  const [accountId, stranger] = [
    await makeAccount(database.owner),
    await makeAccount(database.owner),
  ];
  own = await fill({ accountId, mode: 'test', currency: 'USDT' });
  others = [
    await fill({ accountId, mode: 'live', currency: 'USDT' }),
    await fill({ accountId: stranger, mode: 'test', currency: 'USDT' }),
  ];
});

async function fill(key: BalanceKey): Promise<Owned> {
  const { accountId, mode } = key;
  const payout = buildPayoutMoney('1');
  await insertPayout(database.owner, key, payout, 'under_review', {
    reference: `of ${mode} ${accountId}`,
  });
  // A payout under review has no event that an endpoint can get.
  const sent = buildPayoutMoney('1');
  await insertPayout(database.owner, key, sent, 'processing', {
    reference: `sent, of ${mode} ${accountId}`,
  });
  const paymentId = await insertPayment(database.owner, key, 'on_hold');
  await createKey(database.owner, 'a pepper', { accountId, mode });
  const endpointId = newId('webhookEndpoint');
  await database.owner.query(
    `INSERT INTO webhook_endpoints (id, account_id, mode, url, secret_sealed, secret_key_id, created_at)
     VALUES (?, ?, ?, 'https://example.com', '', '', now() - interval '1 day')`,
    [endpointId, accountId, mode],
  );
  const sql = 'SELECT id FROM events WHERE object_id = ?';
  const [event] = await database.owner.query<{ id: string }>(sql, [sent.id]);
  const requestId = newId('request');
  const request = { id: requestId, accountId, mode, apiKeyId: 'key', at: new Date() };
  const answer = { method: 'GET', path: '/', query: '', status: 200, replayed: false };
  const rest = { idempotencyKey: null, address: '127.0.0.1', userAgent: '', durationMs: 1 };
  const bodies = { requestBody: null, responseBody: null };
  await writeRequestLog(database.owner, [{ ...request, ...answer, ...rest, ...bodies }]);
  const made = { endpointId, eventId: event!.id, requestId };
  return { ...key, payoutId: payout.id, paymentId, ...made };
}

test('API keys and endpoints are of one account', async () => {
  for (const list of [listApiKeys, listEndpoints]) {
    const found = await list(database.owner, own.accountId);
    expect(found.map(({ accountId, mode }) => [accountId, mode]).sort()).toEqual([
      [own.accountId, 'live'],
      [own.accountId, 'test'],
    ]);
  }
});

test('what needs attention is counted for one account and mode', async () => {
  expect(await readAttention(database.owner, own.accountId, own.mode)).toMatchObject({
    payoutsUnderReview: 1,
    paymentsOnHold: 1,
  });
});

test('the body of an event and a logged request are found by their account and mode', async () => {
  expect(await findEventBody(database.owner, own, own.eventId)).not.toBeNull();
  expect(await findRequest(database.owner, { ...own, id: own.requestId })).not.toBeNull();
  for (const { eventId, requestId } of others) {
    expect(await findEventBody(database.owner, own, eventId)).toBeNull();
    expect(await findRequest(database.owner, { ...own, id: requestId })).toBeNull();
  }
});

test('the log of requests is of one account and mode', async () => {
  const { items } = await listRequests(database.owner, {
    ...own,
    limit: 10,
    after: null,
    filters: {},
  });
  expect(items.map(({ id }) => id)).toEqual([own.requestId]);
});

test('a reference is one of the account and mode', async () => {
  const find = (reference: string) => findPaymentByReference(database.owner, { ...own, reference });
  expect(await find(own.paymentId)).toBe(own.paymentId);
  for (const { paymentId } of others) expect(await find(paymentId)).toBeNull();
});

test('fees, pauses and references of a payout are those of its account and mode', async () => {
  const [, stranger] = others;
  const [before] = await listFeeRules(database.owner, own.accountId);
  for (const provider of ['onchain_provider', 'exchange_pay'] as const) {
    await addFeeRule(database.owner, {
      accountId: stranger!.accountId,
      provider,
      percentage: '77',
    });
  }
  const pause = "INSERT INTO payout_pauses (scope, target, reason) VALUES ('account', ?, 'other')";
  await database.owner.query(pause, [stranger!.accountId]);
  const rules = await listFeeRules(database.owner, own.accountId);
  expect(rules[0]).toEqual(before);
  expect(rules.map(({ percentage }) => percentage)).not.toContain('77.0000');
  const [key] = await listApiKeys(database.owner, own.accountId);
  const facts = (reference: string) =>
    readPayoutFacts(database.owner, {
      ...{ ...own, apiKeyId: key!.id, provider: 'onchain_provider', network: 'tron' },
      request: {
        ...{ amount: amount('1'), currency: 'USDT', reference, network: 'tron', provider: null },
        destination: { type: 'crypto_address', value: 'x', memo: null },
        ...{ description: null, metadata: {} },
      },
    });
  expect(await facts(`of test ${own.accountId}`)).toMatchObject({ existingId: own.payoutId });
  for (const { mode, accountId } of others) {
    const found = await facts(`of ${mode} ${accountId}`);
    expect(found).toMatchObject({ existingId: null, pauseReason: null });
    expect(found.feeTerms?.percentage).not.toBe('77.0000');
  }
});

test('a replay sends the events of the endpoint’s account and mode', async () => {
  const since = new Date(Date.now() - 60_000);
  await replayMissing(database.owner, BY, null, { endpointId: own.endpointId, since });
  const sql = 'SELECT event_id FROM webhook_deliveries WHERE endpoint_id = ?';
  const sent = await database.owner.query<{ eventId: string }>(sql, [own.endpointId]);
  const ids = sent.map(({ eventId }) => eventId);
  expect(ids).toContain(own.eventId);
  for (const { eventId } of others) expect(ids).not.toContain(eventId);
});

test('the audit log of an account has what concerns it', async () => {
  for (const { accountId, payoutId } of [own, ...others]) {
    const what = { action: 'payout.approve', object: 'payout', objectId: payoutId, accountId };
    await database.owner.transaction((tx) =>
      appendAudit(tx, { ...BY, ...what, before: null, after: null }),
    );
  }
  const { items } = await readAuditLogOfAccount(database.owner, own.accountId, { limit: 100 });
  expect(items.map(({ accountId }) => accountId)).toContain(own.accountId);
  expect(items.filter(({ accountId }) => accountId !== own.accountId)).toEqual([]);
});
