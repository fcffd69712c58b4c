/**
 * Payments, refunds and payouts that a person creates on the dashboard, through the services of the API: the
 * same checks, idempotency and workflows. The object has the user's id in place of a key's.
 */
import type { Owner } from '../../domain/mode';
import { setTimeout as sleep } from 'node:timers/promises';
import { findAccount } from '../../db/accounts/accounts';
import type { Db } from '../../db/transaction';
import { ApiError } from '../../domain/errors';
import type { Direction } from '../../domain/fees';
import type { PaymentRequest } from '../../domain/payment';
import type { Payout, SentPayoutOrder } from '../../domain/payout';
import type { ApprovedKind } from '../../domain/second-person';
import { revokeKey } from '../../features/api-keys/api-keys';
import type { ChangedBy } from '../../kit/service/audit';
import { AdminRefusal } from '../../kit/service/refusal';
import type { RefundInput } from '../../features/payments/refunds';
import type { Caller, StoredResponse } from '../../kit/service/services';
import type { Services } from '../api/services';

export interface Person extends Owner {
  userId: string;
}

/** The services of the API, with its own database login. */
export type MoneyServices = Pick<
  Services,
  | 'payments'
  | 'payouts'
  | 'payoutBatches'
  | 'payoutSchedules'
  | 'recipients'
  | 'refunds'
  | 'catalogue'
>;

/** The second request of a double click waits this long for the answer to the first. */
const ANSWER_WITHIN_MS = 15_000;
const ASK_AGAIN_MS = 250;

/** The functions throw ApiError as the API does, and AdminRefusal for an account that may not use this mode. */
export function createDashboardMoney(db: Db, api: MoneyServices) {
  const { payments, payouts, payoutBatches, payoutSchedules, recipients, refunds, catalogue } = api;
  return {
    routes: async (person: Person, direction: Direction) =>
      (await catalogue.currencies(callerOf(person))).routes.filter(
        (route) => route.direction === direction,
      ),
    checkPayment: async (person: Person, request: PaymentRequest) =>
      payments.check(await allowedCaller(db, person), request),
    payment: (person: Person, id: string) => payments.get(callerOf(person), id),
    /** @returns the id of the payment */
    createPayment: async (person: Person, idempotencyKey: string, request: PaymentRequest) => {
      const caller = await allowedCaller(db, person);
      return createdId(() => payments.create(caller, { idempotencyKey, request }));
    },
    cancelPayment: async (person: Person, id: string) => {
      await payments.cancel(callerOf(person), id);
    },
    refundChoices: (person: Person, paymentId: string) =>
      refunds.choices(callerOf(person), paymentId),
    quoteRefund: async (person: Person, request: RefundInput) =>
      refunds.quote(await allowedCaller(db, person), request),
    /** @returns the id of the refund */
    createRefund: async (person: Person, idempotencyKey: string, request: RefundInput) => {
      const caller = await allowedCaller(db, person);
      return createdId(() => refunds.create(caller, { idempotencyKey, ...request }));
    },
    quotePayout: async (person: Person, request: SentPayoutOrder) =>
      payouts.quote(await allowedCaller(db, person), request),
    /** @returns the id of the payout */
    createPayout: async (person: Person, idempotencyKey: string, request: SentPayoutOrder) => {
      const caller = await allowedCaller(db, person);
      return createdId(() => payouts.create(caller, { idempotencyKey, request }));
    },
    cancelPayout: async (person: Person, id: string) => {
      await payouts.cancel(callerOf(person), id);
    },
    /** For who may make payouts. Null if it was erased; undefined if there is none. */
    payoutBeneficiary: (person: Person, payout: Payout) =>
      payouts.beneficiaryOf({ ...callerOf(person), scopes: ['payouts:write'] }, payout),
    /** @throws ApiError not_found */
    payoutDossier: (person: Person, id: string) => payouts.dossier(callerOf(person), id),
    /** Makes the workflow of an object look for the approval of a second person. */
    lookAgain: async (person: Person, kind: ApprovedKind, id: string) => {
      const caller = callerOf(person);
      if (kind === 'payout') await payouts.lookAgain(caller, id);
      if (kind === 'payoutBatch') await payoutBatches.lookAgain(caller, id);
      if (kind === 'refund') await refunds.lookAgain(caller, id);
      if (kind === 'recipient') await recipients.lookAgain(id);
    },
    /** Ends what a second person has declined, as its maker could: the funds are returned, and nothing is sent. */
    end: async (person: Person, by: ChangedBy, kind: ApprovedKind, id: string) => {
      const caller = callerOf(person);
      if (kind === 'payout') await payouts.cancel(caller, id);
      if (kind === 'payoutBatch') await payoutBatches.stop(caller, id);
      if (kind === 'payoutSchedule') await payoutSchedules.change(caller, id, 'end');
      if (kind === 'refund') await refunds.withdraw(caller, id);
      if (kind === 'recipient') await recipients.remove(caller, by, id);
      if (kind === 'apiKey') await revokeKey.make(db, by, { id }, {});
    },
    withdrawRefund: (person: Person, id: string) => refunds.withdraw(callerOf(person), id),
    payoutBatches,
    payoutSchedules,
    recipients,
    /** The caller of an operation that reads or stops; an account that may not use the mode is accepted. */
    callerOf,
    /**
     * The caller of an operation that creates something.
     * @throws AdminRefusal if the account may not use the mode
     */
    allowedCaller: (person: Person) => allowedCaller(db, person),
  };
}

function callerOf({ accountId, mode, userId }: Person): Caller {
  return { accountId, mode, apiKeyId: userId, scopes: [] };
}

/** The checks that the API makes when it authenticates a key. */
async function allowedCaller(db: Db, person: Person): Promise<Caller> {
  const account = await findAccount(db, person.accountId);
  if (account?.status !== 'active') throw new ApiError({ code: 'account_suspended' });
  if (person.mode === 'live' && account.verifiedAt === null) {
    throw new AdminRefusal({ code: 'account_not_verified', id: account.id });
  }
  return callerOf(person);
}

/** A form that is sent twice gets the answer to the first, also while that one is running. */
export async function createdId(create: () => Promise<StoredResponse>): Promise<string> {
  const until = performance.now() + ANSWER_WITHIN_MS;
  for (;;) {
    try {
      const { body } = await create();
      return (JSON.parse(body.toString('utf8')) as { data: { id: string } }).data.id;
    } catch (error) {
      const isRunning = error instanceof ApiError && error.code === 'request_in_progress';
      if (!isRunning || performance.now() > until) throw error;
      await sleep(ASK_AGAIN_MS);
    }
  }
}
