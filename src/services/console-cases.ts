/** Cases as the console shows them: what the gateway has on record beside what the provider has. */
import { type Case, type CaseFilters, listCasesPage } from '../db/repositories/cases';
import { listAudit } from '../db/repositories/audit-log';
import { findPayment } from '../db/repositories/payments';
import { findPayout } from '../db/repositories/payouts';
import { listEntriesOf } from '../db/repositories/provider-statements';
import { listTransactions } from '../db/repositories/transactions';
import type { Db } from '../db/transaction';
import type { MerchantTransaction } from '../domain/ledger';
import type { Payment } from '../domain/payment';
import type { Payout } from '../domain/payout';
import type { ChangedBy } from './admin/audit';
import { type CaseResolution, requireCase, resolveCase } from './admin/cases';
import type { ListPosition } from './services';

export type { Case, CaseFilters } from '../db/repositories/cases';

export type CaseObject =
  { kind: 'payout'; object: Payout } | { kind: 'payment'; object: Payment } | null;

export interface CaseEvidence {
  found: Case;
  /** Null: the object is not in the database, or the case is about no object. */
  ours: CaseObject;
  transactions: MerchantTransaction[];
  /** The copy of the provider's statement. */
  theirs: Awaited<ReturnType<typeof listEntriesOf>>;
  /** Null: it is open, or the gateway resolved it. */
  resolvedBy: string | null;
}

const TRANSACTIONS_MAX = 100;

/** @throws AdminRefusal, InvalidInput */
export function createConsoleCases(db: Db) {
  return {
    list: (query: { limit: number; after: ListPosition | null; filters: CaseFilters }) =>
      listCasesPage(db, query),
    get: async (id: string): Promise<CaseEvidence> => {
      const found = await requireCase(db, id);
      const ours = await findObject(db, found.objectId);
      const [transactions, theirs, resolvedBy] = await Promise.all([
        ours === null ? [] : transactionsOf(db, ours.object),
        listEntriesOf(db, referenceOf(found)),
        found.resolvedAt === null ? null : resolverOf(db, id),
      ]);
      return { found, ours, transactions, theirs, resolvedBy };
    },
    resolve: (by: ChangedBy, id: string, resolution: CaseResolution) =>
      resolveCase(db, by, id, resolution),
  };
}

async function findObject(db: Db, id: string): Promise<CaseObject> {
  if (id.startsWith('po_')) {
    const object = await findPayout(db, id);
    return object === null ? null : { kind: 'payout', object };
  }
  if (!id.startsWith('pay_')) return null;
  const object = await findPayment(db, id);
  return object === null ? null : { kind: 'payment', object };
}

async function transactionsOf(
  db: Db,
  { id, accountId, mode }: Payout | Payment,
): Promise<MerchantTransaction[]> {
  const list = { accountId, mode, limit: TRANSACTIONS_MAX, after: null };
  return (await listTransactions(db, { ...list, filters: { sourceId: id } })).items;
}

/** The object of an unknown transfer is the provider's id; its reference is among the details. */
function referenceOf({ objectId, details }: Case): string {
  const { reference } = details;
  return typeof reference === 'string' ? reference : objectId;
}

async function resolverOf(db: Db, id: string): Promise<string | null> {
  const [entry] = await listAudit(db, { objectId: id, action: 'case.resolve', limit: 1 });
  return entry?.actor ?? null;
}
