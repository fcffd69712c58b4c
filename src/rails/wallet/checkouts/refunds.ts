/**
 * Sends the refunds whose address is known, as transfers of the hot wallet: the same limits, the same
 * denylist, the same certainty. A refund is done when its transfer is final on the chain.
 */
import type { Log } from '../config';
import type { Database, Tx } from '../db/database';
import { type Loop, startLoop } from '../loop';
import type { WalletMode } from '../networks';
import { findTransfer, type OrderRules, submitTransfer, type Transfer } from '../sender/transfers';
import { amount as toAmount } from '../../../domain/money';
import { announceCheckouts, lockCheckout, type PageUrl } from './store';

export interface RefundParts {
  db: Database;
  rules: OrderRules;
  /** A new transfer is in the database. */
  onQueued: (transfer: Transfer) => void;
  pageUrl: PageUrl;
  log: Log;
}

interface RefundRow {
  id: string;
  checkout_id: string;
  mode: WalletMode;
  network: string;
  asset: string;
  amount: string;
  address: string;
  transfer_reference: string;
}

const POLL_MS = 500;

export function startRefunds(parts: RefundParts): Loop {
  return startLoop('refunds', parts.log, POLL_MS, () => sendRefunds(parts));
}

/** A step for each refund under way; each is safe to repeat. */
export async function sendRefunds(parts: RefundParts): Promise<undefined> {
  const sending = await parts.db.query<RefundRow>(
    `SELECT r.id, r.checkout_id, c.mode, c.network, c.asset, r.amount, r.address,
       r.transfer_reference
     FROM wallet.refund r JOIN wallet.checkout c ON c.id = r.checkout_id
     WHERE r.state = 'sending' ORDER BY r.created_at, r.id`,
  );
  for (const refund of sending) await sendRefund(parts, refund);
  return undefined;
}

async function sendRefund(parts: RefundParts, refund: RefundRow): Promise<void> {
  const { db, rules, onQueued, log } = parts;
  const known = await findTransfer(db, refund.mode, refund.transfer_reference);
  if (known?.status === 'confirmed') return finish(parts, refund, known);
  if (known?.status === 'failed') return askAgain(parts, refund, known.failureCode);
  if (known !== null && known.status !== 'refused') return;
  const submission = await submitTransfer(db, rules, {
    mode: refund.mode,
    reference: refund.transfer_reference,
    purpose: 'refund',
    asset: refund.asset,
    network: refund.network,
    amount: toAmount(refund.amount),
    destination: refund.address,
    memo: null,
  });
  if (submission.kind === 'accepted') onQueued(submission.transfer);
  else if (submission.kind === 'refused') await askAgain(parts, refund, submission.code);
  else log('error', 'the reference of a refund is taken', { refund: refund.id });
}

function finish(parts: RefundParts, { id, checkout_id }: RefundRow, sent: Transfer): Promise<void> {
  return change(parts, checkout_id, (tx) =>
    tx.query(
      `UPDATE wallet.refund SET state = 'sent', tx_hash = $2, refunded_at = clock_timestamp()
       WHERE id = $1 AND state = 'sending' RETURNING id`,
      [id, sent.txHash],
    ),
  );
}

/** The address cannot be paid: the page asks for another one. */
function askAgain(
  parts: RefundParts,
  { id, checkout_id, transfer_reference }: RefundRow,
  reason: string | null,
): Promise<void> {
  parts.log('warn', 'a refund could not be sent and needs another address', { refund: id, reason });
  return change(parts, checkout_id, async (tx) => {
    await tx.query('UPDATE wallet.checkout SET refund_address = NULL WHERE id = $1', [checkout_id]);
    return tx.query(
      `UPDATE wallet.refund SET state = 'needs_address', address = NULL, transfer_reference = NULL
       WHERE id = $1 AND state = 'sending' AND transfer_reference = $2 RETURNING id`,
      [id, transfer_reference],
    );
  });
}

function change(
  { db, pageUrl }: RefundParts,
  checkoutId: string,
  update: (tx: Tx) => Promise<unknown[]>,
): Promise<void> {
  return db.transaction(async (tx) => {
    await lockCheckout(tx, checkoutId);
    const changed = await update(tx);
    if (changed.length > 0) await announceCheckouts(tx, [checkoutId], pageUrl);
  });
}
