/** Payments for operators: what happened to one, and the decisions of the admin command. */
import {
  type ConsolePaymentFilters,
  listConsolePayments,
  type PaymentRecords,
  readPaymentRecords,
} from '../../db/payments/console-payments';
import { type HistoryEvent, listHistory } from '../../db/object-history';
import { listTransactions } from '../../db/books/transactions';
import type { Db } from '../../db/transaction';
import { isId } from '../../domain/ids';
import type { MerchantTransaction } from '../../domain/ledger';
import type { PaymentDecisionKind } from '../../domain/payment';
import type { PaymentWorkflows } from '../../temporal/payment-workflows';
import type { ChangedBy } from '../../kit/service/audit';
import { decideAboutPayment, lookAtPayment, UnclearDecision } from './payment-changes';
import { awaitsAddress } from '../../domain/refund';
import { readRefundMail, type RefundMail } from './refund-addresses';
import { AdminRefusal } from '../../kit/service/refusal';
import type { ListPosition } from '../../kit/service/services';

export { PAYMENT_FLAGS, type ConsolePayment } from '../../db/payments/console-payments';

/** How long a page waits for the outcome: less than a command does. */
const PATIENCE_MS = 8_000;

export interface PaymentDetail extends Omit<PaymentRecords, 'refunds'> {
  refunds: (PaymentRecords['refunds'][number] & { mail: RefundMail | null })[];
  events: HistoryEvent[];
  transactions: MerchantTransaction[];
}

export interface ConsolePaymentsDeps {
  db: Db;
  paymentWorkflows: PaymentWorkflows;
}

/** @throws AdminRefusal, InvalidInput */
export function createConsolePayments({ db, paymentWorkflows }: ConsolePaymentsDeps) {
  const deps = { db, paymentWorkflows, patienceMs: PATIENCE_MS };
  return {
    list: (query: { limit: number; after: ListPosition | null; filters: ConsolePaymentFilters }) =>
      listConsolePayments(db, query),
    get: async (id: string): Promise<PaymentDetail> => {
      const records = await readPaymentRecords(db, id);
      if (records === null) throw new AdminRefusal({ code: 'not_found', object: 'payment', id });
      const { accountId, mode } = records.payment;
      const list = { accountId, mode, limit: 100, after: null, filters: { sourceId: id } };
      const [events, { items: transactions }, refunds] = await Promise.all([
        listHistory(db, id),
        listTransactions(db, list),
        Promise.all(
          records.refunds.map(async (refund) => ({
            ...refund,
            mail: awaitsAddress(refund) ? await readRefundMail(db, refund, records.payment) : null,
          })),
        ),
      ]);
      return { ...records, events, transactions, refunds };
    },
    /** Its outcome is among the decisions of `get`, once a worker has recorded it. */
    decide: async (
      by: ChangedBy,
      order: { id: string; paymentId: string; kind: PaymentDecisionKind; amount: string | null },
    ) => {
      const { id } = order;
      if (!isId('decision', id))
        throw new AdminRefusal({ code: 'not_found', object: 'payment', id });
      try {
        await decideAboutPayment(deps, by, order);
      } catch (error) {
        // The page shows what is recorded.
        const isShown =
          error instanceof UnclearDecision ||
          (error instanceof AdminRefusal && error.refusal.code === 'payment_decision_refused');
        if (!isShown) throw error;
      }
    },
    /** Makes the workflow ask the provider now. @returns false when Temporal did not answer */
    askProvider: async (id: string): Promise<boolean> => {
      try {
        await lookAtPayment(deps, id);
        return true;
      } catch (error) {
        if (!(error instanceof UnclearDecision)) throw error;
        return false;
      }
    },
  };
}
