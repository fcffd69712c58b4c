/**
 * Accounts, payouts and postings for the tests of the ledger: made the way the gateway makes
 * them, through `post`, as the application's role.
 */
import type { Knex } from 'knex';
import { type BalanceKey, post, type PostResult } from '../../src/db/repositories/ledger';
import { inTransaction, rows } from '../../src/db/transaction';
import { totalDebit } from '../../src/domain/fees';
import {
  adjustmentPosting,
  creditPosting,
  type PayoutMoney,
  type Posting,
} from '../../src/domain/ledger';
import type { Mode } from '../../src/domain/mode';
import { amount } from '../../src/domain/money';
import type { PayoutStatus } from '../../src/domain/payout';
import { newId } from '../../src/lib/new-id';

/** An account that nobody else uses, so that a test file can share one database. */
export async function makeAccount(db: Knex): Promise<string> {
  const id = newId('account');
  await rows(db, 'INSERT INTO accounts (id, name) VALUES (?, ?)', [id, `Merchant ${id}`]);
  return id;
}

export function buildPayoutMoney(total: string, fees: { service?: string; network?: string } = {}) {
  const id = newId('payout');
  const serviceFee = amount(fees.service ?? '0');
  const networkFee = amount(fees.network ?? '0');
  const payout: PayoutMoney = {
    id,
    reference: `order-${id.slice(-8)}`,
    amount: amount(total),
    serviceFee,
    networkFee,
    totalDebit: totalDebit(amount(total), serviceFee, networkFee),
  };
  return payout;
}

export async function insertPayout(
  db: Knex,
  { accountId, mode, currency }: BalanceKey,
  payout: PayoutMoney,
  status: PayoutStatus,
): Promise<void> {
  await db('payouts').insert({
    id: payout.id,
    account_id: accountId,
    mode,
    reference: payout.reference,
    status,
    provider: 'onchain_provider',
    amount: payout.amount,
    currency,
    network: 'ethereum',
    destination_type: 'crypto_address',
    destination_value: '0x0000000000000000000000000000000000000000',
    service_fee: payout.serviceFee,
    network_fee: payout.networkFee,
    total_debit: payout.totalDebit,
    fee_terms: {},
    api_key_id: `key_${payout.id}`,
    review_reasons: [],
  });
}

/** A payment whose one transfer was credited. */
export async function creditPayment(
  db: Knex,
  key: BalanceKey,
  received: string,
  fee: string,
): Promise<void> {
  const id = newId('payment');
  const transfer = { id: `transfer-of-${id}`, amount: amount(received), fee: amount(fee) };
  await db('payments').insert({
    id,
    account_id: key.accountId,
    mode: key.mode,
    reference: id,
    status: 'completed',
    provider: 'onchain_provider',
    amount: received,
    currency: key.currency,
    network: 'ethereum',
    received_amount: received,
    credited_amount: received,
    service_fee: fee,
    fee_terms: {},
    checkout_url: 'https://provider.example.com/checkout/1',
    api_key_id: `key_${id}`,
    provider_checkout_id: `checkout-of-${id}`,
    expires_at: new Date(),
  });
  await db('payment_credits').insert({
    payment_id: id,
    provider_transfer_id: transfer.id,
    amount: received,
    fee,
  });
  await postAlone(db, key, creditPosting({ id, reference: id }, transfer));
}

/** One posting in a transaction of its own. */
export function postAlone(db: Knex, key: BalanceKey, posting: Posting): Promise<PostResult> {
  return inTransaction(db, (tx) => post(tx, key, posting));
}

export function fund(
  db: Knex,
  key: BalanceKey,
  text: string,
  direction: 'in' | 'out' = 'in',
): Promise<PostResult> {
  const reason = 'A test needs it';
  const id = newId('adjustment');
  return postAlone(db, key, adjustmentPosting({ id, direction, amount: amount(text), reason }));
}

export async function fundedBalance(
  db: Knex,
  text: string,
  place: { mode?: Mode; currency?: string; accountId?: string } = {},
): Promise<BalanceKey> {
  const key: BalanceKey = {
    accountId: place.accountId ?? (await makeAccount(db)),
    mode: place.mode ?? 'test',
    currency: place.currency ?? 'USDT',
  };
  await fund(db, key, text);
  return key;
}
