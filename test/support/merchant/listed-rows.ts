/**
 * Rows of the two lists, payouts and transactions, put straight into the tables with the owner's
 * rights: any number, at any moment, without Temporal.
 */
import type { Db } from '../../../src/db/transaction';
import type { TransactionType } from '../../../src/domain/ledger';
import type { Mode } from '../../../src/domain/mode';
import type { PayoutStatus } from '../../../src/domain/payout';
import type { ProviderCode } from '../../../src/domain/provider-codes';
import { newId } from '../../../src/platform/lib/new-id';
import type { ApiAnswer } from './merchant-client';

export interface ListedRow {
  id: string;
  /** With microseconds and Z, so that the text sorts as the time does. */
  at: string;
  currency: string;
  status: PayoutStatus;
  provider: ProviderCode;
  type: TransactionType;
  sourceId: string;
}

export interface ListScope {
  accountId: string;
  mode: Mode;
}

/** Newest first: the order of every list. */
export function newestFirst(one: ListedRow, other: ListedRow): number {
  const [a, b] = [one.at + one.id, other.at + other.id];
  return a < b ? 1 : a > b ? -1 : 0;
}

export async function insertPayouts(
  owner: Db,
  scope: ListScope,
  added: Omit<ListedRow, 'type' | 'sourceId'>[],
): Promise<void> {
  await owner.query(
    `INSERT INTO payouts (id, account_id, mode, reference, status, provider, amount, currency,
                          network, destination_type, destination_value, service_fee, network_fee,
                          total_debit, fee_terms, api_key_id, review_reasons, created_at)
     SELECT id, ?, ?, id, status, provider, 10, currency, 'tron', 'crypto_address',
            'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 0, 0, 10, '{}', 'key', '{}', at
       FROM jsonb_to_recordset(?::jsonb)
         AS row(id text, status text, provider text, currency text, at timestamptz)`,
    [scope.accountId, scope.mode, JSON.stringify(added)],
  );
}

let version = 0;

/** Each adds 10 to what is available; the balance itself is not kept. */
export async function insertTransactions(
  owner: Db,
  scope: ListScope,
  added: ListedRow[],
): Promise<void> {
  const numbered = added.map((row) => ({ ...row, version: ++version }));
  await owner.query(
    `WITH added AS (
       SELECT * FROM jsonb_to_recordset(?::jsonb) AS row(
         id text, currency text, type text, "sourceId" text, version bigint, at timestamptz)
     ), posted AS (
       INSERT INTO ledger_transactions
       SELECT id, id, ?, ?, currency, type, 'listed', 'payout', "sourceId", version, at FROM added
     )
     INSERT INTO ledger_entries
     SELECT id, line, account, direction, 10, CASE line WHEN 1 THEN 10 END
       FROM added, (VALUES (1, 'available', 'in'), (2, 'adjustments', 'out'))
         AS entry(line, account, direction)`,
    [JSON.stringify(numbered), scope.accountId, scope.mode],
  );
}

/** The same rows under other ids: what another account or the other mode has. */
export function underOtherIds(kind: 'payout' | 'transaction', all: ListedRow[]): ListedRow[] {
  return all.map((row) => ({ ...row, id: newId(kind) }));
}

/**
 * Every object of the list, in the order they were met.
 * @param path with its filters, such as `/payouts?limit=4`
 * @param between what happens after a page that was not the last; it gets all that was met so far
 */
export async function walkList(
  get: (path: string) => Promise<ApiAnswer>,
  path: string,
  between: (met: ApiAnswer['json'][]) => Promise<void> = () => Promise.resolve(),
): Promise<ApiAnswer['json'][]> {
  const met: ApiAnswer['json'][] = [];
  for (let here = path; ;) {
    const { status, text, json } = await get(here);
    if (status !== 200) throw new Error(`GET ${here} was answered with ${status} ${text}`);
    met.push(...json.data);
    if (json.links.next === null) return met;
    const next = new URL(json.links.next);
    here = next.pathname.replace('/api/v1', '') + next.search;
    await between(met);
  }
}
