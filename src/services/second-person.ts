/**
 * Another person of the account approves what one person requests on the dashboard above an amount
 * (decisions/second-person). The approval is a row; the workflow's guarded release looks at it.
 */
import {
  insertPersonApproval,
  lockSecondPersonRule,
  saveSecondPersonRule,
  type SecondPersonRule,
} from '../db/repositories/second-person';
import { findPayout } from '../db/repositories/payouts';
import { isLess } from '../domain/money';
import { checkCurrency, positiveAmount } from './admin/checks';
import { AdminRefusal, InvalidInput } from './admin/refusal';
import { defineChange, List } from './change';
import type { Owner } from './own';

/** An owner may lower an amount and set a new one. The operator alone raises or removes it. */
export const ruleSecondPerson = defineChange({
  action: 'account.second_person',
  access: { needs: 'manage' },
  fields: {
    above: List({
      label: 'A second person approves above',
      hint: 'A currency and an amount, separated by commas',
      without: 'never',
      placeholder: 'USDT=1000, BTC=0.05',
    }),
  },
  run: async (tx, subject: { accountId: string; mayLoosen: boolean }, { above }) => {
    const { accountId, mayLoosen } = subject;
    const before = await lockSecondPersonRule(tx, accountId);
    const after: SecondPersonRule = {};
    for (const text of above) {
      const [currency = '', value = '', ...more] = text.split('=');
      if (more.length > 0) throw new InvalidInput('above', { code: 'not_a_limit', value: text });
      await checkCurrency(tx, currency, 'above');
      after[currency] = positiveAmount('above', value);
    }
    for (const [currency, amount] of Object.entries(before)) {
      const isKept = after[currency] !== undefined && !isLess(amount, after[currency]);
      if (!isKept && !mayLoosen) throw new AdminRefusal({ code: 'second_person_kept', currency });
    }
    await saveSecondPersonRule(tx, accountId, after);
    return {
      result: presentSecondPersonRule(accountId, after),
      audit: {
        object: 'account',
        objectId: accountId,
        accountId,
        before: presentSecondPersonRule(accountId, before),
        after: presentSecondPersonRule(accountId, after),
      },
    };
  },
});

export function presentSecondPersonRule(accountId: string, above: SecondPersonRule) {
  return { object: 'second_person_rule', account_id: accountId, above: textsOf(above) };
}

/** As the field takes them. */
export function textsOf(rule: SecondPersonRule): string[] {
  return Object.entries(rule).map(([currency, amount]) => `${currency}=${amount}`);
}

/** Approves a payout that another person made. @throws AdminRefusal */
export const approveAsSecondPerson = defineChange({
  action: 'payout.second_approve',
  access: { needs: 'manage' },
  fields: {},
  run: async (tx, { id, userId, ...owner }: Owner & { id: string; userId: string }) => {
    const payout = await findPayout(tx, id);
    if (payout?.accountId !== owner.accountId || payout.mode !== owner.mode) {
      throw new AdminRefusal({ code: 'not_found', object: 'payout', id });
    }
    if (payout.apiKeyId === userId) throw new AdminRefusal({ code: 'own_payout', id });
    if (payout.awaitsRelease !== true) throw new AdminRefusal({ code: 'payout_not_waiting', id });
    await insertPersonApproval(tx, id, userId);
    const { accountId } = owner;
    const after = { object: 'payout', id, approved_by: userId };
    return {
      result: payout,
      audit: { object: 'payout', objectId: id, accountId, before: null, after },
    };
  },
});
