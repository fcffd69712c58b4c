/** The amounts below which the people of an account are notified (decisions/notifications#notifications). */
import type { Owner } from '../../domain/mode';
import {
  type BalanceAlerts,
  findBalanceAlerts,
  saveBalanceAlerts,
} from '../../db/books/balance-alerts';
import { lockByName } from '../../db/transaction';
import { checkCurrency, positiveAmount } from '../../kit/service/checks';
import { InvalidInput } from '../../kit/service/refusal';
import { defineChange, List } from '../../kit/service/change';

export const alertLowBalances = defineChange({
  action: 'account.balance_alerts',
  access: { needs: 'keep_books' },
  fields: {
    below: List({
      label: 'Tell us when the available balance is below',
      hint: 'A currency and an amount, separated by commas',
      without: 'no notifications',
      placeholder: 'USDT=1000, BTC=0.05',
      pairs: true,
    }),
  },
  run: async (tx, owner: Owner, { below }) => {
    await lockByName(tx, 'balance alerts', owner.accountId, owner.mode);
    const before = await findBalanceAlerts(tx, owner);
    const after: BalanceAlerts = {};
    for (const text of below) {
      const [currency = '', value = '', ...more] = text.split('=');
      if (more.length > 0) throw new InvalidInput('below', { code: 'not_a_limit', value: text });
      await checkCurrency(tx, currency, 'below');
      after[currency] = positiveAmount('below', value);
    }
    await saveBalanceAlerts(tx, owner, after);
    return {
      result: undefined,
      audit: {
        object: 'account',
        objectId: owner.accountId,
        accountId: owner.accountId,
        before: present(owner, before),
        after: present(owner, after),
      },
    };
  },
});

function present({ accountId, mode }: Owner, below: BalanceAlerts) {
  return { object: 'balance_alerts', account_id: accountId, mode, below };
}
