/**
 * Screening (decisions/screening): who must clear a destination, what they answered, and what an
 * operator allowed in spite of it.
 */
import {
  ANSWER_VALID_MS,
  SERVICE,
  type ScreeningSubject,
  type Verdict,
} from '../../domain/screening';
import { rows, type Db, type Tx } from '../transaction';

const VALID = `interval '${ANSWER_VALID_MS} milliseconds'`;

/**
 * SQL over a row of payouts: it may be submitted. A source's last answer counts for a day, and an
 * operator's allowance counts for the answers that the operator saw.
 */
export const IS_SCREENED = `(payouts.mode = 'test' OR NOT EXISTS (
  SELECT FROM screening_sources s WHERE NOT EXISTS (
    SELECT FROM (
        SELECT a.id, a.verdict, a.answered_at FROM screening_answers a
         WHERE a.account_id = payouts.account_id AND a.mode = payouts.mode
           AND a.destination_value = payouts.destination_value
           AND a.destination_type = payouts.destination_type
           AND a.network IS NOT DISTINCT FROM payouts.network
           AND (a.object_id = payouts.id OR NOT a.with_beneficiary AND NOT EXISTS (
                  SELECT FROM payout_beneficiaries b WHERE b.payout_id = payouts.id))
           AND a.source = s.name AND a.source_version = s.version
         ORDER BY a.id DESC LIMIT 1) AS last
     WHERE last.verdict = 'clear' AND last.answered_at > clock_timestamp() - ${VALID}
        OR EXISTS (SELECT FROM screening_allowances w
                    WHERE w.payout_id = payouts.id AND w.answers_seen >= last.id))))`;

/** SQL over a row of payouts: it waits for an operator's decision about its screening. */
export const AWAITS_SCREENING_DECISION = `(EXISTS (
  SELECT FROM screening_holds h WHERE h.payout_id = payouts.id AND h.kind = 'review')
  AND NOT ${IS_SCREENED})`;

/** What a source said. */
export interface Finding {
  id: string;
  source: string;
  verdict: Verdict;
  /** The service's own id of the answer. */
  reference: string | null;
  reasons: string[];
}

export interface ScreeningAnswer extends Finding {
  answeredAt: Date;
}

const ANSWER = 'id::text AS id, source, verdict, reference, reasons, answered_at';

/** A source, with its answer about the subject if it has one that still counts. */
export interface AskedSource {
  name: string;
  version: number;
  answer: (Finding & { isAllowed: boolean }) | null;
}

/** All sources, the lists first. */
export async function readSources(db: Db, subject: ScreeningSubject): Promise<AskedSource[]> {
  return rows<AskedSource>(
    db,
    `SELECT s.name, s.version, last.answer
       FROM screening_sources s LEFT JOIN LATERAL (
         SELECT a.answered_at, w.payout_id IS NOT NULL AS is_allowed,
                jsonb_build_object('id', a.id::text, 'source', a.source, 'verdict', a.verdict,
                  'reference', a.reference, 'reasons', a.reasons, 'isAllowed', w.payout_id IS NOT NULL) AS answer
           FROM screening_answers a
           LEFT JOIN screening_allowances w ON w.payout_id = ? AND w.answers_seen >= a.id
          WHERE a.account_id = ? AND a.mode = ? AND a.destination_value = ?
            AND a.destination_type = ? AND a.network IS NOT DISTINCT FROM ?
            AND (a.object_id = ? OR NOT a.with_beneficiary AND NOT ?)
            AND a.source = s.name AND a.source_version = s.version
          ORDER BY a.id DESC LIMIT 1) AS last
         ON last.is_allowed OR last.answered_at > clock_timestamp() - ${VALID}
      ORDER BY s.name = '${SERVICE}', s.name`,
    [
      subject.objectId,
      subject.accountId,
      subject.mode,
      subject.destination.value,
      subject.destination.type,
      subject.network,
      subject.objectId,
      subject.beneficiary !== null,
    ],
  );
}

/**
 * Looks the address up in a list and stores the answer, with the version that it was looked up in: one
 * statement, so an import before or after it is told apart.
 * @param address as canonicalAddress writes it
 * @returns null when the list was removed
 */
export async function answerFromList(
  db: Db,
  subject: ScreeningSubject,
  list: string,
  address: string,
): Promise<ScreeningAnswer | null> {
  const [answer] = await rows<ScreeningAnswer>(
    db,
    `INSERT INTO screening_answers (account_id, mode, object_id, destination_type,
         destination_value, network, with_beneficiary, source, source_version, verdict, reasons)
     SELECT ?, ?, ?, ?, ?, ?, ?, s.name, s.version,
            CASE WHEN e.address IS NULL THEN 'clear' ELSE s.verdict END,
            CASE WHEN e.address IS NULL THEN '{}'
                 ELSE ARRAY[concat('The address is on this list', ': ' || e.note, '.')] END
       FROM screening_sources s
       LEFT JOIN screening_entries e ON e.list = s.name AND e.address = ?
      WHERE s.name = ? RETURNING ${ANSWER}`,
    [...columnsOf(subject), address, list],
  );
  return answer ?? null;
}

export async function insertAnswer(
  db: Db,
  subject: ScreeningSubject,
  { name, version }: Pick<AskedSource, 'name' | 'version'>,
  answer: Pick<ScreeningAnswer, 'verdict' | 'reference' | 'reasons'>,
): Promise<ScreeningAnswer> {
  const [stored] = await rows<ScreeningAnswer>(
    db,
    `INSERT INTO screening_answers (account_id, mode, object_id, destination_type,
         destination_value, network, with_beneficiary, source, source_version, verdict, reference,
         reasons)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${ANSWER}`,
    [...columnsOf(subject), name, version, answer.verdict, answer.reference, [...answer.reasons]],
  );
  if (stored === undefined) throw new Error('the insert returned no row');
  return stored;
}

function columnsOf(subject: ScreeningSubject) {
  const { accountId, mode, objectId, destination, network, beneficiary } = subject;
  return [
    accountId,
    mode,
    objectId,
    destination.type,
    destination.value,
    network,
    beneficiary !== null,
  ] as const;
}

/** From now on the service has to clear every live destination. */
export async function requireService(db: Db | Tx): Promise<void> {
  const sql = `INSERT INTO screening_sources (name) VALUES ('${SERVICE}') ON CONFLICT DO NOTHING`;
  await rows(db, sql);
}

export interface ScreeningHold {
  kind: 'no_answer' | 'review';
  reason: string;
  since: Date;
}

/**
 * Notes that the payout waits for its screening. A decision of an operator wakes the workflow of one
 * that waits for it.
 */
export async function holdForScreening(
  tx: Tx,
  payoutId: string,
  { kind, reason }: Pick<ScreeningHold, 'kind' | 'reason'>,
): Promise<ScreeningHold> {
  const [hold] = await rows<ScreeningHold>(
    tx,
    `INSERT INTO screening_holds AS h (payout_id, kind, reason) VALUES (?, ?, ?)
     ON CONFLICT (payout_id) DO UPDATE SET kind = excluded.kind, reason = excluded.reason
     RETURNING kind, reason, since`,
    [payoutId, kind, reason],
  );
  if (hold === undefined) throw new Error('the insert returned no row');
  if (kind === 'review') {
    const sql = `UPDATE payouts SET wake_after = clock_timestamp() WHERE id = ? AND status = 'approved'`;
    await rows(tx, sql, [payoutId]);
  }
  return hold;
}

/** @returns whether there was one */
export async function endScreeningHold(tx: Tx, payoutId: string): Promise<boolean> {
  const sql = 'DELETE FROM screening_holds WHERE payout_id = ? RETURNING payout_id';
  return (await rows(tx, sql, [payoutId])).length > 0;
}
