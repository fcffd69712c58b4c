/** What each kind of case means, and what an operator does about it. docs/operations.md has more. */
import type { CaseKind } from '../../../domain/cases';

interface CaseText {
  meaning: string;
  remedy: string;
}

const LOOK = 'Run npm run -s admin -- payments look with the payment’s id.';

export const CASE_TEXTS: Record<CaseKind, CaseText> = {
  ledger_broken: {
    meaning: 'An invariant of the ledger does not hold. Payouts are paused.',
    remedy: 'Follow “The ledger is broken” in docs/operations.md before you resume payouts.',
  },
  ledger_not_checked: {
    meaning: 'The ledger check failed or did not run in time.',
    remedy: 'Check the schedule ledger-check, the worker and the load of PostgreSQL.',
  },
  unknown_transfer: {
    meaning: 'The provider has a transfer that the gateway did not order in this mode.',
    remedy: 'Pause the provider: its API key may be stolen. Find the order in logs and backups.',
  },
  transfer_mismatch: {
    meaning: 'The provider has a different amount or currency for our reference.',
    remedy: 'Pause the provider. Find out which side is right.',
  },
  sent_twice: {
    meaning: 'The provider has two transfers for one payout.',
    remedy: 'Pause the provider. Claim the second transfer back.',
  },
  completed_but_not_sent: {
    meaning: 'The gateway completed the payout; the provider reports that it was not sent.',
    remedy: 'Ask the provider. If it was not sent, the merchant is owed the amount.',
  },
  sent_after_return_of_funds: {
    meaning: 'The gateway returned the funds; the provider sent the payout later.',
    remedy: 'Claim the amount from the provider or the merchant.',
  },
  pending_after_return_of_funds: {
    meaning: 'The gateway returned the funds; the provider still has the transfer.',
    remedy: 'Ask the provider to stop the transfer.',
  },
  sent_but_not_completed: {
    meaning: 'The provider sent the payout over an hour ago; the gateway has not completed it.',
    remedy: 'Check the payout’s workflow.',
  },
  money_without_payment: {
    meaning: 'The provider has money on a checkout that belongs to no payment.',
    remedy: 'Ask the provider to send the money back.',
  },
  money_not_credited: {
    meaning: 'The provider has confirmed money that the payment cannot take.',
    remedy: `${LOOK} If the case stays open, refund the money or credit it with an adjustment.`,
  },
  credited_but_not_received: {
    meaning: 'The gateway credited a transfer that the provider no longer confirms.',
    remedy: 'Ask the provider. If it is true, deduct the amount with an adjustment.',
  },
  credit_mismatch: {
    meaning: 'The gateway credited a different amount or currency than the provider has.',
    remedy: 'Ask the provider. Correct the balance with an adjustment.',
  },
  refund_not_recorded: {
    meaning: 'The provider refunded the payment; nothing was deducted within an hour.',
    remedy: `${LOOK} If the case stays open, check the payment’s workflow.`,
  },
  refund_mismatch: {
    meaning: 'A refund has a different amount at the provider, or disappeared.',
    remedy: 'Ask the provider. Correct the balance with an adjustment.',
  },
  batch_changed: {
    meaning:
      'The rows of a batch differ from the manifest that was approved. The batch was stopped.',
    remedy:
      'Find out who changed the database. Compare the rows that were sent with the merchant’s order.',
  },
  checkout_mismatch: {
    meaning: 'The provider’s checkout has a different amount or currency than the payment.',
    remedy: 'Ask the provider which one is right. Nothing is credited until then.',
  },
  checkout_missing: {
    meaning: 'The provider opened the checkout and no longer knows it.',
    remedy: 'Ask the provider. The payment expires on time unless money was seen.',
  },
  foreign_workflow: {
    meaning: 'A workflow with another id called a step of this object. The step was refused.',
    remedy: 'Find out who can reach Temporal, and terminate the workflow in the details.',
  },
  late_money_held: {
    meaning: 'The provider holds money for compliance that arrived after the payment ended.',
    remedy: 'Release or reject it at the provider. Released money is credited.',
  },
  recipient_blocked: {
    meaning: 'The screening blocked the destination of a recipient. Nobody can pay it.',
    remedy:
      'Check the evidence and report it where the law requires it. The merchant was given no reason. Don’t disclose one. ' +
      'If it is a mistake, decide below that it may be paid.',
  },
  recipient_review: {
    meaning:
      'The screening found something about the destination of a recipient. It cannot be paid.',
    remedy:
      'Read the evidence, and decide below whether it may be paid, which also resolves the case.',
  },
  refund_exceeds_credit: {
    meaning:
      'The customer got back more than the payment was credited, such as a chargeback after a refund. ' +
      'The rest, `not_covered` in the details, was taken from no balance.',
    remedy:
      'Ask the provider. To charge the merchant, run npm run -s admin -- adjustments create with ' +
      '--direction out and the amount in not_covered. Then resolve the case.',
  },
  refund_not_covered: {
    meaning: 'The provider refunded the payment, and the balance does not cover it.',
    remedy: 'The amount is deducted when the balance allows. Resolving the case waives the debt.',
  },
  rejected_not_sent_back: {
    meaning: 'The provider accepted the rejection and reports neither a refund nor a failure.',
    remedy: 'Ask the provider.',
  },
  row_missing: {
    meaning: 'A workflow’s object does not exist: the database was restored to an earlier time.',
    remedy: 'Tell the merchant that the object is lost. Look for its id at the provider.',
  },
  screening_blocked: {
    meaning:
      'The screening blocked the destination of a payout. The payout was rejected and its funds were returned.',
    remedy:
      'Check the evidence and report it where the law requires it. The merchant was given no reason. Don’t disclose one.',
  },
  screening_review: {
    meaning: 'The screening found something about the destination of a payout. The payout is held.',
    remedy:
      'Read the evidence. Allow or reject the payout on its page, which also resolves the case. ' +
      'A payout that was submitted before can be allowed only.',
  },
};
