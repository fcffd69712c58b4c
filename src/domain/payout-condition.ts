/**
 * What a payout waits for before it is submitted (decisions/payouts#payout-conditions). A kind has its parameters and
 * words here, and its evaluation in src/db/payouts/payout-conditions.ts.
 */

/** The parameters of each kind, by their names on the wire. Times are ISO 8601. */
export interface ConditionParameters {
  /** Waits until a time. */
  time: { at: string };
  /** Waits until a payment is completed. */
  payment: { payment: string };
  /** Waits until another key of the account approves the payout. */
  approval: { api_key: string };
  /** Waits until an owner of the account approves who is not the person that requested the payout. */
  second_person: { maker: string };
  /** Waits until the recipient may be paid, not before `at`, with the destination that it had as `version`. */
  recipient: { recipient: string; version: string; at: string };
}
export type ConditionKind = keyof ConditionParameters;

/** A condition of a payout that is to be created. */
export type NewCondition = {
  [Kind in ConditionKind]: { kind: Kind; parameters: ConditionParameters[Kind] };
}[ConditionKind];

/** A condition as stored. */
export type Condition = NewCondition & {
  /** ISO 8601; null means not yet. */
  metAt: string | null;
};

/** The words of each kind, which an operator reads after "Waiting for". */
const WORDS: { [Kind in ConditionKind]: (parameters: ConditionParameters[Kind]) => string } = {
  time: ({ at }) => momentText(at),
  payment: ({ payment }) => `the payment ${payment} to be completed`,
  second_person: () => 'the approval of another person of the merchant',
  approval: ({ api_key: key }) => `the approval with the API key ${key}`,
  recipient: ({ recipient, at }) =>
    `the recipient ${recipient} to be ready, not before ${momentText(at)}`,
};

/** A moment as people write it: `28 Nov 2026, 09:00 UTC`. @param at ISO 8601 */
function momentText(at: string): string {
  const text = new Date(at).toLocaleString('en-GB', {
    ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
    timeZone: 'UTC',
  });
  return `${text} UTC`;
}

/** What an operator reads after "Waiting for". */
export function conditionWords({ kind, parameters }: NewCondition): string {
  // TypeScript does not know that the kind and its parameters belong together.
  return (WORDS[kind] as (given: object) => string)(parameters);
}

/** The part of a payout request that names conditions. Times are ISO 8601. */
export interface ReleaseRequest {
  at: string | null;
  afterPayment: string | null;
  approvalByKey: string | null;
  /**
   * Absent, and never undefined, unless the merchant asked for it: the hash of the request must stay the
   * same.
   */
  recipientReady?: true;
  expiresAt: string | null;
}

/** The conditions that the merchant asked for, without that of the recipient, which needs its row. */
export function requestedConditions(release: ReleaseRequest): NewCondition[] {
  const { at, afterPayment, approvalByKey } = release;
  return [
    ...(at === null ? [] : [{ kind: 'time', parameters: { at } } as const]),
    ...(afterPayment === null
      ? []
      : [{ kind: 'payment', parameters: { payment: afterPayment } } as const]),
    ...(approvalByKey === null
      ? []
      : [{ kind: 'approval', parameters: { api_key: approvalByKey } } as const]),
  ];
}

/** How far ahead a release or its end may be, in milliseconds. */
export const RELEASE_AHEAD_MS_MAX = 366 * 24 * 60 * 60 * 1_000;
