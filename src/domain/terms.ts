/**
 * What a new payout or payment costs and whether it is accepted: the rules that need facts from the
 * database. Payouts are checked twice with the same rules: quickly before the workflow starts, and
 * under the lock of the reserving transaction, which decides.
 */
import type { Refusal } from './errors';
import { type FeeTerms, serviceFee, totalDebit } from './fees';
import { exceededLimit } from './limits';
import type { Mode } from './mode';
import { type Amount, isLess } from './money';
import type { PayoutRequest } from './payout';
import { type ReviewReason, reviewReasons } from './review';
import { needsSecondPerson } from './second-person';

/** The facts of the database about the account, the currency and the day. */
export interface PayoutFacts {
  now: Date;
  available: Amount;
  /** The operator's reason when new payouts are paused, else null (decisions/controls#payout-pauses). */
  pauseReason: string | null;
  /** Null when no fee rule is in force: a gateway that cannot price must not sell. */
  feeTerms: FeeTerms | null;
  /** Whether limits are set for the currency; if so, null below means no maximum. */
  limitsSet: boolean;
  perTransactionMax: Amount | null;
  dailyMax: Amount | null;
  autoApproveMax: Amount | null;
  autoApproveDailyMax: Amount | null;
  usedToday: Amount;
  autoApprovedToday: Amount;
  windowResetsAt: Date | null;
  fourEyesThreshold: Amount | null;
  reviewAll: boolean;
  rehearseReview: boolean;
  destinationUsedBefore: boolean;
  /** The time when the key was created or last rotated. */
  apiKeySecretSince: Date;
  /** The payout that has this reference already, if any. */
  existingId: string | null;
  /** Whether live payouts of the account must name a recipient. */
  recipientsOnly: boolean;
  key: KeyFacts;
  /**
   * What a person of the dashboard may request without another one. Null means any amount, or a key
   * requests it.
   */
  secondPersonAbove: Amount | null;
}

/** The limits of the API key; a person of the dashboard has none. */
export interface KeyFacts {
  recipientsOnly: boolean;
  /** Empty means every currency. */
  currencies: readonly string[];
  perPayoutMax: Amount | null;
  dailyMax: Amount | null;
  usedToday: Amount;
  resetsAt: Date | null;
}

/** The rules of the account that a refund is measured by. */
export interface AccountRules {
  recipientsOnly: boolean;
  /** Null means no maximum. */
  perTransactionMax: Amount | null;
  dailyMax: Amount | null;
  usedToday: Amount;
  resetsAt: Date | null;
}

/** What a payout costs, and whether it needs a review. */
export interface PayoutTerms {
  feeTerms: FeeTerms;
  serviceFee: Amount;
  totalDebit: Amount;
  reviewReasons: ReviewReason[];
  needsSecondPerson: boolean;
}

/** The terms, or why the payout is refused. */
export type TermsOutcome = { terms: PayoutTerms } | { refusal: Refusal };

/** The terms of a payout under all rules, limits and the balance. */
export function payoutTerms(
  mode: Mode,
  request: PayoutRequest,
  networkFee: Amount,
  facts: PayoutFacts,
): TermsOutcome {
  const outcome = payoutTermsOnCredit(mode, request, networkFee, facts);
  if ('refusal' in outcome) return outcome;
  const { totalDebit: debit } = outcome.terms;
  if (!isLess(facts.available, debit)) return outcome;
  return { refusal: insufficientBalance(request.currency, facts.available, debit) };
}

/** Gives the terms of `payoutTerms` without the balance, because the rows of a batch are covered together. */
export function payoutTermsOnCredit(
  mode: Mode,
  request: PayoutRequest,
  networkFee: Amount,
  facts: Omit<PayoutFacts, 'available'>,
): TermsOutcome {
  const { amount, currency } = request;
  if (facts.existingId !== null) return { refusal: duplicateReference('payout', facts.existingId) };
  const notAllowed = outsideOfRules(mode, request, facts);
  if (notAllowed !== null) return { refusal: notAllowed };
  if (facts.pauseReason !== null) return { refusal: payoutsPaused() };
  if (facts.feeTerms === null) return { refusal: feesNotConfigured() };
  if (!facts.limitsSet) return { refusal: limitsNotConfigured() };
  const overLimit =
    exceededLimit({
      of: 'account',
      currency,
      amount,
      perTransactionMax: facts.perTransactionMax,
      dailyMax: facts.dailyMax,
      usedToday: facts.usedToday,
      resetsAt: facts.windowResetsAt?.toISOString() ?? null,
    }) ?? keyLimit(facts.key, currency, amount);
  if (overLimit !== null) return { refusal: overLimit };
  const fee = serviceFee('payout', amount, facts.feeTerms);
  const debit = totalDebit(amount, fee, networkFee);
  const reasons = reviewReasons({
    mode,
    amount,
    destinationType: request.destination.type,
    reviewAll: facts.reviewAll,
    rehearseReview: facts.rehearseReview,
    autoApproveMax: facts.autoApproveMax,
    autoApproveDailyMax: facts.autoApproveDailyMax,
    autoApprovedAmount: facts.autoApprovedToday,
    fourEyesThreshold: facts.fourEyesThreshold,
    destinationUsedBefore: facts.destinationUsedBefore,
    apiKeyAgeMs: facts.now.getTime() - facts.apiKeySecretSince.getTime(),
  });
  return {
    terms: {
      feeTerms: facts.feeTerms,
      serviceFee: fee,
      totalDebit: debit,
      reviewReasons: reasons,
      needsSecondPerson: needsSecondPerson(facts.secondPersonAbove, amount),
    },
  };
}

/**
 * The refusal of a refund that exceeds the limits of the account or its key, in which it counts as a payout
 * does; or null.
 */
export function refundOutsideOfRules(
  { account, key }: { account: AccountRules; key: KeyFacts },
  { mode, currency }: { mode: Mode; currency: string },
  { amount, toAddress }: { amount: Amount; toAddress: boolean },
): Refusal | null {
  const notAllowed = currencyRefusal(key, currency);
  if (notAllowed !== null) return notAllowed;
  const held = recipientsOnlyBy(mode, { ...account, key });
  if (toAddress && held !== null) {
    const message =
      held === 'account'
        ? 'A refund of this payment goes to an address that the customer names, and this account may pay saved recipients only. Save the customer as a recipient, then create a payout.'
        : 'A refund of this payment goes to an address that the customer names, and this API key may pay saved recipients only. Save the customer as a recipient, then create a payout.';
    return { code: 'recipient_required', details: { held }, message };
  }
  const limit = accountLimit(account, currency, amount);
  if (limit !== null) return { ...limit, message: limitMessage('account') };
  const ofKey = keyLimit(key, currency, amount);
  return ofKey === null ? null : { ...ofKey, message: limitMessage('API key') };
}

function limitMessage(of: 'account' | 'API key'): string {
  return `The refund would exceed a limit of your ${of}; see details. Lower the amount or try again later.`;
}

function accountLimit(account: AccountRules, currency: string, amount: Amount): Refusal | null {
  return exceededLimit({
    of: 'account',
    currency,
    amount,
    perTransactionMax: account.perTransactionMax,
    dailyMax: account.dailyMax,
    usedToday: account.usedToday,
    resetsAt: account.resetsAt?.toISOString() ?? null,
  });
}

function keyLimit(key: KeyFacts, currency: string, amount: Amount): Refusal | null {
  return exceededLimit({
    of: 'key',
    currency,
    amount,
    perTransactionMax: key.perPayoutMax,
    dailyMax: key.dailyMax,
    usedToday: key.usedToday,
    resetsAt: key.resetsAt?.toISOString() ?? null,
  });
}

function currencyRefusal({ currencies }: KeyFacts, currency: string): Refusal | null {
  if (currencies.length === 0 || currencies.includes(currency)) return null;
  return { code: 'currency_not_allowed', details: { allowed: [...currencies] } };
}

/**
 * The rule of the account or of the key that the payout breaks, whatever its amount
 * (decisions/payouts#recipients).
 */
function outsideOfRules(
  mode: Mode,
  { currency, recipient }: PayoutRequest,
  { recipientsOnly, key }: Pick<PayoutFacts, 'recipientsOnly' | 'key'>,
): Refusal | null {
  const notAllowed = currencyRefusal(key, currency);
  if (notAllowed !== null) return notAllowed;
  if (recipient !== undefined) return null;
  const held = recipientsOnlyBy(mode, { recipientsOnly, key });
  return held === null ? null : { code: 'recipient_required', details: { held } };
}

/** Whether the account or the key allows saved recipients only; null if neither does. */
function recipientsOnlyBy(
  mode: Mode,
  { recipientsOnly, key }: Pick<PayoutFacts, 'recipientsOnly' | 'key'>,
): 'account' | 'api_key' | null {
  if (mode === 'live' && recipientsOnly) return 'account';
  return key.recipientsOnly ? 'api_key' : null;
}

/** @param facts the payment that has the reference already, and the fee rule in force, if any */
export function paymentTerms(facts: {
  existingId: string | null;
  feeTerms: FeeTerms | null;
}): { terms: { feeTerms: FeeTerms } } | { refusal: Refusal } {
  const { existingId, feeTerms } = facts;
  if (existingId !== null) return { refusal: duplicateReference('payment', existingId) };
  return feeTerms === null ? { refusal: feesNotConfigured() } : { terms: { feeTerms } };
}

/** The refusal of a payout that the balance does not cover, with the amounts. */
export function insufficientBalance(
  currency: string,
  available: Amount,
  required: Amount,
): Refusal {
  return { code: 'insufficient_balance', details: { currency, available, required } };
}

/** The refusal of a reference that another object has, with the id of that object. */
export function duplicateReference(
  object: 'payout' | 'payment' | 'payout_batch' | 'payout_schedule' | 'refund',
  existingId: string,
): Refusal {
  return {
    code: 'duplicate_reference',
    details: { existing_id: existingId, existing_object: object },
  };
}

function feesNotConfigured(): Refusal {
  return {
    code: 'service_unavailable',
    details: { reason: 'fees_not_configured' },
    message:
      'No fee is configured for this currency. Contact the operator, then retry the request.',
  };
}

/** A currency without limits is refused until an operator sets them. */
function limitsNotConfigured(): Refusal {
  return {
    code: 'service_unavailable',
    details: { reason: 'limits_not_configured' },
    message:
      'No payout limits are configured for this currency. Contact the operator, then retry the request.',
  };
}

function payoutsPaused(): Refusal {
  return {
    code: 'service_unavailable',
    details: { reason: 'payouts_paused' },
    message:
      'The operator has paused new payouts. Retry the request later with the same Idempotency-Key.',
  };
}
