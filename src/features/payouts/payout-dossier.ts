/**
 * A payout's dossier: what was requested, decided, checked, posted, sent and told, of one moment and signed, so
 * that it can be checked without the gateway (decisions/payouts#payout-dossier).
 */
import { digestsOf, signedText } from '../../../clients/typescript/src/dossier';
import { databaseTime } from '../../db/database-time';
import { readDossierFacts } from '../../db/payouts/payout-dossier';
import { listTransactions } from '../../db/books/transactions';
import type { Db } from '../../db/transaction';
import type { Payout } from '../../domain/payout';
import type { EvidenceKey } from '../../platform/lib/evidence-key';
import { presentTransaction } from '../books/balance';
import { presentPayout } from './payouts-contract';
import { type PayoutDossier, presentDossierFacts } from './payout-dossiers-contract';
import { VISIBLE_ACTIONS } from '../audit/audit-log';

export interface DossierDeps {
  db: Db;
  /** Null if dossiers have no signature. */
  evidenceKey: EvidenceKey | null;
}

/** The most postings that are read; a payout has fewer. */
const POSTINGS_MAX = 100;

/** @param payout that the caller may see */
export async function buildDossier(
  { db, evidenceKey }: DossierDeps,
  payout: Payout,
): Promise<PayoutDossier> {
  const { id, accountId, mode } = payout;
  const [facts, postings, now] = await Promise.all([
    readDossierFacts(db, id, VISIBLE_ACTIONS),
    listTransactions(db, {
      ...{ accountId, mode, limit: POSTINGS_MAX, after: null },
      filters: { sourceId: id },
    }),
    databaseTime(db),
  ]);
  const content = {
    id,
    object: 'payout_dossier' as const,
    created_at: now.toISOString(),
    payout: presentPayout(payout),
    ...presentDossierFacts(facts),
    postings: postings.items.map(presentTransaction).reverse(),
  };
  return { ...content, signature: evidenceKey === null ? null : signatureOf(content, evidenceKey) };
}

function signatureOf(content: object, key: EvidenceKey): PayoutDossier['signature'] {
  // The content as a reader of the JSON text has it.
  const read = JSON.parse(JSON.stringify(content)) as Record<string, unknown>;
  const head = { algorithm: 'Ed25519' as const, key_id: key.keyId, digests: digestsOf(read) };
  return { ...head, value: key.sign(signedText(read, head)) };
}
