/** Payouts as operators find them, over all accounts and both modes, and what one has waited for. */
import { MODES, type Mode } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { ProviderCode } from '../../domain/provider-codes';
import {
  type Payout,
  PAYOUT_STATUSES,
  payoutStatusGroup,
  type PayoutStatus,
} from '../../domain/payout';
import type { Db } from '../transaction';
import { exactTime, type ListPage, type Page, pageOf, type Position } from '../lists';
import { IS_OVERDUE } from './payout-conditions';

/** The ways in which an open payout waits longer than it should. */
export const PAYOUT_WAITS = ['overdue', 'stuck', 'in_doubt'] as const;
export type PayoutWait = (typeof PAYOUT_WAITS)[number];

/**
 * `overdue` means that the time at which it should be sent or returned has passed. `stuck` means that the
 * provider accepted the payout, and has given no result for so long that the attention level rose.
 */
export const WAITS: Record<PayoutWait, string> = {
  overdue: IS_OVERDUE,
  stuck: `p.status = 'processing' AND p.attention_level > 0`,
  in_doubt: 'p.in_doubt_since IS NOT NULL',
};

export interface ConsolePayoutFilters {
  mode?: Mode | undefined;
  status?: PayoutStatus | undefined;
  accountId?: string | undefined;
  currency?: string | undefined;
  wait?: PayoutWait | undefined;
  provider?: ProviderCode | undefined;
  amountMin?: Amount | undefined;
  amountMax?: Amount | undefined;
  /** Finds payouts that have escalated to this level at least. */
  level?: number | undefined;
  /** The id, the reference, the destination or the transaction's hash, in full. */
  search?: string | undefined;
  createdFrom?: string;
  createdTo?: string;
}

export type ConsolePayout = Payout & { accountName: string };

type Condition = readonly [sql: string, ...values: string[]];

export async function listConsolePayouts(
  db: Db,
  query: Page & { filters: ConsolePayoutFilters },
): Promise<ListPage<ConsolePayout>> {
  const { limit, after, filters } = query;
  const common = conditionsOf(filters, after);
  const parts = placesOf(filters).map((place) => {
    const all = [...place, ...common];
    return {
      sql: `(SELECT p.* FROM payouts p WHERE ${all.map(([sql]) => sql).join(' AND ')}
               ORDER BY p.created_at DESC, p.id DESC LIMIT ?)`,
      values: [...all.flatMap(([, ...values]) => values), limit + 1],
    };
  });
  const found = await db.query<ConsolePayout & { position: string }>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM (${parts.map(({ sql }) => sql).join(' UNION ')}) AS p
        ORDER BY created_at DESC, id DESC LIMIT ?)
     SELECT p.*, a.name AS account_name, ${exactTime('p.created_at')} AS position
       FROM page p JOIN accounts a ON a.id = p.account_id
      ORDER BY p.created_at DESC, p.id DESC`,
    [...parts.flatMap(({ values }) => values), limit + 1],
  );
  return pageOf(found, limit);
}

function conditionsOf(filters: ConsolePayoutFilters, after: Position | null): Condition[] {
  const { mode, status, accountId, currency, wait, level, createdFrom, createdTo } = filters;
  const wished = (
    [
      ['p.mode = ?', mode],
      ['p.status = ?', status],
      ['p.account_id = ?', accountId],
      ['p.currency = ?', currency],
      ['p.provider = ?', filters.provider],
      ['p.amount >= ?::numeric', filters.amountMin],
      ['p.amount <= ?::numeric', filters.amountMax],
      ['p.attention_level >= ?::smallint', level === undefined ? undefined : String(level)],
      ['p.created_at >= ?', createdFrom],
      ['p.created_at <= ?', createdTo],
      ['(p.created_at, p.id) < (?, ?)', after?.createdAt, after?.id],
    ] as const
  ).filter(([, value]) => value !== undefined) as Condition[];
  return [
    ...wished,
    ...(wait === undefined ? [] : [[WAITS[wait]] as const]),
    ...(level === undefined ? [] : [['p.attention_level > 0'] as const]),
    // The indexes over all accounts have this condition.
    ...(accountId === undefined ? [[`p.id > ''`] as const] : []),
  ];
}

const SEARCHED = ['id', 'reference', 'destination_value', 'tx_hash'] as const;
const GROUPS = [...new Set(PAYOUT_STATUSES.map(payoutStatusGroup))];

/**
 * The conditions whose rows are read separately and put together, because each has an index in the
 * order of the list.
 */
function placesOf({ mode, status, wait, level, search }: ConsolePayoutFilters): Condition[][] {
  if (search !== undefined) return SEARCHED.map((column) => [[`p.${column} = ?`, search]]);
  if (wait !== undefined || level !== undefined) return [[]];
  const modes = mode === undefined ? MODES : [mode];
  const groups = status === undefined ? GROUPS : [payoutStatusGroup(status)];
  return modes.flatMap((one) =>
    groups.map((group): Condition[] => [
      ['p.mode = ?', one],
      ['p.status_group = ?', group],
    ]),
  );
}

/** The moment at which a waiting payout reached an attention level. */
export interface PayoutEscalation {
  status: PayoutStatus;
  /** 0 when the payout became in doubt. */
  level: number;
  notedAt: Date;
}

/** The escalations, newest first. A payout has few of them. */
export function listEscalations(db: Db, payoutId: string): Promise<PayoutEscalation[]> {
  return db.query<PayoutEscalation>(
    `SELECT status, level, noted_at FROM payout_escalations WHERE payout_id = ?
      ORDER BY id DESC LIMIT 20`,
    [payoutId],
  );
}
