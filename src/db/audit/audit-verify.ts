/**
 * Checks the chain of the audit log: each seal follows from the one before, each entry is what was sealed, no
 * entry is outside of the chain, and the chain is that of its heads. It reads in pages, while the gateway runs.
 */
import { isSigned, keyIdOf } from '../../platform/lib/evidence-key';
import {
  type AuditHead,
  type ChainEntry,
  chainEntry,
  listHeads,
  nextHash,
  NO_HASH,
  personalSha256,
  readLast,
  sealedText,
  signedTextOfHead,
} from './audit-chain';
import { exactTime } from '../lists';
import type { Db } from '../transaction';

export interface AuditProblem {
  kind:
    /** The entry differs from its seal. */
    | 'changed'
    /** The entry, or its seal, is not there. */
    | 'missing'
    /** The entry was not written by the gateway, or not at its time. */
    | 'inserted'
    /** A seal does not follow from the one before. */
    | 'seal_changed'
    /** The chain ends before a head. */
    | 'truncated'
    /** The chain has another hash than a head. */
    | 'rewritten'
    /** The signature of a head is not that of its key. */
    | 'head_forged';
  sequence: number | null;
  entry_id: string | null;
  at: string | null;
  action: string | null;
  message: string;
}

export interface AuditVerification {
  object: 'audit_verification';
  ok: boolean;
  sealed: number;
  /** Entries that wait for the sealer. */
  unsealed: number;
  erased: number;
  heads: number;
  /** The number of heads whose public key was not given. */
  signatures_not_checked: number;
  /** The time of the first entry; null without entries. */
  proven_from: string | null;
  /**
   * Until then the chain has every entry that was sealed: the time of the newest head that it contains, of those
   * that were kept or have their key's signature. Null means no such head, or a problem.
   */
  proven_until: string | null;
  /** Entries after that head. The owner of the database could have removed others from there. */
  not_proven: number;
  /** The last place of the chain, for comparison. */
  head: { sequence: number; hash: string };
  problem_count: number;
  /** The first problems. */
  problems: AuditProblem[];
}

export interface VerifyOptions {
  /** Heads that were kept outside of the database. */
  keptHeads?: readonly AuditHead[];
  /** Ed25519 public keys in base64. */
  publicKeys?: readonly string[];
  onProgress?: (checked: number, total: number) => void;
}

const PAGE = 2_000;
const PROBLEMS_SHOWN = 100;
/** Longer than any transaction stays open. */
const LATE_MS = 60 * 60_000;
const HEADS_MAX = 100_000;

interface Seal {
  sequence: number;
  entryId: string;
  text: string;
  salt: Buffer | null;
  hash: Buffer;
  isErasureRecorded: boolean;
}
type SealedRow = Seal & (ChainEntry | { id: null });

interface Place {
  sequence: number | null;
  entry_id: string | null;
  at: string | null;
  action: string | null;
}

export async function verifyAuditChain(
  db: Db,
  { keptHeads = [], publicKeys = [], onProgress }: VerifyOptions = {},
): Promise<AuditVerification> {
  const heads = [...(await listHeads(db, HEADS_MAX)), ...keptHeads];
  const total = (await readLast(db)).sequence;
  const walk = new Walk(heads);
  const signatures = heads.map((head) => walk.checkSignature(head, publicKeys));
  const isProof = (head: AuditHead, index: number) =>
    signatures[index] === 'valid' ||
    (signatures[index] === 'not_checked' && keptHeads.includes(head));
  walk.proofs = new Set(heads.filter(isProof));
  for (;;) {
    const page = await readPage(db, walk.sequence);
    for (const row of page) walk.take(row);
    if (page.length < PAGE) break;
    onProgress?.(walk.sequence, total);
  }
  walk.end();
  const unsealed = await checkUnsealed(db, walk);
  const ok = walk.problemCount === 0;
  return {
    object: 'audit_verification',
    ok,
    sealed: walk.count,
    unsealed,
    erased: walk.erased,
    heads: heads.length,
    signatures_not_checked: signatures.filter((one) => one === 'not_checked').length,
    proven_from: walk.firstAt,
    proven_until: ok ? (walk.proof?.signed_at ?? null) : null,
    not_proven: ok ? walk.sequence - (walk.proof?.sequence ?? 0) : walk.count,
    head: { sequence: walk.sequence, hash: walk.previous.toString('hex') },
    problem_count: walk.problemCount,
    problems: walk.problems,
  };
}

async function readPage(db: Db, after: number): Promise<SealedRow[]> {
  return db.query<SealedRow>(
    `SELECT s.sequence::float8 AS sequence, s.entry_id, s.entry AS text, s.salt, s.hash, ${chainEntry('a')},
            s.salt IS NULL AND EXISTS (SELECT FROM audit_log e
              WHERE e.object_id = s.entry_id::text AND e.action = 'audit.erase') AS is_erasure_recorded
       FROM audit_seals s LEFT JOIN audit_log a ON a.id = s.entry_id
      WHERE s.sequence > ? ORDER BY s.sequence LIMIT ${PAGE}`,
    [after],
  );
}

/** The state of the walk from the first seal to the last. */
class Walk {
  sequence = 0;
  previous: Buffer = NO_HASH;
  count = 0;
  erased = 0;
  problemCount = 0;
  readonly problems: AuditProblem[] = [];
  firstAt: string | null = null;
  /** Heads that nobody can make without the key, or without the file. */
  proofs: ReadonlySet<AuditHead> = new Set();
  /** The newest of them that the chain contains. */
  proof: AuditHead | null = null;
  readonly #heads = new Map<number, AuditHead[]>();
  #last: Place = { sequence: null, entry_id: null, at: null, action: null };
  #latestMs = 0;

  constructor(heads: readonly AuditHead[]) {
    for (const head of heads) {
      this.#heads.set(head.sequence, [...(this.#heads.get(head.sequence) ?? []), head]);
    }
  }

  note(kind: AuditProblem['kind'], place: Place, message: string): void {
    this.problemCount += 1;
    if (this.problems.length < PROBLEMS_SHOWN) this.problems.push({ kind, ...place, message });
  }

  take(row: SealedRow): void {
    const { sequence } = row;
    const sealed = readSealed(row.text);
    const place: Place = { sequence, entry_id: row.entryId, at: sealed.at, action: sealed.action };
    const isGap = sequence !== this.sequence + 1;
    if (isGap) this.#noteGap(sequence);
    else this.#checkLink(row, place);
    if (row.id === null) this.note('missing', place, `${nameOf(place)} was deleted.`);
    else this.#checkEntry(row, row, place);
    this.#checkTime(place);
    this.firstAt ??= place.at;
    this.sequence = sequence;
    this.previous = row.hash;
    this.#last = place;
    this.count += 1;
    this.#checkHeads();
  }

  #noteGap(sequence: number): void {
    const place = { sequence: this.sequence + 1, entry_id: null, at: null, action: null };
    const last = sequence - 1;
    const which =
      last === place.sequence
        ? `The seal ${last} is missing`
        : `The seals ${place.sequence} to ${last} are missing`;
    const before = this.#last.entry_id === null ? '' : ` after ${nameOf(this.#last)}`;
    this.note('missing', place, `${which}${before}.`);
  }

  #checkLink(row: Seal, place: Place): void {
    if (!nextHash(this.previous, row.text).equals(row.hash)) {
      const before = this.#last.entry_id === null ? '' : ` or of ${nameOf(this.#last)}`;
      this.note('seal_changed', place, `The seal of ${nameOf(place)}${before} was changed.`);
    } else if (readSealed(row.text).id !== row.entryId) {
      this.note('seal_changed', place, `The seal ${row.sequence} is of another entry.`);
    }
  }

  #checkEntry(seal: Seal, entry: ChainEntry, place: Place): void {
    const sealed = readSealed(seal.text);
    const isErased = seal.salt === null;
    if (isErased) this.erased += 1;
    const personal = seal.salt === null ? sealed.personal_sha256 : personalSha256(entry, seal.salt);
    const now = readSealed(sealedText(entry, personal));
    const fields = Object.keys(now).filter((name) => now[name] !== sealed[name]);
    const isLeft = entry.actor !== '(erased)' || hasPersonal(entry);
    if (fields.length > 0) {
      this.note(
        'changed',
        place,
        `${nameOf(place)} was changed: ${fields.map(wordOf).join(', ')}.`,
      );
    } else if (isErased && (isLeft || !seal.isErasureRecorded)) {
      const why = isLeft ? 'and has other values in its place' : 'without an entry of the erasure';
      this.note('changed', place, `The personal part of ${nameOf(place)} was removed ${why}.`);
    }
  }

  #checkTime(place: Place): void {
    const atMs = Date.parse(place.at ?? '');
    if (atMs < this.#latestMs - LATE_MS) {
      const why =
        'has an earlier time than entries that were sealed before it. It was inserted afterwards, or ' +
        'PostgreSQL’s clock was set back';
      this.note('inserted', place, `${nameOf(place)} ${why}.`);
    }
    if (atMs > this.#latestMs) this.#latestMs = atMs;
  }

  #checkHeads(): void {
    const hash = this.previous.toString('hex');
    for (const head of this.#heads.get(this.sequence) ?? []) {
      if (head.hash === hash) {
        this.#keepProof(head);
        continue;
      }
      const message = `The chain was written anew: at ${this.sequence} it has another hash than the head of ${head.signed_at}. ${nameOf(this.#last)} or one before it was changed.`;
      this.note('rewritten', this.#last, message);
    }
  }

  #keepProof(head: AuditHead): void {
    const isNewer = this.proof === null || head.signed_at > this.proof.signed_at;
    if (this.proofs.has(head) && isNewer) this.proof = head;
  }

  /** Checks what can be checked only after the last seal. */
  end(): void {
    for (const [sequence, heads] of this.#heads) {
      if (sequence <= this.sequence) continue;
      const place = { sequence: this.sequence + 1, entry_id: null, at: null, action: null };
      const end = this.#last.entry_id === null ? 'is empty' : `ends with ${nameOf(this.#last)}`;
      const message = `The end of the chain is missing: it ${end}, at ${this.sequence}, and the head of ${heads[0]?.signed_at ?? ''} is at ${sequence}.`;
      this.note('truncated', place, message);
    }
  }

  /** A head is not checked if it has no signature, or if its key is not known. */
  checkSignature(
    head: AuditHead,
    publicKeys: readonly string[],
  ): 'valid' | 'forged' | 'not_checked' {
    const key = publicKeys.find((one) => keyIdOf(one) === head.key_id);
    if (head.signature === null || key === undefined) return 'not_checked';
    if (isSigned(signedTextOfHead(head), head.signature, key)) return 'valid';
    const place = { sequence: head.sequence, entry_id: null, at: null, action: null };
    const message = `The head of ${head.signed_at} does not have the signature of its key ${head.key_id ?? ''}.`;
    this.note('head_forged', place, message);
    return 'forged';
  }
}

/** @returns the number of entries that wait for the sealer */
async function checkUnsealed(db: Db, walk: Walk): Promise<number> {
  const place = (row: Omit<Place, 'sequence'>): Place => ({ sequence: null, ...row });
  let after = '0';
  for (;;) {
    const page = await db.query<{ entryId: string; at: string; action: string; isKnown: boolean }>(
      `SELECT l.id::text AS entry_id, ${exactTime('l.at')} AS at, l.action,
              EXISTS (SELECT FROM audit_seals s WHERE s.entry_id = l.id)
                OR EXISTS (SELECT FROM audit_unsealed u WHERE u.entry_id = l.id) AS is_known
         FROM audit_log l WHERE l.id > ?::bigint ORDER BY l.id LIMIT ${PAGE}`,
      [after],
    );
    for (const { entryId, at, action, isKnown } of page) {
      if (isKnown) continue;
      const found = place({ entry_id: entryId, at, action });
      walk.note(
        'inserted',
        found,
        `${nameOf(found)} is not in the chain: it was inserted past the gateway, or its seal was deleted.`,
      );
    }
    after = page.at(-1)?.entryId ?? after;
    if (page.length < PAGE) break;
  }
  const waiting = await db.query<{ entryId: string; at: string; action: string; isThere: boolean }>(
    `SELECT u.entry_id::text AS entry_id, ${exactTime('u.at')} AS at, u.action,
            EXISTS (SELECT FROM audit_log l WHERE l.id = u.entry_id) AS is_there
       FROM audit_unsealed u ORDER BY u.entry_id`,
  );
  const gone = waiting.filter(({ isThere }) => !isThere);
  for (const { entryId, at, action } of gone) {
    const found = place({ entry_id: entryId, at, action });
    walk.note('missing', found, `${nameOf(found)} was deleted before it was sealed.`);
  }
  return waiting.length - gone.length;
}

function hasPersonal({ address, before, after, reason }: ChainEntry): boolean {
  return [address, before, after, reason].some((value) => value !== null);
}

function nameOf({ entry_id, at, action }: Place): string {
  return `entry ${entry_id ?? ''} (${action ?? ''}, ${at ?? ''})`;
}

const WORDS: Record<string, string> = {
  personal_sha256: 'actor, address, before, after or reason',
};

function wordOf(field: string): string {
  return WORDS[field] ?? field;
}

/** A seal whose text is no JSON any more is reported by its hash. */
function readSealed(text: string): Record<string, string | null> & SealedFields {
  try {
    return { ...NOTHING, ...(JSON.parse(text) as object) };
  } catch {
    return NOTHING;
  }
}

interface SealedFields {
  id: string;
  at: string;
  action: string;
  personal_sha256: string;
}

const NOTHING = { id: '', at: '', action: '', personal_sha256: '' };
