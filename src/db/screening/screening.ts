/**
 * Screening (decisions/controls#screening): who must clear a destination, what they answered, and what an
 * operator allowed in spite of it.
 */
import {
  ANSWER_VALID_MS,
  SERVICE,
  type ScreeningSubject,
  type Verdict,
} from '../../domain/screening';
import type { Payout } from '../../domain/payout';
import type { Db, Tx } from '../transaction';

const VALID = `interval '${ANSWER_VALID_MS} milliseconds'`;

/** SQL over a row of payouts: the answers `a` that are about it. */
const ANSWERS_OF_PAYOUT = `screening_answers a
         WHERE a.account_id = payouts.account_id AND a.mode = payouts.mode
           AND a.destination_value = payouts.destination_value
           AND a.destination_type = payouts.destination_type
           AND a.network IS NOT DISTINCT FROM payouts.network
           AND (a.object_id = payouts.id OR NOT a.with_beneficiary AND NOT EXISTS (
                  SELECT FROM payout_beneficiaries b WHERE b.payout_id = payouts.id))`;

/** SQL over a row of payouts and an answer `last`: an operator has seen it and allowed the payout. */
const IS_ALLOWED = `EXISTS (SELECT FROM screening_allowances w
                    WHERE w.payout_id = payouts.id AND w.answers_seen >= last.id)`;

/**
 * SQL over a row of payouts: it may be submitted. A source's last answer counts for a day, and an
 * operator's allowance counts for the answers that the operator saw.
 */
export const IS_SCREENED = `(payouts.mode = 'test' OR NOT EXISTS (
  SELECT FROM screening_sources s WHERE NOT EXISTS (
    SELECT FROM (
        SELECT a.id, a.verdict, a.answered_at FROM ${ANSWERS_OF_PAYOUT}
           AND a.source = s.name AND a.source_version = s.version
         ORDER BY a.id DESC LIMIT 1) AS last
     WHERE last.verdict = 'clear' AND last.answered_at > clock_timestamp() - ${VALID}
        OR ${IS_ALLOWED})))`;

/**
 * SQL over a row of payouts: the strictest answer that counts, `no_answer` if a source has none; null if
 * nobody screens the payout.
 */
export const SCREENING_VERDICT = `(SELECT CASE
    WHEN payouts.mode = 'test' OR count(*) = 0 THEN NULL
    WHEN bool_or(last.verdict = 'block') THEN 'block'
    WHEN bool_or(last.verdict = 'review' AND NOT ${IS_ALLOWED}) THEN 'review'
    WHEN bool_or(last.verdict IS NULL) THEN 'no_answer'
    ELSE 'clear' END
  FROM screening_sources s LEFT JOIN LATERAL (
    SELECT a.id, a.verdict FROM ${ANSWERS_OF_PAYOUT}
       AND a.source = s.name AND a.source_version = s.version
       AND a.answered_at > clock_timestamp() - ${VALID}
     ORDER BY a.id DESC LIMIT 1) AS last ON true)`;

/** SQL over a row of payouts: a source says that nothing may be sent to its destination. */
export const IS_BLOCKED = `(payouts.mode = 'live' AND coalesce(${SCREENING_VERDICT} = 'block', false))`;

/** SQL over a row of payouts: it waits for an operator's decision about its screening. */
export const AWAITS_SCREENING_DECISION = `(EXISTS (
  SELECT FROM screening_holds h WHERE h.payout_id = payouts.id AND h.kind = 'review')
  AND NOT ${IS_SCREENED})`;

/** SQL over a row of payouts: it has a hold. */
export const WAS_HELD = 'EXISTS (SELECT FROM screening_holds h WHERE h.payout_id = payouts.id)';

/** SQL over a row of payouts that has a hold: nothing has ended it since. */
export const AWAITS_SCREENING = `payouts.status = 'approved' AND NOT ${IS_SCREENED}`;

/** The answer of a source. */
export interface Finding {
  id: string;
  source: string;
  verdict: Verdict;
  /** The service's own id of the answer. */
  reference: string | null;
  reasons: string[];
}

/** The answer of a source as stored. */
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
  return db.query<AskedSource>(
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
  const [answer] = await db.query<ScreeningAnswer>(
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
  const [stored] = await db.query<ScreeningAnswer>(
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

/** Whether anything is screened. */
export async function hasSources(db: Db | Tx): Promise<boolean> {
  const [found] = await db.query<{ has: boolean }>(
    'SELECT EXISTS (SELECT FROM screening_sources) AS has',
  );
  return found?.has === true;
}

/** Notes that the service has to clear every live destination from now on. */
export async function requireService(db: Db | Tx): Promise<void> {
  const sql = `INSERT INTO screening_sources (name) VALUES ('${SERVICE}') ON CONFLICT DO NOTHING`;
  await db.query(sql);
}

/** Why the screening holds a payout. */
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
  const [hold] = await tx.query<ScreeningHold>(
    `INSERT INTO screening_holds AS h (payout_id, kind, reason) VALUES (?, ?, ?)
     ON CONFLICT (payout_id) DO UPDATE SET kind = excluded.kind, reason = excluded.reason
     RETURNING kind, reason, since`,
    [payoutId, kind, reason],
  );
  if (hold === undefined) throw new Error('the insert returned no row');
  if (kind === 'review') {
    const sql = `UPDATE payouts SET wake_after = clock_timestamp() WHERE id = ? AND status = 'approved'`;
    await tx.query(sql, [payoutId]);
  }
  return hold;
}

export async function deleteScreeningHold(tx: Tx, payoutId: string): Promise<void> {
  await tx.query('DELETE FROM screening_holds WHERE payout_id = ?', [payoutId]);
}

/** A payout's screening as a person sees it. */
export interface PayoutScreening {
  hold: ScreeningHold | null;
  /** The last answer of each source; null if it has none. */
  sources: { name: string; answer: SeenAnswer | null }[];
  /** The newest of these answers, which a decision names; null without any. */
  seen: string | null;
  allowances: { allowedBy: string; reason: string; createdAt: Date }[];
}

type SeenAnswer = Finding & {
  /** ISO 8601. */
  answeredAt: string;
  /** Whether the answer is of the last day, and of the list as it is now. */
  isCurrent: boolean;
};

/** Null if there is no payout with this id. */
export async function readPayoutScreening(
  db: Db | Tx,
  payoutId: string,
): Promise<PayoutScreening | null> {
  const [found] = await db.query<Omit<PayoutScreening, 'seen' | 'hold' | 'allowances'>>(
    `SELECT coalesce((
        SELECT jsonb_agg(jsonb_build_object('name', s.name, 'answer', last.answer)
                 ORDER BY s.name = '${SERVICE}', s.name)
          FROM screening_sources s LEFT JOIN LATERAL (
            SELECT jsonb_build_object('id', a.id::text, 'source', a.source, 'verdict', a.verdict,
                     'reference', a.reference, 'reasons', a.reasons, 'answeredAt', a.answered_at,
                     'isCurrent', a.source_version = s.version
                       AND a.answered_at > clock_timestamp() - ${VALID}) AS answer
              FROM ${ANSWERS_OF_PAYOUT} AND a.source = s.name
             ORDER BY a.id DESC LIMIT 1) AS last ON true), '[]') AS sources
       FROM payouts WHERE payouts.id = ?`,
    [payoutId],
  );
  if (found === undefined) return null;
  const [hold] = await db.query<ScreeningHold>(
    `SELECT h.kind, h.reason, h.since
       FROM screening_holds h JOIN payouts ON payouts.id = h.payout_id
      WHERE h.payout_id = ? AND ${AWAITS_SCREENING}`,
    [payoutId],
  );
  const allowances = await db.query<PayoutScreening['allowances'][number]>(
    'SELECT allowed_by, reason, created_at FROM screening_allowances WHERE payout_id = ? ORDER BY id',
    [payoutId],
  );
  const ids = found.sources.flatMap(({ answer }) => (answer === null ? [] : [BigInt(answer.id)]));
  const newest = ids.reduce((one, other) => (other > one ? other : one), 0n);
  return { ...found, hold: hold ?? null, allowances, seen: newest === 0n ? null : `${newest}` };
}

/**
 * Allows a payout that waits for an operator, in spite of the answers up to `seen`.
 * @returns null, and nothing is written, when it does not wait, or there is a newer answer
 */
export async function insertAllowance(
  tx: Tx,
  payoutId: string,
  { seen, by, reason }: { seen: string; by: string; reason: string },
): Promise<Payout | null> {
  const [payout] = await tx.query<Payout>(
    `WITH held AS (
       SELECT payouts.* FROM payouts JOIN screening_holds h ON h.payout_id = payouts.id
        WHERE payouts.id = ? AND h.kind = 'review' AND ${AWAITS_SCREENING}
          AND ?::text = (SELECT max(a.id)::text FROM ${ANSWERS_OF_PAYOUT})),
     allowed AS (
       INSERT INTO screening_allowances (payout_id, answers_seen, allowed_by, reason)
       SELECT id, ?::bigint, ?, ? FROM held)
     SELECT * FROM held`,
    [payoutId, seen, seen, by, reason],
  );
  return payout ?? null;
}

/** A source as the admin command shows it. */
export interface ScreeningSource {
  name: string;
  verdict: 'review' | 'block' | null;
  version: number;
  format: string | null;
  published: string | null;
  entryCount: number | null;
  sha256: string | null;
  changedAt: Date;
}

const SOURCE = 'name, verdict, version, format, published, entry_count, sha256, changed_at';

export function listSources(db: Db | Tx): Promise<ScreeningSource[]> {
  return db.query(`SELECT ${SOURCE} FROM screening_sources ORDER BY name = '${SERVICE}', name`);
}

export async function lockSource(tx: Tx, name: string): Promise<ScreeningSource | null> {
  const sql = `SELECT ${SOURCE} FROM screening_sources WHERE name = ? FOR UPDATE`;
  const [found] = await tx.query<ScreeningSource>(sql, [name]);
  return found ?? null;
}

/** An address of a list, with the words that operators read. */
export interface ListEntry {
  address: string;
  note: string | null;
}

/**
 * Puts the entries in the place of the list's earlier ones.
 * @param isSame they are the same, so earlier answers still count
 */
export async function saveList(
  tx: Tx,
  list: Omit<ScreeningSource, 'version' | 'changedAt' | 'entryCount'>,
  entries: readonly ListEntry[],
  isSame: boolean,
): Promise<ScreeningSource> {
  const { name, verdict, format, published, sha256 } = list;
  const [saved] = await tx.query<ScreeningSource>(
    `INSERT INTO screening_sources AS s (name, verdict, format, published, entry_count, sha256)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET verdict = excluded.verdict, format = excluded.format,
       published = excluded.published, entry_count = excluded.entry_count, sha256 = excluded.sha256,
       version = s.version + CASE WHEN ? THEN 0 ELSE 1 END, changed_at = clock_timestamp()
     RETURNING ${SOURCE}`,
    [name, verdict, format, published, entries.length, sha256, isSame],
  );
  if (saved === undefined) throw new Error('the insert returned no row');
  await tx.query('DELETE FROM screening_entries WHERE list = ?', [name]);
  await tx.query(
    `INSERT INTO screening_entries (list, address, note)
     SELECT ?, address, note FROM jsonb_to_recordset(?::jsonb) AS e(address text, note text)`,
    [name, JSON.stringify(entries)],
  );
  return saved;
}

/** @returns null when there is none with this name */
export async function deleteSource(tx: Tx, name: string): Promise<ScreeningSource | null> {
  const sql = `DELETE FROM screening_sources WHERE name = ? RETURNING ${SOURCE}`;
  const [deleted] = await tx.query<ScreeningSource>(sql, [name]);
  return deleted ?? null;
}
