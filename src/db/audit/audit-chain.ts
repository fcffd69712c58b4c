/**
 * The chain of the audit log: its sealing, and its heads (decisions/books#audit-log). An entry is written without a
 * seal; the sealer takes committed entries, gives each the next sequence, and hashes it with the hash before.
 * An entry that commits late gets a later sequence.
 */
import { randomBytes } from 'node:crypto';
import { canonicalJson, sha256 } from '../../platform/lib/canonical-json';
import type { EvidenceKey } from '../../platform/lib/evidence-key';
import { databaseTime } from '../database-time';
import { exactTime } from '../lists';
import type { Db, Reader, Tx } from '../transaction';

/** An entry as it is hashed. */
export interface ChainEntry {
  id: string;
  /** The time as text, with microseconds. */
  at: string;
  action: string;
  object: string;
  objectId: string;
  accountId: string | null;
  via: string | null;
  actor: string;
  address: string | null;
  before: object | null;
  after: object | null;
  reason: string | null;
}

/** SQL: the entry as it is hashed, from a row of audit_log. @param a the alias of the row */
export function chainEntry(a: string): string {
  return `${a}.id::text AS id, ${exactTime(`${a}.at`)} AS at, ${a}.action, ${a}.object, ${a}.object_id,
    ${a}.account_id, ${a}.via, ${a}.actor, host(${a}.address) AS address, ${a}.before, ${a}.after,
    ${a}.reason`;
}

const SALT_BYTES = 32;
/** The hash before the first entry. */
export const NO_HASH = Buffer.alloc(32);

/**
 * The digest of the personal part: what names a person or was written by one. It is salted, so that the
 * chain proves an entry whose personal part was erased, and the digest does not reveal that part.
 */
export function personalSha256(entry: ChainEntry, salt: Buffer): string {
  const { actor, address, before, after, reason } = entry;
  const text = canonicalJson({ actor, address, before, after, reason });
  return sha256(salt, text).toString('hex');
}

/** The text that is hashed. */
export function sealedText(entry: ChainEntry, personal: string): string {
  return canonicalJson({
    id: entry.id,
    at: entry.at,
    action: entry.action,
    object: entry.object,
    object_id: entry.objectId,
    account_id: entry.accountId,
    via: entry.via,
    personal_sha256: personal,
  });
}

export function nextHash(previous: Buffer, text: string): Buffer {
  return sha256(previous, text);
}

/**
 * Only one sealer works at a time, because two would give the same sequence; the second one has nothing to
 * do.
 */
const CHAIN_LOCK = 'pg_try_advisory_xact_lock(7204119)';

/** Entries of one transaction, which takes well below a second. */
const BATCH = 1_000;

/** @returns the number of sealed entries; if it is less than `batch`, no more were found */
export async function sealBatch(db: Db, batch = BATCH): Promise<number> {
  return db.transaction(async (tx) => {
    const [lock] = await tx.query<{ taken: boolean }>(`SELECT ${CHAIN_LOCK} AS taken`);
    if (lock?.taken !== true) return 0;
    const { sequence, hash } = await readLast(tx);
    const entries = await takeUnsealed(tx, batch);
    let previous = hash;
    const seals = entries.map((entry, index) => {
      const salt = randomBytes(SALT_BYTES);
      const text = sealedText(entry, personalSha256(entry, salt));
      previous = nextHash(previous, text);
      return [sequence + index + 1, entry.id, text, salt, previous] as const;
    });
    await insertSeals(tx, seals);
    return entries.length;
  });
}

/** The last place of the chain; 0 before the first one. */
export async function readLast(db: Reader): Promise<{ sequence: number; hash: Buffer }> {
  const [last] = await db.query<{ sequence: number; hash: Buffer }>(
    `SELECT s.sequence::float8 AS sequence, s.hash
       FROM audit_seals s ORDER BY s.sequence DESC LIMIT 1`,
  );
  return last ?? { sequence: 0, hash: NO_HASH };
}

/** An entry that was deleted before its seal keeps its row, so that the check names it. */
async function takeUnsealed(tx: Tx, batch: number): Promise<ChainEntry[]> {
  const found = await tx.query<ChainEntry & { isSealed: boolean }>(
    `WITH taken AS (
       DELETE FROM audit_unsealed u USING (
           SELECT q.entry_id FROM audit_unsealed q JOIN audit_log l ON l.id = q.entry_id
            ORDER BY q.entry_id LIMIT ?) AS first
        WHERE u.entry_id = first.entry_id RETURNING u.entry_id)
     SELECT ${chainEntry('a')},
            EXISTS (SELECT FROM audit_seals s WHERE s.entry_id = a.id) AS is_sealed
       FROM taken JOIN audit_log a ON a.id = taken.entry_id ORDER BY a.id`,
    [batch],
  );
  return found.filter(({ isSealed }) => !isSealed);
}

type SealRow = readonly [sequence: number, id: string, text: string, salt: Buffer, hash: Buffer];

async function insertSeals(tx: Tx, seals: readonly SealRow[]): Promise<void> {
  if (seals.length === 0) return;
  const column = <T>(index: number) => seals.map((seal) => seal[index] as T);
  await tx.query(
    `INSERT INTO audit_seals (sequence, entry_id, entry, salt, hash)
     SELECT sequence, entry_id, entry, decode(salt, 'hex'), decode(hash, 'hex')
       FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[])
            AS seal(sequence, entry_id, entry, salt, hash)`,
    [
      column<number>(0),
      column<string>(1),
      column<string>(2),
      column<Buffer>(3).map((salt) => salt.toString('hex')),
      column<Buffer>(4).map((hash) => hash.toString('hex')),
    ],
  );
}

/** The head of the chain as it is shown and kept outside of the database. */
export interface AuditHead {
  object: 'audit_head';
  sequence: number;
  /** SHA-256 in hexadecimal. */
  hash: string;
  signed_at: string;
  /** Null if no key was set. */
  key_id: string | null;
  /** Ed25519 over the canonical JSON of the other members, in base64. */
  signature: string | null;
}

/** The text that the signature of a head signs. */
export function signedTextOfHead({ signature, ...signed }: AuditHead): string {
  return canonicalJson(signed);
}

/** SQL: the hour of a head, on which heads have a unique index. */
const HOUR_SIGNED = "date_bin('1 hour', signed_at, 'epoch')";

/**
 * Signs a head in each hour, also of a chain that has not grown: it proves that nothing came after its last
 * entry until then.
 * @returns the head of this hour, if this call has made it
 */
export async function signHead(db: Db, key: EvidenceKey | null): Promise<AuditHead | null> {
  const made = await db.query(
    `SELECT FROM audit_heads WHERE ${HOUR_SIGNED} = date_bin('1 hour', now(), 'epoch')`,
  );
  if (made.length > 0) return null;
  // The time is read before the chain, so that the head does not claim a later time than that of its last look.
  const signedAt = (await databaseTime(db)).toISOString();
  const { sequence, hash } = await readLast(db);
  if (sequence === 0) return null;
  const unsigned: AuditHead = {
    object: 'audit_head',
    sequence,
    hash: hash.toString('hex'),
    signed_at: signedAt,
    key_id: key?.keyId ?? null,
    signature: null,
  };
  const head = { ...unsigned, signature: key?.sign(signedTextOfHead(unsigned)) ?? null };
  const inserted = await db.query(
    `INSERT INTO audit_heads (sequence, hash, signed_at, key_id, signature)
     VALUES (?, decode(?, 'hex'), ?, ?, ?) ON CONFLICT (${HOUR_SIGNED}) DO NOTHING RETURNING sequence`,
    [sequence, head.hash, signedAt, head.key_id, head.signature],
  );
  return inserted.length === 1 ? head : null;
}

/** Newest first. */
export async function listHeads(db: Reader, limit: number): Promise<AuditHead[]> {
  const found = await db.query<{
    sequence: number;
    hash: Buffer;
    signedAt: Date;
    keyId: string | null;
    signature: string | null;
  }>(
    `SELECT sequence::float8 AS sequence, hash, signed_at, key_id, signature
       FROM audit_heads ORDER BY ${HOUR_SIGNED} DESC LIMIT ?`,
    [limit],
  );
  return found.map(({ sequence, hash, signedAt, keyId, signature }) => ({
    object: 'audit_head',
    sequence,
    hash: hash.toString('hex'),
    signed_at: signedAt.toISOString(),
    key_id: keyId,
    signature,
  }));
}
