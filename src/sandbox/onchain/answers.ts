/** The formats of the on-chain provider's API: errors, list queries, transfers and checkouts. */
import type { Context } from 'koa';
import type { Checkout } from '../checkouts/checkout';
import type { ChangesQuery } from '../records';
import { normalizeTime } from '../request';
import type { Transfer } from '../transfers/book';

export function answerError(ctx: Context, status: number, code: string, message: string): void {
  ctx.status = status;
  ctx.body = { error: { code, message } };
}

export function answerMalformed(ctx: Context): void {
  answerError(ctx, 400, 'malformed_request', 'A member is missing or malformed.');
}

const DEFAULT_PAGE = 50;
const PAGE_SIZE_MAX = 200;

/** `?updated_from=&cursor=&limit=`, all optional. Null when a parameter is malformed. */
export function readChangesQuery(ctx: Context): ChangesQuery | null {
  const asked = readQuery(ctx, 'updated_from');
  const from = asked === undefined ? null : normalizeTime(asked);
  const limit = Number(readQuery(ctx, 'limit') ?? DEFAULT_PAGE);
  if ((asked !== undefined && from === null) || !Number.isSafeInteger(limit) || limit < 1) {
    return null;
  }
  const cursor = readQuery(ctx, 'cursor') ?? null;
  return { from, cursor, limit: Math.min(limit, PAGE_SIZE_MAX) };
}

export function answerBadQuery(ctx: Context): void {
  answerError(ctx, 400, 'malformed_request', 'The cursor, the limit or the time is not valid.');
}

export function readQuery(ctx: Context, name: string): string | undefined {
  const value = ctx.query[name];
  return typeof value === 'string' ? value : undefined;
}

const TRANSFER_STATUSES = {
  pending: 'queued',
  sent: 'confirmed',
  failed: 'failed',
  refused: 'failed',
} as const;

export function presentOnchainTransfer(transfer: Transfer): Record<string, unknown> {
  return {
    object: 'transfer',
    id: `otr_${transfer.id}`,
    client_reference: transfer.reference,
    status: TRANSFER_STATUSES[transfer.status],
    amount: transfer.amount,
    asset: transfer.currency,
    network: transfer.network,
    destination: { address: transfer.destination, memo: transfer.memo },
    tx_hash: transfer.txHash,
    failure_code: transfer.failureCode,
    created_at: transfer.createdAt,
    updated_at: transfer.updatedAt,
  };
}

const CHECKOUT_STATES = {
  open: 'open',
  started: 'customer_active',
  cancelled: 'cancelled',
  failed: 'failed',
} as const;

const DEPOSIT_STATES = { seen: 'detected', confirmed: 'final', dropped: 'vanished' } as const;

export function presentOnchainCheckout(checkout: Checkout, url: string): Record<string, unknown> {
  return {
    object: 'checkout',
    id: `och_${checkout.id}`,
    client_reference: checkout.reference,
    url,
    state: CHECKOUT_STATES[checkout.state],
    compliance: checkout.onHold ? 'held' : 'clear',
    amount: checkout.amount,
    asset: checkout.currency,
    network: checkout.network,
    deposit_address: { address: checkout.payTo, memo: checkout.payToMemo },
    deposits: checkout.transfers.map((transfer) => ({
      id: transfer.id,
      amount: transfer.amount,
      state: DEPOSIT_STATES[transfer.status],
      detected_at: transfer.seenAt,
      final_at: transfer.confirmedAt,
      tx_hash: transfer.txHash,
    })),
    refunds: checkout.refunds.map((refund) => ({
      id: refund.id,
      refund_reference: refund.reference,
      amount: refund.amount,
      refunded_at: refund.refundedAt,
    })),
    // The sandbox refunds at once.
    pending_refunds: [],
    failure_code: checkout.failureCode,
    expires_at: checkout.expiresAt,
    created_at: checkout.createdAt,
    updated_at: checkout.updatedAt,
  };
}
