/**
 * What a person makes on the dashboard above the account's amount waits for another person
 * (decisions/controls#second-person): payouts, batches, refunds, schedules; and recipients, which have no amount, as
 * soon as their currency has one.
 */
import type { IdKind } from './ids';
import { type Amount, isLess } from './money';

/** The kinds of object that can wait for a second person. */
export const SECOND_PERSON_KINDS = [
  'payout',
  'payoutBatch',
  'refund',
  'recipient',
  'payoutSchedule',
] as const satisfies readonly IdKind[];
export type SecondPersonKind = (typeof SECOND_PERSON_KINDS)[number];

/** The kinds that a second person approves. A key that a person made pays within the person's line until then. */
export const APPROVED_KINDS = [...SECOND_PERSON_KINDS, 'apiKey'] as const;
export type ApprovedKind = (typeof APPROVED_KINDS)[number];

/** The amount of each currency that a person may move alone in 24 hours; a currency without one has no rule. */
export type SecondPersonRule = Record<string, Amount>;

/** A person who may approve as the second person. */
export interface Approver {
  userId: string;
  email: string;
  /** Empty if the person has none. */
  name: string;
  /** The people whose objects they do not approve: themselves, and everybody who is related to them. */
  relatedTo: string[];
}

/** Those of the approvers who may approve what `maker` made. */
export function approversOf(approvers: readonly Approver[], maker: string): Approver[] {
  return approvers.filter(({ relatedTo }) => !relatedTo.includes(maker));
}

/** The sentence that says why two people of an account count as one. */
export const RELATED_PEOPLE =
  'one of you invited the other, gave the other a role or reset how the other signs in in the last 30 days, or a ' +
  'third person did so for both of you';

/** The longest wait for a second person while money is reserved. */
export const SECOND_PERSON_WITHIN_MS = 7 * 24 * 60 * 60 * 1000;

/** @param left what the person may still move alone; null means any amount */
export function needsSecondPerson(left: Amount | null, amount: Amount): boolean {
  return left !== null && isLess(left, amount);
}

/** The time until which a second person can approve. */
export function secondPersonUntil(now: Date): Date {
  return new Date(now.getTime() + SECOND_PERSON_WITHIN_MS);
}
