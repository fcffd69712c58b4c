/**
 * Explains an unknown transaction by an order that has ended at the client, which therefore does not
 * submit it again. The order is stored and paid by that transaction in one step: it is never sent.
 */
import type { Chain } from '../chain/chain';
import type { Database, Db, Tx } from '../db/database';
import { adopt, findCandidates, listOpenFound } from './found';
import { lockSigner, type SignerKey } from './slots';
import { recordPaidOrder, type Submission, type TransferOrder } from './transfers';

export type Claim = Submission | { kind: 'not_unknown' };

/** An answer that is larger than the gateway reads would tell nothing. */
const LISTED_MAX = 200;

/** The oldest ones of a chain; the others follow when these are explained. */
export async function listUnknownTransactions(db: Db, chainId: number): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    `SELECT hash FROM wallet.found_transaction
     WHERE chain_id = $1 AND state = 'open' AND asset IS NOT NULL
     ORDER BY signer, nonce LIMIT $2`,
    [chainId, LISTED_MAX],
  );
  return rows.map(({ hash }) => hash);
}

/** Only the transaction with the mark of the order explains it. Idempotent by the order’s reference. */
export async function claimTransaction(
  db: Database,
  chain: Chain,
  order: TransferOrder,
  hash: string,
): Promise<Claim> {
  const rollback = new Error('the transaction does not pay the order');
  try {
    return await db.transaction(async (tx): Promise<Claim> => {
      const key = await findSigner(tx, chain.network.chainId, hash);
      if (key === null) return { kind: 'not_unknown' };
      await lockSigner(tx, key);
      const recorded = await recordPaidOrder(tx, [chain.network], order);
      if (recorded.kind !== 'accepted' || recorded.transfer.status !== 'queued') return recorded;
      if (await adoptMarked(tx, chain, key, { hash, reference: order.reference })) return recorded;
      throw rollback;
    });
  } catch (error) {
    if (error === rollback) return { kind: 'not_unknown' };
    throw error;
  }
}

/** Finds explained transactions too, so that a repeated claim has the same answer. */
async function findSigner(db: Db, chainId: number, hash: string): Promise<SignerKey | null> {
  const [found] = await db.query<{ signer: string }>(
    'SELECT signer FROM wallet.found_transaction WHERE chain_id = $1 AND hash = $2',
    [chainId, hash],
  );
  return found === undefined ? null : { chainId, signer: found.signer };
}

async function adoptMarked(
  tx: Tx,
  chain: Chain,
  key: SignerKey,
  claimed: { hash: string; reference: string },
): Promise<boolean> {
  const found = (await listOpenFound(tx, key)).find(({ hash }) => hash === claimed.hash);
  if (found === undefined) return false;
  const candidates = await findCandidates(tx, key, found);
  const own = candidates.find(
    ({ reference, isMarked }) => isMarked && reference === claimed.reference,
  );
  return own !== undefined && adopt(tx, chain, key, found, own.transferId);
}
