/**
 * The handles outside the two providers' APIs: the book for whoever compares it with a ledger,
 * and controls for tests and developers. Open to everybody who reaches the port: it is a toy.
 */
import Router from '@koa/router';
import bodyParser from 'koa-bodyparser';
import type { Context } from 'koa';
import type { Book, Transfer, TransferKey } from './book';
import type { Callbacks } from './callbacks';
import {
  addCheckoutControls,
  presentCheckoutEntry,
  type CheckoutControlParts,
} from './checkouts/control-api';
import { BOOK_MODES, PROVIDER_NAMES, type SandboxSettings } from './config';
import { OUTAGE_KINDS, type Outages } from './disturbances';
import { readBody, readText } from './request-body';
import type { Transfers } from './transfers';

interface ControlApiParts extends CheckoutControlParts {
  book: Book;
  transfers: Transfers;
  callbacks: Callbacks;
  outages: Outages;
  settings: SandboxSettings;
}

export function controlApi(parts: ControlApiParts): Router {
  const { book, transfers, callbacks, outages, settings } = parts;
  const router = new Router({ prefix: '/sandbox' });
  router.use(bodyParser({ enableTypes: ['json'] }));

  router.get('/book', async (ctx) => {
    await book.flushed();
    ctx.body = presentBook(book, ctx.query.provider, ctx.query.mode);
  });

  router.post('/control/outage', (ctx) => {
    const { provider, mode } = readBookName(ctx);
    const asked = readText(readBody(ctx), 'kind');
    const kind = OUTAGE_KINDS.find((one) => one === asked) ?? null;
    if (asked !== null && kind === null) ctx.throw(400, `kind: ${OUTAGE_KINDS.join(', ')} or null`);
    outages.set(provider, mode, kind);
    ctx.body = { provider, mode, kind };
  });

  for (const [verb, status] of [
    ['settle', 'sent'],
    ['fail', 'failed'],
  ] as const) {
    router.post(`/control/transfers/${verb}`, async (ctx) => {
      const transfer = requireTransfer(ctx, book);
      const finished = await transfers.finish(transfer, status);
      if (finished === null) return ctx.throw(409, `It is ${transfer.status}, not pending.`);
      ctx.body = presentEntry(finished, book);
    });
  }

  router.post('/control/transfers/reorg', async (ctx) => {
    const transfer = requireTransfer(ctx, book);
    const changed = await transfers.reorganize(transfer);
    if (changed === null) return ctx.throw(409, `It is ${transfer.status}, not sent.`);
    ctx.body = presentEntry(changed, book);
  });

  router.post('/control/transfers/resend-callback', (ctx) => {
    const transfer = requireTransfer(ctx, book);
    void callbacks.resend(transfer);
    ctx.body = presentEntry(transfer, book);
  });

  addCheckoutControls(router, parts);

  router.post('/control/settings', (ctx) => {
    changeSettings(ctx, settings);
    ctx.body = {
      settle_ms: settings.settleMs,
      slow_ms: settings.slowMs,
      error_submissions: settings.errorSubmissions,
      callback_base_url: settings.callbackBaseUrl,
    };
  });

  return router;
}

function presentBook(book: Book, provider: unknown, mode: unknown): Record<string, unknown> {
  const isAsked = (key: TransferKey): boolean =>
    (provider === undefined || key.provider === provider) &&
    (mode === undefined || key.mode === mode);
  return {
    transfers: book
      .list()
      .filter(isAsked)
      .map((transfer) => presentEntry(transfer, book)),
    checkouts: book.checkouts.list().filter(isAsked).map(presentCheckoutEntry),
    // Submissions that met a fault before they were recorded, and nothing after them.
    unaccepted: book
      .listSubmissions()
      .filter(({ key }) => isAsked(key) && book.find(key) === undefined)
      .map(({ key, count }) => ({ ...presentKey(key), submissions: count })),
  };
}

function presentEntry(transfer: Transfer, book: Book): Record<string, unknown> {
  return {
    ...presentKey(transfer),
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
    tx_hash: transfer.txHash,
    failure_code: transfer.failureCode,
    created_at: transfer.createdAt,
    updated_at: transfer.updatedAt,
    submissions: book.countSubmissions(transfer),
    times_sent: transfer.timesSent,
    acknowledged_status: transfer.acknowledgedStatus,
  };
}

function presentKey(key: TransferKey): Record<string, unknown> {
  return { provider: key.provider, mode: key.mode, client_reference: key.reference };
}

function readBookName(ctx: Context): Omit<TransferKey, 'reference'> {
  const body = readBody(ctx);
  const provider = PROVIDER_NAMES.find((one) => one === body.provider);
  const mode = BOOK_MODES.find((one) => one === body.mode);
  if (provider === undefined) ctx.throw(400, `provider: ${PROVIDER_NAMES.join(' or ')}`);
  if (mode === undefined) ctx.throw(400, `mode: ${BOOK_MODES.join(' or ')}`);
  return { provider, mode };
}

function requireTransfer(ctx: Context, book: Book): Transfer {
  const reference = readText(readBody(ctx), 'client_reference') ?? '';
  const transfer = book.find({ ...readBookName(ctx), reference });
  if (transfer === undefined) ctx.throw(404, 'No such transfer.');
  return transfer;
}

/** Delays hold for transfers accepted from now on. */
function changeSettings(ctx: Context, settings: SandboxSettings): void {
  const body = readBody(ctx);
  const readNumber = (member: string, current: number): number => {
    const value = body[member] ?? current;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    return ctx.throw(400, `${member}: a whole number`);
  };
  settings.settleMs = readNumber('settle_ms', settings.settleMs);
  settings.slowMs = readNumber('slow_ms', settings.slowMs);
  settings.errorSubmissions = readNumber('error_submissions', settings.errorSubmissions);
  if (body.callback_base_url === null) settings.callbackBaseUrl = null;
  else settings.callbackBaseUrl = readText(body, 'callback_base_url') ?? settings.callbackBaseUrl;
}
