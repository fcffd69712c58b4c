/**
 * Payout limits (decisions/controls#payout-limits): the maximum for one payout and for a rolling 24 hours. An
 * account has its own value or follows the default, for each maximum separately; the maxima of review.ts
 * too.
 */
import { Type } from 'typebox';
import { listCurrencies } from '../../db/accounts/currency-routes';
import {
  listPolicies,
  lockPolicy,
  MAXIMA,
  MAXIMUM_COLUMNS,
  savePolicy,
  type Maxima,
  type Maximum,
  type Policy,
  type PolicyScope,
} from '../../db/accounts/payout-policies';
import type { Db, Tx } from '../../db/transaction';
import { type Amount, compare } from '../../domain/money';
import { requireAccount } from './accounts';
import { amountOrZero, checkCurrency } from '../../kit/service/checks';
import { InvalidInput } from '../../kit/service/refusal';
import { defineChange, Text } from '../../kit/service/change';

/** A maximum in force (null for none), and whether it is the account's own or the default. */
export interface OwnedMaximum {
  value: Amount | null;
  from: 'account' | 'default';
}

export function ownedMaximum(policy: Policy, name: Maximum): OwnedMaximum {
  return {
    value: policy[name],
    from: policy.fromDefault.includes(name) ? 'default' : 'account',
  };
}

export interface Limits {
  accountId: string | null;
  currency: string;
  perTransaction: OwnedMaximum;
  daily: OwnedMaximum;
}

function limitsOf(accountId: string | null, policy: Policy): Limits {
  return {
    accountId,
    currency: policy.currency,
    perTransaction: ownedMaximum(policy, 'perTransactionMax'),
    daily: ownedMaximum(policy, 'dailyMax'),
  };
}

/** Null as account: the defaults. @throws AdminRefusal */
export async function listLimits(db: Db, accountId: string | null): Promise<Limits[]> {
  return (await readPolicies(db, accountId)).map((policy) => limitsOf(accountId, policy));
}

const access = { needs: 'administer' } as const;

export const maximumField = (label: string) =>
  Type.Optional(
    Text(40, {
      label,
      hint: 'An amount, “none” for no limit, or “default” to follow the default',
      without: 'no change',
      value: 'AMOUNT',
    }),
  );

export const setLimits = defineChange({
  action: 'limits.set',
  access,
  fields: { perTransaction: maximumField('Per payout'), daily: maximumField('Per 24 hours') },
  run: (tx, scope: PolicyScope, { perTransaction, daily }) =>
    changeLimits(tx, scope, { perTransactionMax: perTransaction, dailyMax: daily }),
});

/** Makes the account follow the default again. Without a default, no limit applies. */
export const unsetLimits = defineChange({
  action: 'limits.unset',
  access,
  fields: {},
  run: (tx, { perTransaction, daily, ...scope }: PolicyScope & Unset) => {
    const gone = scope.accountId === null ? 'none' : 'default';
    return changeLimits(tx, scope, {
      perTransactionMax: perTransaction ? gone : undefined,
      dailyMax: daily ? gone : undefined,
    });
  },
});

/** The limits to remove. */
interface Unset {
  perTransaction: boolean;
  daily: boolean;
}

async function changeLimits(tx: Tx, scope: PolicyScope, maxima: MaximaInput) {
  const { result, audit } = await changePolicy(tx, scope, maxima);
  return { result: limitsOf(scope.accountId, result), audit };
}

/** An amount as text, `none` for no maximum, `default` to follow the default. */
export type MaximaInput = Partial<Record<Maximum, string | undefined>>;

/** The maxima in force for every supported currency. @throws AdminRefusal */
export async function readPolicies(db: Db, accountId: string | null): Promise<Policy[]> {
  if (accountId !== null) await requireAccount(db, accountId);
  return listPolicies(db, accountId, await listCurrencies(db));
}

/**
 * Changes the named maxima and leaves the others unchanged.
 * @throws InvalidInput, AdminRefusal
 */
export async function changePolicy(tx: Tx, scope: PolicyScope, input: MaximaInput) {
  await checkCurrency(tx, scope.currency);
  if (scope.accountId !== null) await requireAccount(tx, scope.accountId);
  const before = await lockPolicy(tx, scope);
  const own = (name: Maximum) =>
    scope.accountId === null ? !before.unset.includes(name) : !before.fromDefault.includes(name);
  const maxima = { ...before } as Maxima;
  const inherited: Maximum[] = [];
  for (const name of MAXIMA) {
    const text = input[name];
    if (text === undefined ? !own(name) : text === 'default' && scope.accountId !== null) {
      inherited.push(name);
    } else if (text !== undefined) {
      maxima[name] = readMaximum(name, text);
    }
  }
  await savePolicy(tx, scope, maxima, inherited);
  const after = await lockPolicy(tx, scope);
  if (input.perTransactionMax !== undefined || input.dailyMax !== undefined) refuseOverDay(after);
  // The row has no id, so the account and the currency identify it.
  const objectId = `${scope.accountId ?? 'default'}:${scope.currency}`;
  return {
    result: after,
    audit: {
      object: 'payout_policy',
      objectId,
      accountId: scope.accountId,
      before: snapshot(before),
      after: snapshot(after),
    },
  };
}

/** An account's own limit for one payout that exceeds its limit of 24 hours would never apply. */
function refuseOverDay({ perTransactionMax: value, dailyMax, fromDefault }: Policy): void {
  if (value === null || dailyMax === null || fromDefault.includes('perTransactionMax')) return;
  if (compare(value, dailyMax) <= 0) return;
  throw new InvalidInput('perTransaction', { code: 'above_daily_max', value, dailyMax });
}

function readMaximum(name: Maximum, text: string) {
  if (text === 'none') return null;
  if (text === 'default') {
    throw new InvalidInput(FIELDS[name], { code: 'default_needs_account' });
  }
  return amountOrZero(FIELDS[name], text);
}

const FIELDS: Record<Maximum, string> = {
  perTransactionMax: 'perTransaction',
  dailyMax: 'daily',
  autoApproveMax: 'autoApproveMax',
  autoApproveDailyMax: 'autoApproveDailyMax',
};

function snapshot(policy: Policy) {
  return {
    currency: policy.currency,
    ...Object.fromEntries(MAXIMA.map((name) => [MAXIMUM_COLUMNS[name], policy[name]])),
    from_default: policy.fromDefault.map((name) => MAXIMUM_COLUMNS[name]),
  };
}
