/**
 * An operator decides about a transfer: one whose transaction succeeded and transferred nothing, or a
 * queued one that nobody wants to wait for any more. Who decided it stays in wallet.decision.
 */
import { SetupError } from '../../lib/setup-error';
import type { Database, Tx } from '../db/database';
import { recordDecision } from '../decisions';
import type { WalletMode } from '../networks';
import { finishTransfer } from './transfers';
import { DECISION_PENDING } from './waiting';

export interface TransferDecision {
  /** Null when the mode does not matter, because only one transfer has the reference. */
  mode: WalletMode | null;
  reference: string;
  outcome: 'failed' | 'confirmed';
  by: string;
  reason: string;
}

interface Decided {
  id: string;
  chainId: string;
  status: string;
  waitingFor: string | null;
  txHash: string | null;
}

/** @throws SetupError when the chain decides, or has decided */
export async function decideTransfer(db: Database, decision: TransferDecision): Promise<void> {
  const { reference, outcome, by, reason } = decision;
  await db.transaction(async (tx) => {
    const transfer = await lockTransfer(tx, decision);
    const isUndecided = transfer.waitingFor === DECISION_PENDING;
    if (!isUndecided && transfer.status !== 'queued') {
      const state = transfer.status === 'sending' ? 'the chain decides it' : transfer.status;
      throw new SetupError(`Nothing to decide about ${reference}: ${state}.`);
    }
    if (!isUndecided && outcome === 'confirmed') {
      throw new SetupError(`${reference} is queued: the wallet has sent nothing for it.`);
    }
    await finishTransfer(tx, {
      transferId: transfer.id,
      status: outcome,
      failureCode:
        outcome === 'confirmed'
          ? null
          : isUndecided
            ? 'not_transferred'
            : 'destination_unreachable',
      txHash: transfer.txHash,
    });
    if (outcome === 'confirmed') {
      await tx.query(
        `UPDATE wallet.slot SET state = 'sent' WHERE transfer_id = $1 AND state = 'failed'`,
        [transfer.id],
      );
    }
    await tx.query(
      `UPDATE wallet.alarm SET cleared_at = clock_timestamp(), resolved_by = $3, resolution = $4
       WHERE chain_id = $1 AND kind = 'not_transferred' AND subject = $2 AND cleared_at IS NULL`,
      [transfer.chainId, transfer.id, by, reason],
    );
    await recordDecision(tx, {
      chainId: transfer.chainId,
      kind: outcome === 'confirmed' ? 'confirm_transfer' : 'fail_transfer',
      transferId: transfer.id,
      by,
      reason,
    });
  });
}

/** The sender gives it no slot meanwhile. */
async function lockTransfer(tx: Tx, { mode, reference }: TransferDecision): Promise<Decided> {
  const found = await tx.query<Decided & Record<string, unknown>>(
    `SELECT id, chain_id AS "chainId", status, waiting_for AS "waitingFor", tx_hash AS "txHash"
     FROM wallet.transfer
     WHERE client_reference = $1 AND ($2::text IS NULL OR mode = $2) AND status <> 'refused'
     FOR UPDATE`,
    [reference, mode],
  );
  const [transfer, another] = found;
  if (transfer === undefined) throw new SetupError(`There is no transfer ${reference}.`);
  if (another !== undefined) {
    throw new SetupError(`${reference} is a transfer of both modes. Name one with --mode.`);
  }
  return transfer;
}
