/**
 * Lets a stopped signer go on, after an operator found out why its nonces were used without the
 * wallet. A transfer gets another nonce only when every node says that its old one is final and holds
 * none of its transactions, because then none of them can ever be mined.
 */
import type { Address } from 'viem';
import { SetupError } from '../../lib/setup-error';
import type { Chain, RpcReceipt } from '../chain/chain';
import type { Database } from '../db/database';
import { isUsedByOthers } from './settle';
import {
  type Attempt,
  findAttempts,
  findOpenSlots,
  lockSigner,
  type SignerKey,
  type Slot,
} from './slots';
import { readView } from './view';

export interface Resumed {
  /** Transfers that get another nonce. */
  requeued: number;
  nextNonce: bigint;
}

interface ResumeOptions {
  /** Who decides it: stays in wallet.decision. */
  by: string;
  /**
   * The chain has transactions of the signer that the database does not know, and the operator has
   * checked that none of the queued transfers is among them.
   */
  skipUnknownNonces?: boolean;
}

async function hasReceipt({ rpc }: Chain, attempts: readonly Attempt[]): Promise<boolean> {
  for (const { hash } of attempts) {
    if ((await rpc.call<RpcReceipt>('eth_getTransactionReceipt', [hash])) !== null) return true;
  }
  return false;
}

/** @throws SetupError when a nonce is not final yet, a node does not answer, or payouts are unknown */
export async function resumeSigner(
  db: Database,
  chain: Chain,
  address: Address,
  { by, skipUnknownNonces = false }: ResumeOptions,
): Promise<Resumed> {
  const key: SignerKey = { chainId: chain.network.chainId, signer: address.toLowerCase() };
  const view = await readView(chain, address);
  const foreign: Slot[] = [];
  for (const slot of await findOpenSlots(db, key, { upTo: view.usedNonces })) {
    const own = await findAttempts(db, key, { from: slot.nonce, upTo: slot.nonce + 1n });
    if (await isUsedByOthers(chain, key.signer, slot.nonce, own, { everyNode: true })) {
      foreign.push(slot);
    } else if (!(await hasReceipt(chain, own))) {
      throw new SetupError(
        `Not every node of ${chain.network.name} confirms that nonce ${slot.nonce.toString()} is final. Make all nodes reachable, wait for the next final block, and run the command again.`,
      );
    }
  }
  return db.transaction(async (tx) => {
    const { nextNonce } = await lockSigner(tx, key);
    if (view.usedNonces > nextNonce && !skipUnknownNonces) {
      const unknown = `${nextNonce.toString()} to ${(view.usedNonces - 1n).toString()}`;
      throw new SetupError(
        `The chain has transactions of ${address} with the nonces ${unknown}, which the database does not know. Compare them with the queued transfers; a transfer that was paid by one of them would be paid again. Then run the command with --skip-unknown-nonces.`,
      );
    }
    const nonces = foreign.map(({ nonce }) => nonce.toString());
    await tx.query(
      `UPDATE wallet.slot SET state = 'foreign'
       WHERE chain_id = $1 AND signer = $2 AND nonce = ANY($3::bigint[]) AND state = 'open'`,
      [key.chainId, key.signer, nonces],
    );
    await tx.query(
      `UPDATE wallet.transfer SET status = 'queued'
       WHERE id = ANY($1::text[]) AND status = 'sending'`,
      [foreign.map(({ transferId }) => transferId)],
    );
    await tx.query(
      `UPDATE wallet.signer SET stopped_reason = NULL, next_nonce = greatest(next_nonce, $3)
       WHERE chain_id = $1 AND address = $2`,
      [key.chainId, key.signer, view.usedNonces.toString()],
    );
    await tx.query(
      `UPDATE wallet.alarm SET cleared_at = clock_timestamp()
       WHERE chain_id = $1 AND kind = 'signer_stopped' AND subject = $2 AND cleared_at IS NULL`,
      [key.chainId, key.signer],
    );
    await tx.query(
      `INSERT INTO wallet.decision (chain_id, kind, address, decided_by, reason)
       VALUES ($1, 'resume_signer', $2, $3, $4)`,
      [key.chainId, key.signer, by, skipUnknownNonces ? 'with --skip-unknown-nonces' : null],
    );
    const after = await lockSigner(tx, key);
    return { requeued: foreign.length, nextNonce: after.nextNonce };
  });
}
