/** Every noun of the admin command, in the order of the help. */
import { ACCOUNTS } from './accounts';
import { ADJUSTMENTS } from './adjustments';
import { AUDIT } from './audit';
import type { Noun } from './command';
import { CASES } from './cases';
import { FEES } from './fees';
import { KEYS } from './keys';
import { LIMITS } from './limits';
import { PAYMENTS } from './payments';
import { PAYOUTS } from './payouts';
import { REVIEW } from './review';
import { WEBHOOKS } from './webhooks';

export const NOUNS: Readonly<Record<string, Noun>> = {
  accounts: ACCOUNTS,
  keys: KEYS,
  fees: FEES,
  limits: LIMITS,
  review: REVIEW,
  payments: PAYMENTS,
  payouts: PAYOUTS,
  adjustments: ADJUSTMENTS,
  cases: CASES,
  webhooks: WEBHOOKS,
  audit: AUDIT,
};
