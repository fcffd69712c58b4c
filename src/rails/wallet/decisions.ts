/** What operators decided, from wallet.decision: nobody can change or delete it. */
import { getAddress } from 'viem';
import type { Db } from './db/database';

export interface Decision {
  at: string;
  /** A pause or a resume is of the chain as a whole, of its payouts, or of one hot wallet. */
  kind:
    | 'pause'
    | 'resume'
    | 'resume_signer'
    | 'free_nonce'
    | 'deny'
    | 'allow'
    | 'fail_transfer'
    | 'confirm_transfer'
    | 'rescan'
    | 'refund_address';
  stops: 'chain' | 'payouts' | null;
  /** Null when it is for every chain. */
  chain_id: number | null;
  /** The hot wallet, or the address that was denied or allowed. */
  address: string | null;
  /** The client reference of the transfer that was decided. */
  transfer: string | null;
  /** What was read again. */
  subject: string | null;
  by: string;
  reason: string | null;
}

type Stored = Omit<Decision, 'at' | 'chain_id'> & { decided_at: Date; chain_id: string | null };

/** Is part of the transaction that carries the decision out. */
export async function recordDecision(
  db: Db,
  decision: Pick<Decision, 'kind' | 'by' | 'reason'> & {
    chainId: number | string;
    address?: string;
    transferId?: string;
    subject?: string;
  },
): Promise<void> {
  const { chainId, kind, address, transferId, subject, by, reason } = decision;
  await db.query(
    `INSERT INTO wallet.decision (chain_id, kind, address, transfer_id, subject, decided_by, reason)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [chainId, kind, address ?? null, transferId ?? null, subject ?? null, by, reason],
  );
}

/** The newest first. */
export async function listDecisions(db: Db, limit: number): Promise<Decision[]> {
  const stored = await db.query<Stored>(
    `SELECT decided_at, kind, stops, decision.chain_id, address, client_reference AS transfer,
       subject, decided_by AS by, reason
     FROM wallet.decision LEFT JOIN wallet.transfer ON transfer.id = transfer_id
     ORDER BY decision.id DESC LIMIT $1`,
    [limit],
  );
  return stored.map(present);
}

/** The denial of each address on the denylist, the newest first. */
export async function listDenials(db: Db): Promise<Decision[]> {
  // Addresses that were denied before decisions were stored have none.
  const stored = await db.query<Stored>(
    `SELECT coalesce(decision.decided_at, denied_at) AS decided_at, 'deny' AS kind, NULL AS stops,
       NULL AS chain_id, denied.address, NULL AS transfer,
       NULL AS subject, coalesce(decided_by, 'not named') AS by, denied.reason
     FROM wallet.denied_address AS denied LEFT JOIN LATERAL (
       SELECT decided_at, decided_by FROM wallet.decision
       WHERE decision.address = denied.address AND kind = 'deny' ORDER BY id DESC LIMIT 1
     ) AS decision ON true
     ORDER BY 1 DESC`,
  );
  return stored.map(present);
}

function present({ decided_at: at, chain_id: chainId, address, ...rest }: Stored): Decision {
  return {
    at: at.toISOString(),
    ...rest,
    chain_id: chainId === null ? null : Number(chainId),
    address: address === null ? null : getAddress(address),
  };
}

/** One line for people. */
export function describeDecision(decision: Decision): string {
  const { at, kind, stops, chain_id: chainId, address, transfer, by, reason } = decision;
  const subject = address ?? transfer ?? decision.subject;
  const what = subject ?? `${stops === 'chain' ? 'everything' : 'payouts'} of the chain`;
  const where = chainId === null ? '' : ` ${subject === null ? '' : 'on the chain '}${chainId}`;
  const why = reason === null ? '' : `: ${reason}`;
  return `${at}  ${kind.replace('_', '-').padEnd(16)}  ${what}${where} by ${by}${why}\n`;
}
