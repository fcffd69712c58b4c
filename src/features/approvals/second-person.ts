/**
 * Another person of the account approves what one person makes on the dashboard above an amount
 * (decisions/controls#second-person). The approval is a row, the same for every kind of object; the guarded
 * transition that releases the object looks at it.
 */
import type { Owner } from '../../domain/mode';
import { findRefund } from '../../db/payments/payment-refunds';
import { findPayoutBatch } from '../../db/payout-batches/payout-batches';
import { findPayoutSchedule } from '../../db/payout-schedules/payout-schedules';
import { findPayout } from '../../db/payouts/payouts';
import { findRecipient } from '../../db/recipients/recipients';
import {
  approvalFault,
  findKeyApproval,
  insertPersonApproval,
  lockSecondPersonRule,
  saveSecondPersonRule,
} from '../../db/approvals/second-person';
import type { Reader, Tx } from '../../db/transaction';
import { isId } from '../../domain/ids';
import { isLess } from '../../domain/money';
import type { Payout } from '../../domain/payout';
import type { PayoutBatch } from '../../domain/payout-batch';
import type { PayoutSchedule } from '../../domain/payout-schedule';
import type { Recipient } from '../../domain/recipient';
import type { Refund } from '../../domain/refund';
import {
  APPROVED_KINDS,
  type ApprovedKind,
  type SecondPersonRule,
} from '../../domain/second-person';
import { checkCurrency, positiveAmount } from '../../kit/service/checks';
import { AdminRefusal, InvalidInput, type NotFoundObject } from '../../kit/service/refusal';
import { defineChange, List } from '../../kit/service/change';

/** An owner may lower an amount and set a new one. The operator alone raises or removes it. */
export const ruleSecondPerson = defineChange({
  action: 'account.second_person',
  access: { needs: 'manage' },
  fields: {
    above: List({
      label: 'A second person approves above',
      hint: 'A currency and an amount, separated by commas',
      without: 'no second person',
      placeholder: 'USDT=1000, BTC=0.05',
      pairs: true,
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

/** The amounts in the form that the field accepts. */
export function textsOf(rule: SecondPersonRule): string[] {
  return Object.entries(rule).map(([currency, amount]) => `${currency}=${amount}`);
}

/** An object that waits for a second person. */
export interface Waiting {
  kind: ApprovedKind;
  id: string;
  /** The person who made it. */
  maker: string;
  /** What an approval is about: other rows of a batch, or another destination, need another one. */
  version: string;
  currencies: readonly string[];
  /** When the funds are returned; null if nothing is reserved. */
  until: Date | null;
}

/** @returns null when it does not wait for a second person */
export function waitingPayout(payout: Payout): Waiting | null {
  const condition = payout.conditions?.find(({ kind }) => kind === 'second_person');
  if (payout.awaitsRelease !== true || condition?.kind !== 'second_person') return null;
  if (condition.metAt !== null) return null;
  const { id, currency, releaseExpiresAt: until } = payout;
  const { maker } = condition.parameters;
  return { kind: 'payout', id, maker, version: '', currencies: [currency], until };
}

export function waitingBatch(batch: PayoutBatch): Waiting | null {
  const { id, secondPerson: maker, manifestSha256: version, secondPersonUntil: until } = batch;
  if (maker === null || !batch.awaitsSecondPerson || batch.ending !== null) return null;
  const currencies = batch.totals.map(({ currency }) => currency);
  return { kind: 'payoutBatch', id, maker, version, currencies, until };
}

export function waitingRefund(refund: Refund): Waiting | null {
  const { id, secondPerson: maker, currency, secondPersonUntil: until } = refund;
  if (maker === null || !refund.awaitsPerson) return null;
  return { kind: 'refund', id, maker, version: '', currencies: [currency], until };
}

export function waitingRecipient(recipient: Recipient): Waiting | null {
  const { id, secondPerson: maker, destinationVersion: version, currency } = recipient;
  if (maker === null || !recipient.awaitsSecondPerson || recipient.deletedAt !== null) return null;
  return { kind: 'recipient', id, maker, version, currencies: [currency], until: null };
}

export function waitingSchedule(schedule: PayoutSchedule): Waiting | null {
  if (!schedule.awaitsSecondPerson) return null;
  const { id, apiKeyId, maker = null, totals } = schedule;
  const currencies = totals.map(({ currency }) => currency);
  const by = maker ?? apiKeyId;
  return { kind: 'payoutSchedule', id, maker: by, version: '', currencies, until: null };
}

/** @returns null for a key that nobody has to approve */
export async function waitingKey(db: Reader, owner: Owner, id: string): Promise<Waiting | null> {
  const found = await findKeyApproval(db, owner, id);
  return found === null ? null : { kind: 'apiKey', id, ...found, currencies: [], until: null };
}

type Find = (db: Reader, owner: Owner, id: string) => Promise<Waiting | null>;

async function ofOwner<T extends Owner>(
  found: Promise<T | null>,
  owner: Owner,
  waiting: (object: T) => Waiting | null,
  kind: NotFoundObject,
  id: string,
): Promise<Waiting | null> {
  const object = await found;
  if (object?.accountId === owner.accountId && object.mode === owner.mode) return waiting(object);
  throw new AdminRefusal({ code: 'not_found', object: kind, id });
}

const FIND: Record<ApprovedKind, Find> = {
  apiKey: waitingKey,
  payout: (db, owner, id) => ofOwner(findPayout(db, id), owner, waitingPayout, 'payout', id),
  payoutBatch: (db, owner, id) =>
    ofOwner(findPayoutBatch(db, id), owner, waitingBatch, 'payout_batch', id),
  refund: (db, owner, id) => ofOwner(findRefund(db, id), owner, waitingRefund, 'refund', id),
  recipient: (db, owner, id) =>
    ofOwner(findRecipient(db, owner, id), owner, waitingRecipient, 'recipient', id),
  payoutSchedule: (db, owner, id) =>
    ofOwner(findPayoutSchedule(db, id), owner, waitingSchedule, 'payout_schedule', id),
};

const OBJECTS = {
  apiKey: 'api_key',
  payout: 'payout',
  payoutBatch: 'payout_batch',
  refund: 'refund',
  recipient: 'recipient',
  payoutSchedule: 'payout_schedule',
} as const satisfies Record<ApprovedKind, NotFoundObject>;

/** @param version as the person saw it */
type Approval = Owner & { id: string; userId: string; version: string };

/** @returns what waits for the person, who did not make it and has seen it as it is. @throws AdminRefusal */
async function readWaiting(tx: Tx, { id, userId, version, ...owner }: Approval): Promise<Waiting> {
  const kind = APPROVED_KINDS.find((one) => isId(one, id));
  if (kind === undefined) throw new AdminRefusal({ code: 'not_found', object: 'payout', id });
  const waiting = await FIND[kind](tx, owner, id);
  if (waiting === null) throw new AdminRefusal({ code: 'not_waiting_for_person', id });
  if (waiting.maker === userId) throw new AdminRefusal({ code: 'made_by_yourself', id });
  if (waiting.version !== version) throw new AdminRefusal({ code: 'changed_since_shown', id });
  return waiting;
}

function decided(waiting: Waiting, { accountId, id, version }: Approval, by: object) {
  const object = OBJECTS[waiting.kind];
  const after = { object, id, ...by, version };
  return { result: waiting, audit: { object, objectId: id, accountId, before: null, after } };
}

/** Approves what another person made. @throws AdminRefusal */
export const approveAsSecondPerson = defineChange({
  action: 'second_person.approve',
  access: { needs: 'approve' },
  fields: {},
  run: async (tx, approval: Approval) => {
    const { accountId, id, userId, version } = approval;
    const waiting = await readWaiting(tx, approval);
    const fault = await approvalFault(tx, { accountId, maker: waiting.maker, userId });
    if (fault !== null) throw new AdminRefusal({ code: fault, id });
    await insertPersonApproval(tx, id, version, userId);
    return decided(waiting, approval, { approved_by: userId });
  },
});

/** Records that a person declines what another person made. The caller ends the object. @throws AdminRefusal */
export const declineAsSecondPerson = defineChange({
  action: 'second_person.decline',
  access: { needs: 'approve' },
  fields: {},
  run: async (tx, approval: Approval) =>
    decided(await readWaiting(tx, approval), approval, { declined_by: approval.userId }),
});
