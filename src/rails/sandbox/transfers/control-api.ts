/** The control endpoints of transfers, and how the book shows a transfer. Part of ../control-api.ts. */
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Book } from '../book';
import { readBody, readBookName, readText } from '../request';
import type { Transfer } from './book';
import type { TransferCallbacks } from './callbacks';
import type { Transfers } from './transfers';

export interface TransferControlParts {
  book: Book;
  transfers: Transfers;
  transferCallbacks: TransferCallbacks;
}

export function addTransferControls(
  router: Router,
  { book, transfers, transferCallbacks }: TransferControlParts,
): void {
  for (const [verb, status] of [
    ['settle', 'sent'],
    ['fail', 'failed'],
  ] as const) {
    router.post(`/control/transfers/${verb}`, async (ctx) => {
      const transfer = requireTransfer(ctx, book);
      const finished = await transfers.finish(transfer, status);
      if (finished === null)
        return ctx.throw(409, `The transfer is ${transfer.status}, not pending.`);
      ctx.body = presentTransferEntry(finished, book);
    });
  }

  router.post('/control/transfers/reorg', async (ctx) => {
    const transfer = requireTransfer(ctx, book);
    const changed = await transfers.reorganize(transfer);
    if (changed === null) return ctx.throw(409, `The transfer is ${transfer.status}, not sent.`);
    ctx.body = presentTransferEntry(changed, book);
  });

  router.post('/control/transfers/resend-callback', (ctx) => {
    const transfer = requireTransfer(ctx, book);
    void transferCallbacks.resend(transfer);
    ctx.body = presentTransferEntry(transfer, book);
  });
}

function requireTransfer(ctx: Context, book: Book): Transfer {
  const reference = readText(readBody(ctx), 'client_reference') ?? '';
  const transfer = book.transfers.find({ ...readBookName(ctx), reference });
  if (transfer === undefined) ctx.throw(404, 'Transfer not found.');
  return transfer;
}

export function presentTransferEntry(transfer: Transfer, book: Book): Record<string, unknown> {
  return {
    provider: transfer.provider,
    mode: transfer.mode,
    client_reference: transfer.reference,
    status: transfer.status,
    scenario: transfer.scenario,
    amount: transfer.amount,
    currency: transfer.currency,
    network: transfer.network,
    destination: {
      type: transfer.destinationType,
      value: transfer.destination,
      memo: transfer.memo,
    },
    ...(transfer.beneficiary == null ? {} : { beneficiary: transfer.beneficiary }),
    tx_hash: transfer.txHash,
    failure_code: transfer.failureCode,
    created_at: transfer.createdAt,
    updated_at: transfer.updatedAt,
    submissions: book.transfers.countSubmissions(transfer),
    times_sent: transfer.timesSent,
    acknowledged_status: transfer.acknowledgedStatus,
  };
}
