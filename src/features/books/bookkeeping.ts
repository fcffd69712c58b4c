/** How an account keeps its books: read by the exports, changed on the dashboard. */
import { readBookkeeping, saveBookkeeping } from '../../db/books/bookkeeping';
import { type Bookkeeping, type JournalAccount, JOURNAL_ACCOUNTS } from '../../domain/bookkeeping';
import { isTimeZone } from '../../platform/lib/local-time';
import { InvalidInput } from '../../kit/service/refusal';
import { defineChange, Text } from '../../kit/service/change';

const NAME_MAX = 100;

const accountName = (label: string, standard: string) =>
  Text(NAME_MAX, { label, placeholder: standard }, { mayBeEmpty: true });

/** The names of the journal's accounts, as the fields of a form. */
const ACCOUNT_FIELDS = {
  balance: accountName('Balance', JOURNAL_ACCOUNTS.balance),
  reserved: accountName('Reserved balance', JOURNAL_ACCOUNTS.reserved),
  sales: accountName('Payments received', JOURNAL_ACCOUNTS.sales),
  refunds: accountName('Refunds', JOURNAL_ACCOUNTS.refunds),
  payouts: accountName('Payouts', JOURNAL_ACCOUNTS.payouts),
  service_fees: accountName('Service fees', JOURNAL_ACCOUNTS.service_fees),
  network_fees: accountName('Network fees', JOURNAL_ACCOUNTS.network_fees),
  adjustments: accountName('Adjustments', JOURNAL_ACCOUNTS.adjustments),
  rounding: accountName('Rounding differences', JOURNAL_ACCOUNTS.rounding),
} satisfies Record<JournalAccount, unknown>;

export const changeBookkeeping = defineChange({
  action: 'account.bookkeeping',
  access: { needs: 'keep_books' },
  fields: {
    time_zone: Text(64, {
      label: 'Time zone',
      hint: 'A name such as “Europe/Berlin”. Exports and the journal use its days and times',
    }),
    ...ACCOUNT_FIELDS,
    tax_rate: Text(NAME_MAX, {
      label: 'Tax rate in Xero',
      hint: 'The name of the tax rate as Xero shows it',
    }),
  },
  run: async (tx, { accountId }: { accountId: string }, input) => {
    const { time_zone: timeZone, tax_rate: taxRate } = input;
    if (!isTimeZone(timeZone)) {
      throw new InvalidInput('time_zone', { code: 'not_a_time_zone', value: timeZone });
    }
    const before = await readBookkeeping(tx, accountId);
    const names = Object.keys(JOURNAL_ACCOUNTS) as JournalAccount[];
    const chosen = names.filter((name) => input[name] !== '');
    const journalAccounts = Object.fromEntries(chosen.map((name) => [name, input[name]]));
    const after = { timeZone, journalAccounts, taxRate };
    await saveBookkeeping(tx, accountId, after);
    const shown = presentBookkeeping(accountId, after);
    const audit = { object: 'account', objectId: accountId, accountId };
    return {
      result: shown,
      audit: { ...audit, before: presentBookkeeping(accountId, before), after: shown },
    };
  },
});

function presentBookkeeping(
  accountId: string,
  { timeZone, journalAccounts, taxRate }: Bookkeeping,
) {
  return {
    object: 'bookkeeping',
    account_id: accountId,
    time_zone: timeZone,
    journal_accounts: journalAccounts,
    tax_rate: taxRate,
  };
}

/** The values of the form. */
export function bookkeepingForm({ timeZone, journalAccounts, taxRate }: Bookkeeping) {
  return { time_zone: timeZone, ...journalAccounts, tax_rate: taxRate };
}
