/**
 * How an account keeps its books: its time zone, and the names of the accounts in its own accounting that the
 * journal debits and credits (decisions/books#exports). The journal is the ledger in other words: an entry `in` is a
 * debit, an entry `out` is a credit, so that each posting that balances here balances there.
 */
import type { MerchantLedgerAccount, PlatformLedgerAccount, TransactionType } from './ledger';

/** The accounts of the journal, with the names that a new account starts with. */
export const JOURNAL_ACCOUNTS = {
  balance: 'Crypto balance',
  reserved: 'Crypto balance reserved',
  sales: 'Sales',
  refunds: 'Refunds',
  payouts: 'Payouts',
  service_fees: 'Gateway fees',
  network_fees: 'Network fees',
  adjustments: 'Adjustments',
  rounding: 'Rounding differences',
} as const;
export type JournalAccount = keyof typeof JOURNAL_ACCOUNTS;

/** How an account keeps its books. */
export interface Bookkeeping {
  /** A name of the IANA time zone database, such as `Europe/Berlin`. */
  timeZone: string;
  /** The names that differ from the defaults. */
  journalAccounts: Partial<Record<JournalAccount, string>>;
  /** The name of the tax rate that Xero applies to each line. */
  taxRate: string;
}

/** The names of the journal's accounts. */
export function namesOf({ journalAccounts }: Bookkeeping): Record<JournalAccount, string> {
  return { ...JOURNAL_ACCOUNTS, ...journalAccounts };
}

/** The account of the journal that an entry of the ledger moves. */
export function journalAccountOf(
  type: TransactionType,
  account: MerchantLedgerAccount | PlatformLedgerAccount,
): JournalAccount {
  switch (account) {
    case 'available':
      return 'balance';
    case 'reserved':
      return 'reserved';
    case 'fee_income':
      return 'service_fees';
    case 'network_cost':
      return 'network_fees';
    case 'adjustments':
      return 'adjustments';
    case 'provider_clearing':
      return CLEARED[type];
  }
}

/** What the provider's clearing account stands for. */
const CLEARED: Readonly<Record<TransactionType, JournalAccount>> = {
  payin_settlement: 'sales',
  payin_refund: 'refunds',
  payout_reserve: 'payouts',
  payout_release: 'payouts',
  payout_settlement: 'payouts',
  adjustment: 'adjustments',
};

/** The kinds of export files. */
export const EXPORTS = [
  'payments',
  'payouts',
  'refunds',
  'batches',
  'transactions',
  'fees',
  'journal',
] as const;
export type ExportKind = (typeof EXPORTS)[number];

/** Whether the file has the destinations of payouts. */
export function showsPayouts(kind: ExportKind): boolean {
  return kind !== 'payments' && kind !== 'refunds' && kind !== 'journal';
}

/** The journal has more formats, each as the program imports it. */
const PLAIN_TEXT_FORMATS = ['beancount', 'hledger'] as const;
export type PlainTextFormat = (typeof PLAIN_TEXT_FORMATS)[number];
export const EXPORT_FORMATS = [
  'csv',
  'json',
  'xero',
  'quickbooks',
  ...PLAIN_TEXT_FORMATS,
  'camt053',
] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
export type JournalFormat = Exclude<ExportFormat, 'camt053'>;

/** The decimals that the program of a format keeps, where it keeps fewer than the ledger. */
export function decimalsOf(format: ExportFormat): number | null {
  return format === 'xero' || format === 'quickbooks' ? 2 : null;
}

export function isPlainText(format: ExportFormat): format is PlainTextFormat {
  return PLAIN_TEXT_FORMATS.some((one) => one === format);
}

/** What has to be asked for with a format: a kind of file of its own, or one currency. */
export function needsOf(format: ExportFormat): { kind?: ExportKind; currency: boolean } {
  switch (format) {
    case 'csv':
    case 'json':
      return { currency: false };
    case 'camt053':
      return { kind: 'transactions', currency: true };
    default:
      return { kind: 'journal', currency: format === 'xero' };
  }
}

/** Under which of the five roots of plain-text accounting an account is. */
export function rootOf(account: JournalAccount): string {
  switch (account) {
    case 'balance':
    case 'reserved':
      return 'Assets';
    case 'sales':
    case 'refunds':
      return 'Income';
    case 'payouts':
    case 'service_fees':
    case 'network_fees':
    case 'rounding':
      return 'Expenses';
    case 'adjustments':
      return 'Equity';
  }
}
