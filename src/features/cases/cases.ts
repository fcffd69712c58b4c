/**
 * Cases: what the gateway could not resolve by itself, how an operator resolves it, and what the console shows:
 * what the gateway has on record beside what the provider has.
 */
import { type Case, findCase, resolveCase as writeResolution } from '../../db/cases/cases';
import { listAudit } from '../../db/audit/audit-log';
import { findPayment } from '../../db/payments/payments';
import { findPayout } from '../../db/payouts/payouts';
import { findRecipientForOperator } from '../../db/recipients/recipients';
import { listEntriesOf } from '../../db/books/provider-statements';
import { listTransactions } from '../../db/books/transactions';
import type { Db, Tx } from '../../db/transaction';
import type { MerchantTransaction } from '../../domain/ledger';
import type { Payment } from '../../domain/payment';
import type { Payout } from '../../domain/payout';
import type { Recipient } from '../../domain/recipient';
import { presentCase } from '../../kit/service/admin';
import { AdminRefusal } from '../../kit/service/refusal';
import { defineChange, Text } from '../../kit/service/change';
import { listNotes, type Note } from '../audit/notes';

export { type Case, listCases, listCasesPage } from '../../db/cases/cases';

export type CaseObject =
  { kind: 'payout'; object: Payout } | { kind: 'payment'; object: Payment } | null;

export interface CaseEvidence {
  found: Case;
  /** Null if the object is not in the database, or the case is about no object. */
  ours: CaseObject;
  /** The recipient of a case about one. */
  recipient: Recipient | null;
  transactions: MerchantTransaction[];
  /** The entries of the provider's statement, from the gateway's copy. */
  theirs: Awaited<ReturnType<typeof listEntriesOf>>;
  /** Null if it is open, or the gateway resolved it. */
  resolvedBy: string | null;
  notes: Note[];
}

const TRANSACTIONS_MAX = 100;

/** Records the resolution; the ledger is not changed. @throws InvalidInput, AdminRefusal */
export const resolveCase = defineChange({
  action: 'case.resolve',
  access: { needs: 'review' },
  fields: {
    resolution: Text(2_000, { label: 'Resolution', hint: 'The finding and what was done' }),
  },
  run: async (tx, { id, seen }: SeenCase, { resolution }) => {
    const before = await requireCase(tx, id);
    const resolved = await writeResolution(tx, id, seen, resolution);
    if (resolved === null) {
      const isOpen = (await requireCase(tx, id)).resolvedAt === null;
      throw new AdminRefusal({ code: isOpen ? 'case_changed' : 'case_already_resolved', id });
    }
    return {
      result: resolved,
      audit: {
        object: 'case',
        objectId: id,
        accountId: null,
        before: presentCase(before),
        after: presentCase(resolved),
      },
    };
  },
});

interface SeenCase {
  id: string;
  /** How many facts the operator saw. With any other number the resolution is refused. */
  seen: number;
}

/** @throws AdminRefusal */
export async function requireCase(db: Db | Tx, id: string): Promise<Case> {
  const found = await findCase(db, id);
  if (found !== null) return found;
  throw new AdminRefusal({ code: 'not_found', object: 'case', id });
}

/** @throws AdminRefusal */
export async function readCaseEvidence(db: Db, id: string): Promise<CaseEvidence> {
  const found = await requireCase(db, id);
  const ours = await findObject(db, found.objectId);
  const [recipient, transactions, theirs, resolvedBy, notes] = await Promise.all([
    found.objectId.startsWith('rcp_') ? findRecipientForOperator(db, found.objectId) : null,
    ours === null ? [] : transactionsOf(db, ours.object),
    listEntriesOf(db, referenceOf(found)),
    found.resolvedAt === null ? null : resolverOf(db, id),
    listNotes(db, { object: 'case', id }),
  ]);
  return { found, ours, recipient, transactions, theirs, resolvedBy, notes };
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
  const [entry] = await listAudit(db, { objectId: id, action: resolveCase.action, limit: 1 });
  return entry?.actor ?? null;
}
