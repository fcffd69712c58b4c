/** What the database has about a payout, for its dossier. */
import type { Reader } from '../transaction';

/** JSON as payout_dossier returns it: times in ISO 8601, amounts as text. */
export interface DossierFacts {
  request: {
    sha256: string | null;
    requested_by: string;
    batch: string | null;
    batch_manifest_sha256: string | null;
  };
  review: {
    reasons: string[];
    fee_terms: string;
    operators: {
      operator: string;
      decision: 'approve' | 'reject';
      outcome: string | null;
      decided_at: string | null;
    }[];
    people: { email: string; approved_at: string }[];
    api_keys: { api_key: string; approved_at: string }[];
  };
  screening: { source: 'service' | 'list'; verdict: 'clear'; answered_at: string }[];
  submission: {
    started_at: string | null;
    accepted_at: string | null;
    provider: string;
    provider_reference: string | null;
    tx_hash: string | null;
  };
  events: {
    id: string;
    type: string;
    sequence: number;
    created_at: string;
    body_sha256: string | null;
    deliveries: {
      id: string;
      webhook_endpoint: string;
      status: string;
      finished_at: string | null;
      attempts: {
        number: number;
        started_at: string;
        outcome: string | null;
        http_status: number | null;
      }[];
    }[];
  }[];
  audit: AuditFact[];
}

export interface AuditFact {
  id: string;
  at: string;
  action: string;
  /** Null if it waits for its seal. */
  sequence: number | null;
  hash: string | null;
  previous_hash: string;
  sealed: string | null;
  /** Null if the entry waits for its seal, or its personal part was erased. */
  salt: string | null;
  /** Whether a person or a key of the account made it. */
  is_own: boolean | null;
  actor: string;
  address: string | null;
  before: object | null;
  after: object | null;
  reason: string | null;
}

/** @param actions of operators that the account may see in its audit log */
export async function readDossierFacts(
  db: Reader,
  id: string,
  actions: readonly string[],
): Promise<DossierFacts> {
  const [row] = await db.query<{ facts: DossierFacts | null }>(
    'SELECT payout_dossier(?, ?::text[]) AS facts',
    [id, [...actions]],
  );
  if (row?.facts === undefined || row.facts === null) throw new Error(`${id} does not exist`);
  return row.facts;
}
