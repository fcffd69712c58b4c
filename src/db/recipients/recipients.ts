/** Recipients: reads, and the writes of a merchant's changes. */
import { raw } from 'objection';
import type { Owner } from '../../domain/mode';
import type { PayoutOrder } from '../../domain/payout';
import type { ReadRecipient, Recipient } from '../../domain/recipient';
import type { Verdict } from '../../domain/screening';
import { AWAITS_SECOND_PERSON, VERSION } from './recipient-readiness';
import type { Db, Reader, Tx } from '../transaction';
import { type ListPage, type ListQuery, newestFirst, ownedBy } from '../lists';
import { changeRow, findRow, insertRow, now, rowsOf } from '../models';

const Recipients = rowsOf<Recipient>('recipients', {
  read: `*, ${VERSION} AS destination_version, ${AWAITS_SECOND_PERSON} AS awaits_second_person`,
  writes: `id, account_id, mode, name, currency, network, destination_type, destination_value,
    destination_memo, tags, created_by, second_person, sequence, updated_at, deleted_at`,
});

/** A recipient to insert. */
export type NewRecipient = Omit<
  Recipient,
  | 'destinationSince'
  | 'destinationVersion'
  | 'awaitsSecondPerson'
  | 'screening'
  | 'usableFrom'
  | 'sequence'
  | 'createdAt'
  | 'updatedAt'
  | 'deletedAt'
>;

export function insertRecipient(tx: Tx, recipient: NewRecipient): Promise<Recipient> {
  return insertRow(tx, Recipients, recipient);
}

/** The recipient, also a deleted one; null if the account has none with this id in this mode. */
export function findRecipient(
  db: Reader,
  { accountId, mode }: Owner,
  id: string,
): Promise<Recipient | null> {
  return findRow(db, Recipients, { id, accountId, mode });
}

/** Locks a recipient. Waits for payouts that are being reserved for it. */
export function lockRecipient(
  tx: Tx,
  { accountId, mode }: Owner,
  id: string,
): Promise<Recipient | null> {
  return findRow(tx, Recipients, { id, accountId, mode }, 'FOR NO KEY UPDATE');
}

/** The columns that a change writes. */
export type SavedRecipient = Pick<
  Recipient,
  | 'name'
  | 'currency'
  | 'network'
  | 'destinationType'
  | 'destinationValue'
  | 'destinationMemo'
  | 'tags'
>;

/**
 * The caller holds the recipient's lock.
 * @param secondPerson counts for another destination; the trigger keeps it with the same one
 */
export function saveRecipient(
  tx: Tx,
  id: string,
  saved: SavedRecipient,
  secondPerson: string | null,
): Promise<Recipient> {
  return changeRow(tx, Recipients, id, { ...saved, secondPerson, ...CHANGED });
}

export function deleteRecipient(tx: Tx, id: string): Promise<Recipient> {
  return changeRow(tx, Recipients, id, { deletedAt: now, ...CHANGED });
}

const CHANGED = { sequence: raw('sequence + 1'), updatedAt: now };

/** A recipient without an answer is asked about again after this time. */
const ASK_AGAIN_SECONDS = 60;

/** Takes live recipients of which the screening was not answered, the longest waiting first. */
export async function takeUnscreenedRecipients(db: Db, limit: number): Promise<Recipient[]> {
  return db.query<Recipient>(
    `UPDATE recipients SET screening_asked_at = clock_timestamp()
      WHERE id IN (
        SELECT id FROM recipients
         WHERE screening = 'asking' AND deleted_at IS NULL
           AND (screening_asked_at IS NULL
                OR screening_asked_at < clock_timestamp() - interval '${ASK_AGAIN_SECONDS} seconds')
         ORDER BY screening_asked_at NULLS FIRST LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING ${Recipients.read}`,
    [limit],
  );
}

/**
 * Notes the verdict about the destination that was asked about.
 * @returns false, and nothing is written, when it is another one by now
 */
export async function noteRecipientVerdict(
  tx: Tx,
  { id, destinationVersion }: Pick<Recipient, 'id' | 'destinationVersion'>,
  verdict: Verdict,
): Promise<boolean> {
  const noted = await tx.query(
    `UPDATE recipients SET screening = ?
      WHERE id = ? AND ${VERSION} = ? AND screening = 'asking' AND deleted_at IS NULL RETURNING id`,
    [verdict, id, destinationVersion],
  );
  return noted.length > 0;
}

/** Finds a recipient of any account, even a deleted one. */
export async function findRecipientForOperator(db: Db, id: string): Promise<Recipient | null> {
  const [recipient] = await db.query<Recipient>(
    `SELECT ${Recipients.read} FROM recipients WHERE id = ?`,
    [id],
  );
  return recipient ?? null;
}

/** Locks a recipient of any account. */
export async function lockRecipientForOperator(tx: Tx, id: string): Promise<Recipient | null> {
  const sql = `SELECT ${Recipients.read} FROM recipients WHERE id = ? FOR NO KEY UPDATE`;
  const [recipient] = await tx.query<Recipient>(sql, [id]);
  return recipient ?? null;
}

/** The caller holds the recipient's lock. */
export async function decideRecipientScreening(
  tx: Tx,
  id: string,
  verdict: Verdict,
): Promise<void> {
  await tx.query('UPDATE recipients SET screening = ? WHERE id = ?', [verdict, id]);
}

export interface RecipientFilters {
  currency?: string;
  network?: string;
  tag?: string;
  /** Finds names that contain this text. */
  name?: string;
}

/** The recipients of an account, newest first, without the deleted ones. */
export function listRecipients(
  db: Reader,
  query: ListQuery<RecipientFilters>,
): Promise<ListPage<Recipient>> {
  const { filters } = query;
  return newestFirst(db, Recipients, query, [
    ownedBy(query),
    ['deleted_at IS NULL'],
    ['currency = ?', filters.currency],
    ['network = ?', filters.network],
    ['? = ANY (tags)', filters.tag],
    ['strpos(lower(name), lower(?)) > 0', filters.name],
  ]);
}

/** The rules of an account for live mode. */
export interface RecipientRules {
  waitHours: number;
  only: boolean;
}

const RULES = 'recipient_wait_hours AS wait_hours, recipients_only AS only';

export async function findRecipientRules(
  db: Db,
  accountId: string,
): Promise<RecipientRules | null> {
  const sql = `SELECT ${RULES} FROM accounts WHERE id = ?`;
  const [found] = await db.query<RecipientRules>(sql, [accountId]);
  return found ?? null;
}

export async function lockRecipientRules(
  tx: Tx,
  accountId: string,
): Promise<RecipientRules | null> {
  const sql = `SELECT ${RULES} FROM accounts WHERE id = ? FOR NO KEY UPDATE`;
  const [found] = await tx.query<RecipientRules>(sql, [accountId]);
  return found ?? null;
}

export async function saveRecipientRules(
  tx: Tx,
  accountId: string,
  { waitHours, only }: RecipientRules,
): Promise<void> {
  const sql = 'UPDATE accounts SET recipient_wait_hours = ?, recipients_only = ? WHERE id = ?';
  await tx.query(sql, [waitHours, only, accountId]);
}

type ReadRecipients = ReadonlyMap<string, ReadRecipient>;

/** The recipients with these ids, deleted ones included, by id. */
export async function readRecipients(
  db: Reader,
  whose: Owner,
  orders: readonly PayoutOrder[],
): Promise<ReadRecipients> {
  return recipientsOf(db, whose, orders, '');
}

/**
 * Reads the same recipients as `readRecipients`, with locks in the order of the ids: changes of the recipients wait until the
 * transaction ends.
 */
export async function holdRecipients(
  tx: Tx,
  whose: Owner,
  orders: readonly PayoutOrder[],
): Promise<ReadRecipients> {
  return recipientsOf(tx, whose, orders, 'FOR SHARE');
}

async function recipientsOf(
  db: Reader,
  { accountId, mode }: Owner,
  orders: readonly PayoutOrder[],
  lock: 'FOR SHARE' | '',
): Promise<ReadRecipients> {
  const ids = new Set(orders.flatMap(({ recipient = [] }) => recipient));
  if (ids.size === 0) return new Map();
  const found = await db.query<ReadRecipient>(
    `SELECT ${Recipients.read}, clock_timestamp() AS read_at FROM recipients
      WHERE id = ANY (?::text[]) AND account_id = ? AND mode = ? ORDER BY id ${lock}`,
    [[...ids], accountId, mode],
  );
  return new Map(found.map((recipient) => [recipient.id, recipient]));
}
