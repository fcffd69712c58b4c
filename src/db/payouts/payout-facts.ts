/** Reads the facts that domain/terms.ts decides by, in one statement. */
import type { FeeTerms } from '../../domain/fees';
import { type Amount, ZERO } from '../../domain/money';
import type { Owner } from '../../domain/mode';
import { type PayoutRequest, RETURNED_PAYOUT_STATUSES } from '../../domain/payout';
import type { AccountRules, KeyFacts, PayoutFacts } from '../../domain/terms';
import type { ProviderCode } from '../../domain/provider-codes';
import { sqlList, type Db, type Tx } from '../transaction';
import { personAlone } from '../approvals/second-person';

/** The payout whose facts are read. */
export interface FactsQuery extends Owner {
  /** The id of the key, or of the user of the dashboard. */
  apiKeyId: string;
  provider: ProviderCode;
  /** The network is compared too, because a memo identifies a different recipient on each. */
  network: string | null;
  request: PayoutRequest;
  /** Whether an operator asked for it, who is neither a key nor a user of the account. */
  byOperator?: boolean;
}

interface FactsRow {
  now: Date;
  available: Amount | null;
  pauseReason: string | null;
  percentage: string | null;
  fixedAmount: Amount;
  minFee: Amount | null;
  maxFee: Amount | null;
  limitsSet: boolean;
  perTransactionMax: Amount | null;
  dailyMax: Amount | null;
  autoApproveMax: Amount | null;
  autoApproveDailyMax: Amount | null;
  used: Amount | null;
  autoApproved: Amount | null;
  windowResetsAt: Date | null;
  fourEyesThreshold: Amount | null;
  reviewAll: boolean;
  rehearseReview: boolean;
  destinationUsedBefore: boolean;
  apiKeySecretSince: Date | null;
  existingId: string | null;
  recipientsOnly: boolean;
  keyRecipientsOnly: boolean | null;
  keyCurrencies: string[] | null;
  keyPerPayoutMax: Amount | null;
  keyDailyMax: Amount | null;
  keyUsed: Amount | null;
  keyResetsAt: Date | null;
  secondPersonAbove: Amount | null;
}

/**
 * SQL: whether a completed payout went to exactly the same destination.
 * @param order alias of the row with the account, mode, destination and network
 */
export function wasPaidBefore(order: string): string {
  return `EXISTS (SELECT FROM payouts paid
      WHERE paid.account_id = ${order}.account_id AND paid.mode = ${order}.mode
        AND paid.status = 'completed'
        AND paid.destination_value = ${order}.destination_value
        AND paid.destination_type = ${order}.destination_type
        AND paid.destination_memo IS NOT DISTINCT FROM ${order}.destination_memo
        AND paid.network IS NOT DISTINCT FROM ${order}.network)`;
}

/** An account's own fee rule and limits take precedence over the defaults. */
const SQL = `
WITH q (account_id, mode, currency, provider, api_key_id, destination_type, destination_value,
        destination_memo, network, reference, amount)
  AS (VALUES (?, ?, ?, ?, ?, ?, ?, ?::text, ?::text, ?, ?::numeric))
SELECT clock_timestamp() AS now, b.available, pause.reason AS pause_reason,
       fee.percentage, fee.fixed_amount, fee.min_fee, fee.max_fee,
       NOT policy.unset && ARRAY['per_transaction_max', 'daily_max'] AS limits_set,
       policy.per_transaction_max, policy.daily_max,
       policy.auto_approve_max, policy.auto_approve_daily_max,
       day.used, day.auto_approved, resets.window_resets_at,
       (SELECT t.amount FROM four_eyes_thresholds t WHERE t.currency = q.currency)
         AS four_eyes_threshold, a.review_all, a.rehearse_review, a.recipients_only,
       alone.remaining AS second_person_above,
       k.recipients_only AS key_recipients_only, k.payout_currencies AS key_currencies,
       key_limit.per_payout::numeric(38,8) AS key_per_payout_max,
       key_limit.per_day::numeric(38,8) AS key_daily_max,
       key_day.used AS key_used, key_day.resets_at AS key_resets_at,
       ${wasPaidBefore('q')} AS destination_used_before,
       coalesce(k.secret_changed_at, k.created_at, u.created_at) AS api_key_secret_since,
       (SELECT p.id FROM payouts p
         WHERE p.account_id = q.account_id AND p.mode = q.mode AND p.reference = q.reference
       ) AS existing_id
  FROM q
  JOIN accounts a ON a.id = q.account_id
  LEFT JOIN api_keys k ON k.id = q.api_key_id
  -- A payout that is requested on the dashboard has a person instead of a key.
  LEFT JOIN users u ON u.id = q.api_key_id
  LEFT JOIN LATERAL ${personAlone('q.account_id', 'q.mode', 'q.currency', 'q.api_key_id')} alone
    ON true
  LEFT JOIN LATERAL jsonb_to_record(k.payout_limits -> q.currency)
    AS key_limit (per_payout text, per_day text) ON true
  LEFT JOIN LATERAL key_used(q.account_id, q.mode, q.currency, k.id) key_day
    ON key_limit.per_day IS NOT NULL
  LEFT JOIN balances b
    ON b.account_id = q.account_id AND b.mode = q.mode AND b.currency = q.currency
  LEFT JOIN LATERAL (
    SELECT x.reason FROM payout_pauses x
     WHERE (x.scope, x.target) IN
           (('global', ''), ('provider', q.provider), ('account', q.account_id))
       AND (x.mode IS NULL OR x.mode = q.mode)
     ORDER BY x.id LIMIT 1
  ) pause ON true
  LEFT JOIN LATERAL (
    SELECT f.* FROM fee_rules f
     WHERE f.direction = 'payout' AND f.provider = q.provider AND f.currency = q.currency
       AND (f.account_id = q.account_id OR f.account_id IS NULL)
       AND f.valid_from <= now() AND (f.valid_until IS NULL OR f.valid_until > now())
     ORDER BY f.account_id NULLS LAST, f.valid_from DESC, f.id DESC LIMIT 1
  ) fee ON true
  LEFT JOIN LATERAL payout_policy(q.account_id, q.currency) policy ON true
  LEFT JOIN LATERAL payout_used(q.account_id, q.mode, q.currency) day
    ON coalesce(policy.daily_max, policy.auto_approve_daily_max) IS NOT NULL
  -- Only a refusal names the time.
  LEFT JOIN LATERAL (
    SELECT min(p.created_at) + interval '24 hours' AS window_resets_at
      FROM payouts p
     WHERE p.account_id = q.account_id AND p.mode = q.mode AND p.currency = q.currency
       AND p.created_at > statement_timestamp() - interval '24 hours'
       AND p.status NOT IN (${sqlList(RETURNED_PAYOUT_STATUSES)})
  ) resets ON day.used + q.amount > policy.daily_max`;

/**
 * Takes the locks under which limits of 24 hours are counted, if the account or the key has one in this
 * currency.
 * It must be taken before the statement that reads the facts, so that they include what it waited for.
 */
export function lockUsage(
  tx: Tx,
  {
    accountId,
    mode,
    currency,
    apiKeyId,
  }: Owner &
    Pick<FactsQuery, 'apiKeyId'> & {
      currency: string;
    },
): void {
  const key = [accountId, mode, currency, apiKeyId];
  tx.sendWithNext('SELECT lock_payout_limits(?, ?, ?, ?)', key);
}

/** @param db in the reserving transaction, after `lockUsage` */
export async function readPayoutFacts(db: Db | Tx, query: FactsQuery): Promise<PayoutFacts> {
  const { accountId, mode, apiKeyId, provider, network, request } = query;
  const { currency, destination, reference } = request;
  const [row] = await db.prepared<FactsRow>(SQL, [
    accountId,
    mode,
    currency,
    provider,
    apiKeyId,
    destination.type,
    destination.value,
    destination.memo ?? null,
    network,
    reference,
    request.amount,
  ]);
  // The requester is neither a key nor a user, for which SQL finds no time.
  const since = query.byOperator === true ? new Date(0) : row?.apiKeySecretSince;
  if (row === undefined || since === undefined || since === null) {
    throw new Error(`account ${accountId} or key ${apiKeyId} does not exist`);
  }
  return {
    now: row.now,
    available: row.available ?? ZERO,
    pauseReason: row.pauseReason,
    feeTerms: feeTerms(row),
    limitsSet: row.limitsSet,
    perTransactionMax: row.perTransactionMax,
    dailyMax: row.dailyMax,
    autoApproveMax: row.autoApproveMax,
    autoApproveDailyMax: row.autoApproveDailyMax,
    usedToday: row.used ?? ZERO,
    autoApprovedToday: row.autoApproved ?? ZERO,
    windowResetsAt: row.windowResetsAt,
    fourEyesThreshold: row.fourEyesThreshold,
    reviewAll: row.reviewAll,
    rehearseReview: row.rehearseReview,
    destinationUsedBefore: row.destinationUsedBefore,
    apiKeySecretSince: since,
    existingId: row.existingId,
    recipientsOnly: row.recipientsOnly,
    secondPersonAbove: row.secondPersonAbove,
    key: {
      recipientsOnly: row.keyRecipientsOnly ?? false,
      currencies: row.keyCurrencies ?? [],
      perPayoutMax: row.keyPerPayoutMax,
      dailyMax: row.keyDailyMax,
      usedToday: row.keyUsed ?? ZERO,
      resetsAt: row.keyResetsAt,
    },
  };
}

function feeTerms(row: FactsRow): FeeTerms | null {
  if (row.percentage === null) return null;
  return {
    percentage: row.percentage,
    fixedAmount: row.fixedAmount,
    minFee: row.minFee,
    maxFee: row.maxFee,
  };
}

/** The account's limits of payouts, which its refunds count in too. Nothing is locked here. */
export async function readAccountRules(
  db: Db | Tx,
  { accountId, mode }: Owner,
  currency: string,
): Promise<AccountRules> {
  const [found] = await db.query<Omit<AccountRules, 'usedToday'> & { used: Amount | null }>(
    `SELECT a.recipients_only, policy.per_transaction_max, policy.daily_max, day.used,
            CASE WHEN day.used IS NOT NULL THEN (
              SELECT min(created_at) + interval '24 hours'
                FROM (SELECT created_at FROM payouts
                       WHERE account_id = a.id AND mode = q.mode AND currency = q.currency
                         AND status NOT IN (${sqlList(RETURNED_PAYOUT_STATUSES)})
                       UNION ALL
                      SELECT created_at FROM payment_refunds
                       WHERE account_id = a.id AND mode = q.mode AND currency = q.currency
                         AND requested_by = 'merchant' AND state <> 'refused') AS counted
               WHERE created_at > statement_timestamp() - interval '24 hours') END AS resets_at
       FROM (VALUES (?, ?, ?)) AS q (account, mode, currency)
       JOIN accounts a ON a.id = q.account
       LEFT JOIN LATERAL payout_policy(a.id, q.currency) policy ON true
       LEFT JOIN LATERAL payout_used(a.id, q.mode, q.currency) day ON policy.daily_max IS NOT NULL`,
    [accountId, mode, currency],
  );
  if (found === undefined) throw new Error(`account ${accountId} does not exist`);
  const { used, ...rules } = found;
  return { ...rules, usedToday: used ?? ZERO };
}

/** The limits of an API key; a person of the dashboard has none. */
export async function readKeyFacts(
  db: Db | Tx,
  whose: Owner & Pick<FactsQuery, 'apiKeyId'>,
  currency: string,
): Promise<KeyFacts> {
  const { accountId, mode, apiKeyId } = whose;
  const [key] = await db.query<Omit<KeyFacts, 'usedToday'> & { used: Amount | null }>(
    `SELECT k.recipients_only, k.payout_currencies AS currencies,
            (k.payout_limits -> ? ->> 'per_payout')::numeric(38,8) AS per_payout_max,
            (k.payout_limits -> ? ->> 'per_day')::numeric(38,8) AS daily_max, day.used, day.resets_at
       FROM api_keys k LEFT JOIN LATERAL key_used(?, ?, ?, k.id) day
            ON k.payout_limits -> ? ->> 'per_day' IS NOT NULL
      WHERE k.id = ?`,
    [currency, currency, accountId, mode, currency, currency, apiKeyId],
  );
  const { used, ...limits } = key ?? NO_LIMITS;
  return { ...limits, usedToday: used ?? ZERO };
}

const NO_LIMITS = {
  recipientsOnly: false,
  currencies: [],
  perPayoutMax: null,
  dailyMax: null,
  resetsAt: null,
  used: null,
};
