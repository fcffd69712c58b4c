/**
 * Changes of payout maxima, for limits.ts and review.ts: an account has its own value, or follows
 * the default, for each maximum by itself.
 */
import { listCurrencies } from '../../db/repositories/currency-routes';
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
} from '../../db/repositories/payout-policies';
import type { Db, Tx } from '../../db/transaction';
import type { AuditedObject } from './change';
import { amountOrZero, checkCurrency } from './checks';
import { requireAccount } from './accounts';
import { InvalidInput } from './refusal';

/** An amount as text, `none` for no maximum, `default` for what everybody has. */
export type MaximaInput = Partial<Record<Maximum, string | undefined>>;

/** In force for every currency of the gateway. @throws AdminRefusal */
export async function readPolicies(db: Db, accountId: string | null): Promise<Policy[]> {
  if (accountId !== null) await requireAccount(db, accountId);
  return listPolicies(db, accountId, await listCurrencies(db));
}

export interface PolicyChange {
  before: Policy;
  after: Policy;
}

/**
 * Writes what the input names and leaves the rest.
 * @throws InvalidInput, AdminRefusal
 */
export async function changePolicy(
  tx: Tx,
  scope: PolicyScope,
  input: MaximaInput,
): Promise<PolicyChange> {
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
  return { before, after: await lockPolicy(tx, scope) };
}

/** The row has no id of its own: whose it is and for which currency names it. */
export function auditOfPolicy(
  action: string,
  { accountId, currency }: PolicyScope,
  { before, after }: PolicyChange,
): AuditedObject {
  return {
    action,
    object: 'payout_policy',
    objectId: `${accountId ?? 'default'}:${currency}`,
    accountId,
    before: snapshot(before),
    after: snapshot(after),
  };
}

function readMaximum(name: Maximum, text: string) {
  if (text === 'none') return null;
  if (text === 'default') {
    throw new InvalidInput(optionOf(name), 'default is for an account: with --default say none.');
  }
  return amountOrZero(optionOf(name), text);
}

/** The option that sets it. */
function optionOf(name: Maximum): string {
  return {
    perTransactionMax: 'per-transaction',
    dailyMax: 'daily',
    autoApproveMax: 'auto-approve-max',
    autoApproveDailyMax: 'auto-approve-daily-max',
  }[name];
}

function snapshot(policy: Policy) {
  return {
    currency: policy.currency,
    ...Object.fromEntries(MAXIMA.map((name) => [MAXIMUM_COLUMNS[name], policy[name]])),
    from_default: policy.fromDefault.map((name) => MAXIMUM_COLUMNS[name]),
  };
}
