/**
 * The postings of the double-entry ledger (decisions/money#ledger). Each is a balanced list of lines. The
 * merchant's accounts are `available` and `reserved`; the others belong to the platform and are
 * invisible to the merchant. The SQL in db/migrations/baseline/ledger.ts is the only code that writes them.
 */
import type { Mode } from './mode';
import type { Amount } from './money';
import { ZERO, add } from './money';

/** The types of ledger transactions. */
export const TRANSACTION_TYPES = [
  'payin_settlement',
  'payin_refund',
  'payout_reserve',
  'payout_release',
  'payout_settlement',
  'adjustment',
] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

/** The accounts of a merchant, which have a balance. */
export type MerchantLedgerAccount = 'available' | 'reserved';
/** The accounts of the platform, which have no balance row. */
export type PlatformLedgerAccount =
  'provider_clearing' | 'fee_income' | 'network_cost' | 'adjustments';

/** One line of a posting. The amount is never negative; the direction says whether it comes in or goes out. */
export interface PostingLine {
  account: MerchantLedgerAccount | PlatformLedgerAccount;
  direction: 'in' | 'out';
  amount: Amount;
}

/** A balanced list of lines, which the ledger posts at once. */
export interface Posting {
  /** The ledger posts each operation key once. */
  operationKey: string;
  type: TransactionType;
  description: string;
  source: { object: 'payment' | 'payout' | 'adjustment'; id: string };
  lines: PostingLine[];
}

/** The money of a payout, for its postings. */
export interface PayoutMoney {
  id: string;
  reference: string;
  amount: Amount;
  serviceFee: Amount;
  networkFee: Amount;
  totalDebit: Amount;
}

/** Leaves out lines of zero: the ledger has no entries that move nothing. */
function lines(...all: PostingLine[]): PostingLine[] {
  return all.filter((line) => line.amount !== ZERO);
}

/** Moves the amount and the fees of a payout from available to reserved. */
export function reservePosting(payout: PayoutMoney): Posting {
  return {
    operationKey: `${payout.id}:reserve`,
    type: 'payout_reserve',
    description: `Payout ${payout.reference}: funds reserved`,
    source: { object: 'payout', id: payout.id },
    lines: lines(
      { account: 'available', direction: 'out', amount: payout.totalDebit },
      { account: 'reserved', direction: 'in', amount: payout.totalDebit },
    ),
  };
}

/**
 * Settle and release share one operation key, so a payout's money leaves only once
 * (decisions/money#money-leaves-once).
 */
function finalKey(payoutId: string): string {
  return `${payoutId}:final`;
}

/** Moves what a payout has reserved back to available. */
export function returnPosting(payout: PayoutMoney): Posting {
  return {
    operationKey: finalKey(payout.id),
    type: 'payout_release',
    description: `Payout ${payout.reference}: funds returned`,
    source: { object: 'payout', id: payout.id },
    lines: lines(
      { account: 'reserved', direction: 'out', amount: payout.totalDebit },
      { account: 'available', direction: 'in', amount: payout.totalDebit },
    ),
  };
}

/** Takes what a payout has reserved out of the balance, when the provider has sent it. */
export function settlementPosting(payout: PayoutMoney): Posting {
  return {
    operationKey: finalKey(payout.id),
    type: 'payout_settlement',
    description: `Payout ${payout.reference}: sent`,
    source: { object: 'payout', id: payout.id },
    lines: lines(
      { account: 'reserved', direction: 'out', amount: payout.amount },
      { account: 'reserved', direction: 'out', amount: payout.serviceFee },
      { account: 'reserved', direction: 'out', amount: payout.networkFee },
      { account: 'provider_clearing', direction: 'in', amount: payout.amount },
      { account: 'fee_income', direction: 'in', amount: payout.serviceFee },
      { account: 'network_cost', direction: 'in', amount: payout.networkFee },
    ),
  };
}

/** The payment that a posting is about. */
export interface PaymentMoney {
  id: string;
  reference: string;
}

/** Credits one of the provider's transfers, exactly once. The fee applies to the received amount. */
export function creditPosting(
  payment: PaymentMoney,
  transfer: { id: string; amount: Amount; fee: Amount },
): Posting {
  return {
    operationKey: `${payment.id}:credit:${transfer.id}`,
    type: 'payin_settlement',
    description: `Payment ${payment.reference}: received`,
    source: { object: 'payment', id: payment.id },
    lines: lines(
      { account: 'available', direction: 'in', amount: transfer.amount },
      { account: 'available', direction: 'out', amount: transfer.fee },
      { account: 'provider_clearing', direction: 'out', amount: transfer.amount },
      { account: 'fee_income', direction: 'in', amount: transfer.fee },
    ),
  };
}

/** The money that a refund reverses: the merchant's part, and the fee that was charged on it. */
export interface RefundMoney {
  /** Unique among the payment's refunds. */
  reference: string;
  taken: Amount;
  fee: Amount;
}

/** Reverses a credit (decisions/payments#refunds), once per refund of the provider. */
export function refundPosting(payment: PaymentMoney, refund: RefundMoney): Posting {
  return {
    operationKey: `${payment.id}:refund:${refund.reference}`,
    type: 'payin_refund',
    description: `Payment ${payment.reference}: refunded`,
    source: { object: 'payment', id: payment.id },
    lines: refundLines('out', refund),
  };
}

/** Reverses the posting of a refund that the provider refused. */
export function refundReturnPosting(payment: PaymentMoney, refund: RefundMoney): Posting {
  return {
    operationKey: `${payment.id}:refund:${refund.reference}:return`,
    type: 'payin_refund',
    description: `Payment ${payment.reference}: refund refused, funds returned`,
    source: { object: 'payment', id: payment.id },
    lines: refundLines('in', refund),
  };
}

/**
 * Makes the money of a refund available again for the payout that carries it out: it is posted with the payout's
 * reservation, in one transaction, so that nothing else can use it. What stays of the refund is the fee.
 */
export function refundToPayoutPosting(payment: PaymentMoney, refund: RefundMoney): Posting {
  const amount = add(refund.taken, refund.fee);
  return {
    operationKey: `${payment.id}:refund:${refund.reference}:payout`,
    type: 'payin_refund',
    description: `Payment ${payment.reference}: the refund is sent as a payout`,
    source: { object: 'payment', id: payment.id },
    lines: lines(
      { account: 'available', direction: 'in', amount },
      { account: 'provider_clearing', direction: 'out', amount },
    ),
  };
}

/** The payout of a refund has returned its money, the fee included: the fee is charged again. */
export function refundFeePosting(payment: PaymentMoney, { reference, fee }: RefundMoney): Posting {
  return {
    ...refundReturnPosting(payment, { reference, taken: ZERO, fee }),
    lines: lines(
      { account: 'available', direction: 'out', amount: fee },
      { account: 'fee_income', direction: 'in', amount: fee },
    ),
  };
}

function refundLines(direction: 'in' | 'out', { taken, fee }: RefundMoney): PostingLine[] {
  const against = direction === 'in' ? 'out' : 'in';
  // If the fee was the whole amount, two entries that cancel each other show the merchant the transaction.
  const merchant: PostingLine[] =
    taken === ZERO
      ? [
          { account: 'available', direction: 'in', amount: fee },
          { account: 'available', direction: 'out', amount: fee },
        ]
      : [{ account: 'available', direction, amount: taken }];
  return lines(
    ...merchant,
    { account: 'fee_income', direction, amount: fee },
    { account: 'provider_clearing', direction: against, amount: add(taken, fee) },
  );
}

/** An operator's adjustment of the available balance, in one direction. */
export function adjustmentPosting(adjustment: {
  id: string;
  direction: 'in' | 'out';
  amount: Amount;
  reason: string;
}): Posting {
  const against = adjustment.direction === 'in' ? 'out' : 'in';
  return {
    operationKey: `${adjustment.id}:adjustment`,
    type: 'adjustment',
    description: adjustment.reason,
    source: { object: 'adjustment', id: adjustment.id },
    lines: lines(
      { account: 'available', direction: adjustment.direction, amount: adjustment.amount },
      { account: 'adjustments', direction: against, amount: adjustment.amount },
    ),
  };
}

/** The database rejects unbalanced postings as well; this check fails earlier. */
export function isBalanced(posting: Posting): boolean {
  const sum = (direction: 'in' | 'out') =>
    add(...posting.lines.filter((line) => line.direction === direction).map((l) => l.amount));
  return sum('in') === sum('out');
}

/** A posting as the merchant sees it, with the merchant's accounts only (decisions/money#ledger). */
export interface MerchantTransaction {
  id: string;
  mode: Mode;
  type: TransactionType;
  currency: string;
  description: string;
  source: { object: 'payment' | 'payout' | 'adjustment'; id: string };
  entries: {
    balance: MerchantLedgerAccount;
    direction: 'in' | 'out';
    amount: Amount;
    balanceAfter: Amount;
    part: EntryPart;
  }[];
  postedAt: Date;
}

/** A transaction, or several of one type and currency of a batch's payouts as one. */
export interface TransactionLine extends MerchantTransaction {
  batch: { id: string; reference: string; count: number } | null;
}

/** `amount_and_fees` is what a payout reserves, or gives back, in one entry. */
type EntryPart = 'amount' | 'service_fee' | 'network_fee' | 'amount_and_fees';

/** The part of an entry follows from the platform's account on its other side. */
const PARTS: Record<PlatformLedgerAccount, EntryPart> = {
  provider_clearing: 'amount',
  adjustments: 'amount',
  fee_income: 'service_fee',
  network_cost: 'network_fee',
};

/** A line as stored: the platform's accounts have no balance. */
export type StoredLine = PostingLine & { balanceAfter: Amount | null };

/** The merchant's lines of a posting, each with its part. */
export function merchantEntries(stored: readonly StoredLine[]): MerchantTransaction['entries'] {
  const platform = stored.filter((line) => line.balanceAfter === null);
  const isMove = platform.length === 0;
  return stored.flatMap(({ account, direction, amount, balanceAfter }) => {
    if (balanceAfter === null) return [];
    const other = platform.findIndex(
      (line) => line.amount === amount && line.direction !== direction,
    );
    const [against] = other === -1 ? [] : platform.splice(other, 1);
    const part = isMove
      ? 'amount_and_fees'
      : against === undefined
        ? 'amount'
        : PARTS[against.account as PlatformLedgerAccount];
    const balance = account as MerchantLedgerAccount;
    return [{ balance, direction, amount, balanceAfter, part }];
  });
}

/** The filters of a list of transactions (decisions/api#lists). */
export interface TransactionFilters {
  currency?: string;
  type?: TransactionType;
  sourceId?: string;
  batchId?: string;
  /** ISO 8601, inclusive. */
  createdFrom?: string;
  createdTo?: string;
}
