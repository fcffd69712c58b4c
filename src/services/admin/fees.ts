/**
 * Fee rules, for an operator (decision M1). A rule in force is never edited: it is ended, and the
 * next one begins at the same moment, so that a statement of last year can still be explained.
 */
import { routeExists } from '../../db/repositories/currency-routes';
import {
  endFeeRule,
  findFeeRuleAt,
  insertFeeRule,
  listFeeRuleVersions,
  lockFeeScope,
  nextFeeRuleStart,
  type FeeRuleVersion,
  type FeeScope,
} from '../../db/repositories/fee-rules';
import type { Db, Tx } from '../../db/transaction';
import type { FeeTerms } from '../../domain/fees';
import { amount, isLess, ZERO } from '../../domain/money';
import { requireAccount } from './accounts';
import { makeChange, type AuditedObject, type ChangedBy } from './change';
import { amountOrZero, checkCurrency, checkProvider } from './checks';
import { AdminRefusal, InvalidInput } from './refusal';

const PERCENTAGE = /^[0-9]{1,3}(\.[0-9]{1,4})?$/;

/** As text; undefined means nothing fixed, no minimum, no maximum. */
export interface FeeTermsInput {
  percentage: string;
  fixed: string | undefined;
  minFee: string | undefined;
  maxFee: string | undefined;
}

export interface NewFeeRule {
  scope: FeeScope;
  terms: FeeTermsInput;
  /** Null: now. */
  from: Date | null;
  /** Null: until the next rule that is planned, else for ever. */
  until: Date | null;
}

export function presentFeeRule(rule: FeeRuleVersion) {
  return {
    id: rule.id,
    object: 'fee_rule',
    account_id: rule.accountId,
    direction: rule.direction,
    provider: rule.provider,
    currency: rule.currency,
    percentage: rule.percentage,
    fixed_amount: rule.fixedAmount,
    min_fee: rule.minFee,
    max_fee: rule.maxFee,
    valid_from: rule.validFrom.toISOString(),
    valid_until: rule.validUntil?.toISOString() ?? null,
  };
}

export type ShownFeeRule = ReturnType<typeof presentFeeRule>;

/** The account's rules and the defaults; null: the defaults alone. @param ended also past ones */
export async function listFees(
  db: Db,
  accountId: string | null,
  ended: boolean,
): Promise<ShownFeeRule[]> {
  return (await listFeeRuleVersions(db, accountId, ended)).map(presentFeeRule);
}

/** @throws InvalidInput, AdminRefusal */
export async function setFee(db: Db, by: ChangedBy, rule: NewFeeRule): Promise<ShownFeeRule> {
  const terms = readTerms(rule.terms);
  return makeChange(db, by, async (tx) => {
    await checkScope(tx, rule.scope);
    const now = await lockFeeScope(tx, rule.scope);
    const from = notPast('from', rule.from, now);
    const validUntil = await endOf(tx, rule, from);
    const present = await findFeeRuleAt(tx, rule.scope, from);
    if (present !== null) await endFeeRule(tx, present.id, from);
    const next = await insertFeeRule(tx, { ...rule.scope, ...terms, validFrom: from, validUntil });
    return { result: presentFeeRule(next), audit: auditOf('fee_rule.set', present, next) };
  });
}

/** @param at null: now. @throws InvalidInput, and AdminRefusal when none is in force then */
export async function endFee(
  db: Db,
  by: ChangedBy,
  scope: FeeScope,
  at: Date | null,
): Promise<ShownFeeRule> {
  return makeChange(db, by, async (tx) => {
    await checkScope(tx, scope);
    const end = notPast('at', at, await lockFeeScope(tx, scope));
    const rule = await findFeeRuleAt(tx, scope, end);
    if (rule === null) {
      throw new AdminRefusal(
        `No fee rule of ${whose(scope)} for ${nameOf(scope)} is in force at ` +
          `${end.toISOString()}: \`fees list\` shows those that are.`,
      );
    }
    const ended = await endFeeRule(tx, rule.id, end);
    return { result: presentFeeRule(ended), audit: auditOf('fee_rule.end', rule, ended) };
  });
}

/** @throws InvalidInput */
function readTerms({ percentage, fixed, minFee, maxFee }: FeeTermsInput): FeeTerms {
  if (!PERCENTAGE.test(percentage) || isLess(amount('100'), amount(percentage))) {
    throw new InvalidInput(
      'percentage',
      `${percentage} is not possible: 0 to 100 with at most 4 decimals, such as 0.75.`,
    );
  }
  const min = minFee === undefined ? null : amountOrZero('min-fee', minFee);
  const max = maxFee === undefined ? null : amountOrZero('max-fee', maxFee);
  if (min !== null && max !== null && isLess(max, min)) {
    throw new InvalidInput('min-fee', `${min} is more than --max-fee ${max}: lower one of them.`);
  }
  return {
    percentage,
    fixedAmount: fixed === undefined ? ZERO : amountOrZero('fixed', fixed),
    minFee: min,
    maxFee: max,
  };
}

async function checkScope(tx: Tx, scope: FeeScope): Promise<void> {
  checkProvider(scope.provider);
  await checkCurrency(tx, scope.currency);
  if (!(await routeExists(tx, scope))) {
    throw new InvalidInput(
      'currency',
      `${scope.currency} is not moved by ${scope.provider} as ${scope.direction}.`,
    );
  }
  if (scope.accountId !== null) await requireAccount(tx, scope.accountId);
}

/** What was priced under a rule stays so: no rule begins or ends in the past. */
function notPast(field: string, asked: Date | null, now: Date): Date {
  if (asked === null) return now;
  if (asked >= now) return asked;
  throw new InvalidInput(
    field,
    `${asked.toISOString()} is past: leave it out for now, or name a time to come.`,
  );
}

async function endOf(tx: Tx, { scope, until }: NewFeeRule, from: Date): Promise<Date | null> {
  if (until !== null && until <= from) {
    throw new InvalidInput('until', `${until.toISOString()} is not after the rule's beginning.`);
  }
  const next = await nextFeeRuleStart(tx, scope, from);
  if (until !== null && next !== null && until > next) {
    throw new AdminRefusal(
      `Another rule begins at ${next.toISOString()}: let this one end by then, or end that one ` +
        `first with \`fees end --at ${next.toISOString()}\`.`,
    );
  }
  return until ?? next;
}

function auditOf(
  action: string,
  before: FeeRuleVersion | null,
  after: FeeRuleVersion,
): AuditedObject {
  return {
    action,
    object: 'fee_rule',
    objectId: after.id,
    accountId: after.accountId,
    before: before === null ? null : presentFeeRule(before),
    after: presentFeeRule(after),
  };
}

function whose({ accountId }: FeeScope): string {
  return accountId ?? 'everybody (--default)';
}

function nameOf({ direction, provider, currency }: FeeScope): string {
  return `${direction} ${currency} through ${provider}`;
}
