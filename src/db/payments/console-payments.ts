/** Payments as operators read them, over all accounts and both modes. */
import { MODES, type Mode } from '../../domain/mode';
import type { Payment, PaymentStatus } from '../../domain/payment';
import type { Refund } from '../../domain/refund';
import type { Db } from '../transaction';
import type { Case } from '../cases/cases';
import { exactTime, type ListPage, type Page, pageOf } from '../lists';
import type { StoredDecision } from './payment-decisions';
import { listRefunds } from './payment-refunds';
import { type CreditedTransfer, listCredits } from './payments';

/** The reasons why an operator may have to look at a payment. */
export const PAYMENT_FLAGS = ['exception', 'open_case'] as const;

export interface ConsolePaymentFilters {
  mode?: Mode | undefined;
  status?: PaymentStatus | undefined;
  accountId?: string | undefined;
  flag?: (typeof PAYMENT_FLAGS)[number] | undefined;
  /** The id or the reference. */
  search?: string | undefined;
  createdFrom?: string;
  createdTo?: string;
}

export type ConsolePayment = Payment & { accountName: string; openCases: number };

/** Further open cases are in the list of cases only. */
const OPEN_CASES_MAX = 1_000;

const FLAGS: Record<(typeof PAYMENT_FLAGS)[number], string> = {
  exception: `p.exceptions <> '{}'`,
  // With an array the payments are found by their ids.
  open_case: `p.id = ANY (ARRAY(SELECT object_id FROM cases WHERE resolved_at IS NULL
    AND object_id LIKE 'pay\\_%' ORDER BY created_at DESC, id DESC LIMIT ${OPEN_CASES_MAX}))`,
};

const COLUMNS = `p.*, a.name AS account_name,
  (SELECT count(*)::integer FROM cases c
    WHERE c.object_id = p.id AND c.resolved_at IS NULL) AS open_cases`;

export async function listConsolePayments(
  db: Db,
  query: Page & { filters: ConsolePaymentFilters },
): Promise<ListPage<ConsolePayment>> {
  const { limit, after, filters } = query;
  const { mode, status, accountId, flag, search, createdFrom, createdTo } = filters;
  // The indexes of an account have the mode before the time.
  const modes = accountId !== undefined && mode === undefined ? MODES : [mode];
  const asked = modes.map((one) =>
    (
      [
        ['p.mode = ?', one],
        ['p.status = ?', status],
        ['p.account_id = ?', accountId],
        ['(p.id = ? OR p.reference = ?)', search, search],
        ['p.created_at >= ?', createdFrom],
        ['p.created_at <= ?', createdTo],
        ['(p.created_at, p.id) < (?, ?)', after?.createdAt, after?.id],
      ] as const
    ).filter(([, value]) => value !== undefined),
  );
  // The indexes over all accounts have this condition.
  const always = [
    accountId === undefined ? `p.id > ''` : 'true',
    ...(flag === undefined ? [] : [FLAGS[flag]]),
  ];
  const parts = asked.map(
    (conditions) =>
      `(SELECT p.* FROM payments p WHERE ${[...always, ...conditions.map(([sql]) => sql)].join(' AND ')}
         ORDER BY p.created_at DESC, p.id DESC LIMIT ?)`,
  );
  const found = await db.query<ConsolePayment & { position: string }>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM (${parts.join(' UNION ALL ')}) AS p
       ORDER BY created_at DESC, id DESC LIMIT ?)
     SELECT ${COLUMNS}, ${exactTime('p.created_at')} AS position
       FROM page p JOIN accounts a ON a.id = p.account_id
      ORDER BY p.created_at DESC, p.id DESC`,
    [
      ...asked.flatMap((conditions) => [
        ...conditions.flatMap(([, ...values]) => values as string[]),
        limit + 1,
      ]),
      limit + 1,
    ],
  );
  return pageOf(found, limit);
}

/** What is stored about one payment. */
export interface PaymentRecords {
  payment: ConsolePayment;
  credits: CreditedTransfer[];
  refunds: (Refund & { personEmail: string | null })[];
  /** Decisions of operators, newest first. */
  decisions: StoredDecision[];
  /** Cases, the open ones first. */
  cases: Pick<Case, 'id' | 'kind' | 'createdAt' | 'resolvedAt'>[];
}

/** The limit is far above what a payment has. */
const RECORDS_MAX = 100;

export async function readPaymentRecords(db: Db, id: string): Promise<PaymentRecords | null> {
  const [payment] = await db.query<ConsolePayment>(
    `SELECT ${COLUMNS} FROM payments p JOIN accounts a ON a.id = p.account_id WHERE p.id = ?`,
    [id],
  );
  if (payment === undefined) return null;
  const [credits, refunds, decisions, cases] = await Promise.all([
    listCredits(db, id),
    listRefunds(db, id),
    db.query<StoredDecision>(
      `SELECT id, number, kind, amount, requested_by, decided_by, reason, state, refusal,
              decided_at FROM payment_decisions WHERE payment_id = ? ORDER BY number DESC LIMIT ${RECORDS_MAX}`,
      [id],
    ),
    db.query<PaymentRecords['cases'][number]>(
      `SELECT id, kind, created_at, resolved_at FROM cases WHERE object_id = ?
        ORDER BY resolved_at IS NOT NULL, created_at DESC LIMIT ${RECORDS_MAX}`,
      [id],
    ),
  ]);
  return { payment, credits, refunds: await withPersons(db, refunds), decisions, cases };
}

/** A person of the dashboard stands in place of a key. */
async function withPersons(db: Db, refunds: readonly Refund[]): Promise<PaymentRecords['refunds']> {
  const ids = refunds.flatMap(({ apiKeyId }) => apiKeyId ?? []);
  const people =
    ids.length === 0
      ? []
      : await db.query<{ id: string; email: string }>(
          'SELECT id, email FROM users WHERE id = ANY (?::text[])',
          [ids],
        );
  const emails = new Map(people.map(({ id, email }) => [id, email]));
  return refunds.map((refund) => ({
    ...refund,
    personEmail: emails.get(refund.apiKeyId ?? '') ?? null,
  }));
}
