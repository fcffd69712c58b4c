/** Changes of policies that one person has proposed and another one approves or rejects. */
import { lockByName, type Db, type Tx } from '../transaction';
import type { Snapshot } from '../audit/audit-log';
import { areRelatedByEmail } from '../approvals/related-operators';

/** A proposal to insert. */
export interface NewProposal<Wish> {
  id: string;
  /** Null if the policy is about no account. */
  accountId: string | null;
  /** The policy that the proposal changes, such as `limits USDT`. At most one proposal of each is open. */
  topic: string;
  wish: Wish;
  before: Snapshot;
  after: object;
  reason: string | null;
  proposedBy: string;
}

/** A proposal as stored. */
export interface Proposal<Wish> extends NewProposal<Wish> {
  accountName: string | null;
  createdAt: Date;
  expiresAt: Date;
}

/** The most open proposals of a list, which is enough because proposals are decided within days. */
const OPEN_MAX = 50;

export const OPEN = 'p.outcome IS NULL AND p.expires_at > now()';
const PROPOSALS = `SELECT p.id, p.account_id, a.name AS account_name, p.topic, p.wish, p.before,
    p.after, p.reason, p.proposed_by, p.created_at, p.expires_at
  FROM policy_proposals p LEFT JOIN accounts a ON a.id = p.account_id`;

const IS_ADMIN = `kind = 'operator' AND operator_role = 'admin' AND disabled_at IS NULL`;

/** The open proposals about one account, or about all accounts when it is null, oldest first. */
export async function listProposals<Wish>(
  db: Db,
  accountId: string | null,
): Promise<Proposal<Wish>[]> {
  return db.query<Proposal<Wish>>(
    `${PROPOSALS} WHERE ${OPEN} AND p.account_id = coalesce(?, p.account_id)
      ORDER BY p.created_at LIMIT ${OPEN_MAX}`,
    [accountId],
  );
}

/**
 * Locks an open proposal, so that nobody else decides it until the transaction ends. Null if it has
 * ended.
 */
export async function lockProposal<Wish>(tx: Tx, id: string): Promise<Proposal<Wish> | null> {
  const [found] = await tx.query<Proposal<Wish>>(
    `${PROPOSALS} WHERE ${OPEN} AND p.id = ? FOR UPDATE OF p`,
    [id],
  );
  return found ?? null;
}

/** Inserts a proposal in place of an open one of the same topic. */
export async function insertProposal<Wish extends object>(
  tx: Tx,
  proposal: NewProposal<Wish>,
): Promise<void> {
  const { id, accountId, topic, wish, before, after, reason, proposedBy } = proposal;
  await lockByName(tx, 'policy_proposal', accountId, topic);
  await tx.query(
    `UPDATE policy_proposals
        SET outcome = 'replaced', decided_by = ?, decided_at = clock_timestamp()
      WHERE account_id IS NOT DISTINCT FROM ? AND topic = ? AND outcome IS NULL`,
    [proposedBy, accountId, topic],
  );
  await tx.query(
    `INSERT INTO policy_proposals
       (id, account_id, topic, wish, before, after, reason, proposed_by)
     VALUES (?, ?, ?, ?::jsonb, ?::jsonb, ?::jsonb, ?, ?)`,
    [id, accountId, topic, JSON.stringify(wish), jsonOf(before), jsonOf(after), reason, proposedBy],
  );
}

/**
 * Approves a proposal, for another person than the one who proposed it, and while the values in force are
 * the same as then. Who proposed a change of an account must still be an admin. The admin command proposes
 * thresholds too, under names that are no users.
 * @param before the values in force now
 */
export async function approveProposal(
  tx: Tx,
  id: string,
  by: string,
  before: Snapshot,
): Promise<boolean> {
  const approved = await tx.query(
    `UPDATE policy_proposals p
        SET outcome = 'approved', decided_by = ?, decided_at = clock_timestamp()
      WHERE p.id = ? AND ${OPEN} AND lower(p.proposed_by) <> lower(?)
        AND NOT ${areRelatedByEmail('p.proposed_by', '?')}
        AND p.before IS NOT DISTINCT FROM ?::jsonb
        AND (p.account_id IS NULL OR EXISTS (
          SELECT FROM users WHERE lower(email) = lower(p.proposed_by) AND ${IS_ADMIN}))
      RETURNING p.id`,
    [by, id, by, by, jsonOf(before)],
  );
  return approved.length > 0;
}

export async function rejectProposal(tx: Tx, id: string, by: string): Promise<void> {
  await tx.query(
    `UPDATE policy_proposals
        SET outcome = 'rejected', decided_by = ?, decided_at = clock_timestamp() WHERE id = ?`,
    [by, id],
  );
}

/** Without a second admin, nobody can approve a proposal. */
export async function hasSecondAdmin(db: Db): Promise<boolean> {
  const admins = await db.query(`SELECT id FROM users WHERE ${IS_ADMIN} LIMIT 2`);
  return admins.length > 1;
}

function jsonOf(snapshot: Snapshot): string | null {
  return snapshot === null ? null : JSON.stringify(snapshot);
}
