/** Fee rules (decisions/money#service-fees): those in force for an account, and their history. */
import type { ProviderCode } from '../../domain/provider-codes';
import type { Direction, FeeRule, FeeTerms } from '../../domain/fees';
import { changeRow, insertRow, rowsOf } from '../models';
import { lockByName, type Db, type Tx } from '../transaction';

/**
 * One rule for each enabled route's provider, direction and currency: the account's own where it
 * has one, else the default; the newest that is valid now.
 */
export async function listFeeRules(db: Db, accountId: string): Promise<FeeRule[]> {
  return db.query<FeeRule>(
    `SELECT DISTINCT ON (f.direction, f.provider, f.currency)
            f.direction, f.provider, f.currency, f.percentage, f.fixed_amount,
            f.min_fee, f.max_fee
       FROM fee_rules f
      WHERE (f.account_id = ? OR f.account_id IS NULL)
        AND f.valid_from <= now() AND (f.valid_until IS NULL OR f.valid_until > now())
        AND EXISTS (SELECT FROM currency_routes r
                     WHERE (r.provider, r.direction, r.currency)
                         = (f.provider, f.direction, f.currency) AND r.enabled)
      ORDER BY f.direction, f.provider, f.currency,
               f.account_id NULLS LAST, f.valid_from DESC, f.id DESC`,
    [accountId],
  );
}

/** The account and route that a rule applies to. Without an account it is the default. */
export interface FeeScope {
  accountId: string | null;
  direction: Direction;
  provider: ProviderCode;
  currency: string;
}

/** A rule with its validity period: `validFrom` is inclusive, `validUntil` exclusive. */
export interface FeeRuleVersion extends FeeScope, FeeTerms {
  id: string;
  validFrom: Date;
  validUntil: Date | null;
}

const FeeRules = rowsOf<FeeRuleVersion>('fee_rules', {
  read: `id, account_id, direction, provider, currency, percentage, fixed_amount, min_fee, max_fee,
    valid_from, valid_until`,
  writes: `account_id, direction, provider, currency, percentage, fixed_amount, min_fee, max_fee,
    valid_from, valid_until`,
});

const IN_SCOPE = `account_id IS NOT DISTINCT FROM ? AND direction = ? AND provider = ?
  AND currency = ?`;

function scopeValues({ accountId, direction, provider, currency }: FeeScope) {
  return [accountId, direction, provider, currency];
}

/** Locks the scope for the rest of the transaction. @returns the time in whole milliseconds */
export async function lockFeeScope(tx: Tx, scope: FeeScope): Promise<Date> {
  await lockByName(tx, 'fee_rules', ...scopeValues(scope));
  const [clock] = await tx.query<{ now: Date }>(
    `SELECT date_trunc('milliseconds', clock_timestamp()) AS now`,
  );
  if (clock === undefined) throw new Error('PostgreSQL returned no time');
  return clock.now;
}

export async function findFeeRuleAt(
  tx: Tx,
  scope: FeeScope,
  at: Date,
): Promise<FeeRuleVersion | null> {
  const [rule] = await tx.query<FeeRuleVersion>(
    `SELECT ${FeeRules.read} FROM fee_rules
      WHERE ${IN_SCOPE} AND valid_from <= ? AND (valid_until IS NULL OR valid_until > ?)
      ORDER BY valid_from DESC, id DESC LIMIT 1`,
    [...scopeValues(scope), at, at],
  );
  return rule ?? null;
}

/** The start of the first rule that starts after `at`, or null. */
export async function nextFeeRuleStart(tx: Tx, scope: FeeScope, at: Date): Promise<Date | null> {
  const [next] = await tx.query<{ start: Date | null }>(
    `SELECT min(valid_from) AS start FROM fee_rules
      WHERE ${IN_SCOPE} AND valid_from > ? AND (valid_until IS NULL OR valid_until > valid_from)`,
    [...scopeValues(scope), at],
  );
  return next?.start ?? null;
}

/** Sets the end of a rule, the only field that ever changes. */
export function endFeeRule(tx: Tx, id: string, at: Date): Promise<FeeRuleVersion> {
  return changeRow(tx, FeeRules, id, { validUntil: at });
}

export function insertFeeRule(tx: Tx, rule: Omit<FeeRuleVersion, 'id'>): Promise<FeeRuleVersion> {
  return insertRow(tx, FeeRules, rule);
}

/**
 * The account's own rules and the defaults (null means only the defaults), in force and planned.
 * @param ended includes rules that have ended
 */
export async function listFeeRuleVersions(
  db: Db,
  accountId: string | null,
  ended: boolean,
): Promise<FeeRuleVersion[]> {
  return db.query<FeeRuleVersion>(
    `SELECT ${FeeRules.read} FROM fee_rules
      WHERE (account_id = ? OR account_id IS NULL)
        AND (? OR valid_until IS NULL OR (valid_until > now() AND valid_until > valid_from))
      ORDER BY direction, provider, currency, account_id NULLS LAST, valid_from, id`,
    [accountId, ended],
  );
}
