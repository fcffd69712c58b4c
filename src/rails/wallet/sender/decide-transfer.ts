/**
 * An operator decides about a transfer: one whose transaction succeeded and transferred nothing, or a
 * queued one that nobody wants to wait for any more. Who decided it stays in wallet.decision.
 */
import type { Address } from 'viem';
import { SetupError } from '../../../platform/lib/setup-error';
import { createAlarms } from '../alarms';
import { createChain } from '../chain/chain';
import { ignoreSilence } from '../chain/rpc';
import type { Database, Db, Tx } from '../db/database';
import { recordDecision } from '../decisions';
import type { Network, WalletMode } from '../networks';
import { compareNonces } from './compare';
import { isStopped, lockAllSigners } from './slots';
import { finishTransfer } from './transfers';
import { readView } from './view';
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

/** @throws SetupError when the chain decides, or has decided, and for a failure that may have been paid */
export async function decideTransfer(
  db: Database,
  networks: readonly Network[],
  decision: TransferDecision,
): Promise<void> {
  const { reference, outcome, by, reason } = decision;
  const { chainId } = await findTransfer(db, decision);
  if (outcome === 'failed') await compareAll(db, networks, chainId);
  await db.transaction(async (tx) => {
    await lockAllSigners(tx, Number(chainId));
    const transfer = await findTransfer(tx, decision, 'FOR UPDATE');
    const isUndecided = transfer.waitingFor === DECISION_PENDING;
    if (!isUndecided && transfer.status !== 'queued') {
      const state = transfer.status === 'sending' ? 'the chain decides it' : transfer.status;
      throw new SetupError(`Nothing to decide about ${reference}: ${state}.`);
    }
    if (!isUndecided && outcome === 'confirmed') {
      throw new SetupError(`${reference} is queued: the wallet has sent nothing for it.`);
    }
    if (outcome === 'failed') await requireUnpaid(tx, transfer, reference);
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

/**
 * The database may be older than the chain and the pools, and the wallet may not be running: what the hot
 * wallets have sent and the record does not know becomes known, or adopted, first.
 */
async function compareAll(
  db: Database,
  networks: readonly Network[],
  chainId: string,
): Promise<void> {
  const network = networks.find((one) => String(one.chainId) === chainId);
  if (network?.payouts == null) {
    throw new SetupError(
      `WALLET_NETWORKS_FILE must have the chain ${chainId} with its payouts, to find out whether the payout was paid.`,
    );
  }
  const chain = createChain(network);
  const alarms = createAlarms(db, chain, () => undefined);
  const signers = await db.query<{ address: Address }>(
    'SELECT address FROM wallet.signer WHERE chain_id = $1 ORDER BY address',
    [chainId],
  );
  if (signers.length === 0) {
    throw new SetupError(`${network.name} has no hot wallet yet. Start the wallet.`);
  }
  for (const { address } of signers) {
    for (const node of chain.nodes) {
      if ((await readView(node, address).catch(ignoreSilence)) !== undefined) continue;
      throw new SetupError(
        `A node of ${network.name} does not answer, and may know that the payout was paid. Make all nodes reachable, or remove the node from rpc_urls, and run the command again.`,
      );
    }
    const parts = { db, chain, rules: network.payouts, alarms };
    const key = { chainId: network.chainId, signer: address };
    const view = await readView(chain, address);
    await compareNonces({ ...parts, key }, view, { everyNode: true });
  }
}

/** The signers of the chain are locked. @throws SetupError */
async function requireUnpaid(tx: Tx, { id, chainId }: Decided, reference: string): Promise<void> {
  const open = await tx.query(
    "SELECT 1 FROM wallet.slot WHERE transfer_id = $1 AND state = 'open'",
    [id],
  );
  if (open.length === 0 && !(await isStopped(tx, Number(chainId)))) return;
  throw new SetupError(
    `A transaction of a hot wallet that the database does not know may have paid ${reference}. End the stop first: see \`wallet restore\`.`,
  );
}

/** Locked, the sender gives it no slot meanwhile. */
async function findTransfer(
  db: Db,
  { mode, reference }: TransferDecision,
  lock: '' | 'FOR UPDATE' = '',
): Promise<Decided> {
  const found = await db.query<Decided>(
    `SELECT id, chain_id AS "chainId", status, waiting_for AS "waitingFor", tx_hash AS "txHash"
     FROM wallet.transfer
     WHERE client_reference = $1 AND ($2::text IS NULL OR mode = $2) AND status <> 'refused'
     ${lock}`,
    [reference, mode],
  );
  const [transfer, another] = found;
  if (transfer === undefined) throw new SetupError(`There is no transfer ${reference}.`);
  if (another !== undefined) {
    throw new SetupError(`${reference} is a transfer of both modes. Name one with --mode.`);
  }
  return transfer;
}
