/**
 * Fee rules (decisions/money#service-fees): the changes of an account's page and of `admin fees`. A rule in force
 * is never edited: it ends when the next one starts, so that an old statement can still be explained.
 */
import { Type } from 'typebox';
import { hasEnabledRoute, routeExists } from '../../db/accounts/currency-routes';
import {
  endFeeRule,
  findFeeRuleAt,
  insertFeeRule,
  lockFeeScope,
  nextFeeRuleStart,
  type FeeScope,
} from '../../db/accounts/fee-rules';
import type { Tx } from '../../db/transaction';
import type { FeeTerms } from '../../domain/fees';
import { amount, isLess, ZERO } from '../../domain/money';
import { presentFeeRuleVersion } from '../../kit/service/admin';
import { requireAccount } from './accounts';
import { amountOrZero, checkCurrency } from '../../kit/service/checks';
import { AdminRefusal, InvalidInput } from '../../kit/service/refusal';
import { auditOf, defineChange, type InputOf, Text } from '../../kit/service/change';

/** An account's rules and the defaults; null means only the defaults. */
export { listFeeRuleVersions as listFees } from '../../db/accounts/fee-rules';

const PERCENTAGE = /^[0-9]{1,3}(\.[0-9]{1,4})?$/;

const access = { needs: 'administer' } as const;

const LENGTH_MAX = 40;

const amountOr = (without: string, label: string) =>
  Type.Optional(Text(LENGTH_MAX, { label, without, value: 'AMOUNT' }));

interface NewFeeRule {
  scope: FeeScope;
  /** Null means now. */
  from: Date | null;
  /** Null: until the next planned rule, otherwise without end. */
  until: Date | null;
}

/** Starts a rule and ends the present one at the same moment. @throws InvalidInput, AdminRefusal */
export const setFee = defineChange({
  action: 'fee_rule.set',
  access,
  fields: {
    percentage: Text(LENGTH_MAX, {
      label: 'Percentage',
      hint: '0 to 100, at most 4 decimals, such as 0.75',
      value: 'P',
    }),
    fixed: amountOr('none', 'Fixed part'),
    minFee: amountOr('none', 'Minimum fee'),
    maxFee: amountOr('none', 'Maximum fee'),
  },
  run: async (tx, rule: NewFeeRule, input) => {
    const terms = readTerms(input);
    await checkScope(tx, rule.scope);
    const now = await lockFeeScope(tx, rule.scope);
    const from = notPast('from', rule.from, now);
    const validUntil = await endOf(tx, rule, from);
    const present = await findFeeRuleAt(tx, rule.scope, from);
    if (present !== null) await endFeeRule(tx, present.id, from);
    const next = await insertFeeRule(tx, { ...rule.scope, ...terms, validFrom: from, validUntil });
    return { result: next, audit: auditOf(presentFeeRuleVersion, present, next) };
  },
});

export type FeeTermsInput = InputOf<typeof setFee>;

/** A null time is now. @throws InvalidInput, and AdminRefusal when no rule is in force then */
export const endFee = defineChange({
  action: 'fee_rule.end',
  access,
  fields: {},
  run: async (tx, { scope, at }: { scope: FeeScope; at: Date | null }) => {
    await checkScope(tx, scope);
    const end = notPast('at', at, await lockFeeScope(tx, scope));
    const rule = await findFeeRuleAt(tx, scope, end);
    if (rule === null) throw new AdminRefusal({ code: 'no_fee_rule_in_force', scope, at: end });
    await refuseGap(tx, scope);
    const ended = await endFeeRule(tx, rule.id, end);
    return { result: ended, audit: auditOf(presentFeeRuleVersion, rule, ended) };
  },
});

/** @throws InvalidInput */
function readTerms({ percentage, fixed, minFee, maxFee }: FeeTermsInput): FeeTerms {
  if (!PERCENTAGE.test(percentage) || isLess(amount('100'), amount(percentage))) {
    throw new InvalidInput('percentage', { code: 'not_a_percentage', value: percentage });
  }
  const min = minFee === undefined ? null : amountOrZero('minFee', minFee);
  const max = maxFee === undefined ? null : amountOrZero('maxFee', maxFee);
  if (min !== null && max !== null && isLess(max, min)) {
    throw new InvalidInput('minFee', { code: 'above_max_fee', value: min, maxFee: max });
  }
  return {
    percentage,
    fixedAmount: fixed === undefined ? ZERO : amountOrZero('fixed', fixed),
    minFee: min,
    maxFee: max,
  };
}

async function checkScope(tx: Tx, scope: FeeScope): Promise<void> {
  await checkCurrency(tx, scope.currency);
  if (!(await routeExists(tx, scope))) {
    throw new InvalidInput('currency', { code: 'no_route', ...scope });
  }
  if (scope.accountId !== null) await requireAccount(tx, scope.accountId);
}

/** Refuses a time in the past, so that existing fees do not change. */
function notPast(field: 'from' | 'at', asked: Date | null, now: Date): Date {
  if (asked === null) return now;
  if (asked >= now) return asked;
  throw new InvalidInput(field, { code: 'in_the_past', value: asked });
}

async function endOf(tx: Tx, { scope, until }: NewFeeRule, from: Date): Promise<Date | null> {
  if (until !== null && until <= from) {
    throw new InvalidInput('until', { code: 'not_after_start', value: until });
  }
  const next = await nextFeeRuleStart(tx, scope, from);
  if (until !== null && next !== null && until > next) {
    throw new AdminRefusal({ code: 'fee_rule_planned', startsAt: next });
  }
  if (until !== null && until.getTime() !== next?.getTime()) await refuseGap(tx, scope);
  return until ?? next;
}

/**
 * A default rule ends only when the next one starts, as long as merchants can use a route that it is for.
 * The caller has locked the scope, as whoever enables a route does.
 */
async function refuseGap(tx: Tx, scope: FeeScope): Promise<void> {
  if (scope.accountId !== null || !(await hasEnabledRoute(tx, scope))) return;
  throw new AdminRefusal({ code: 'fee_rule_in_use', route: scope });
}
