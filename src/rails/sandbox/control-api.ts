/**
 * The endpoints outside the two providers' APIs: the book, to compare with a ledger, and controls
 * for tests and developers. They need no authentication: the sandbox holds no real money.
 */
import Router from '@koa/router';
import type { Context } from 'koa';
import type { Book } from './book';
import {
  addCheckoutControls,
  presentCheckoutEntry,
  type CheckoutControlParts,
} from './checkouts/control-api';
import type { SandboxSettings } from './config';
import { OUTAGE_KINDS, type Outages } from './outages';
import type { ReferenceKey } from './records';
import { parseBody, readBody, readBookName, readText } from './request';
import {
  addTransferControls,
  presentTransferEntry,
  type TransferControlParts,
} from './transfers/control-api';

interface ControlApiParts extends TransferControlParts, CheckoutControlParts {
  outages: Outages;
  settings: SandboxSettings;
}

export function controlApi(parts: ControlApiParts): Router {
  const { book, outages, settings } = parts;
  const router = new Router({ prefix: '/sandbox' });
  router.use(parseBody());

  router.get('/book', async (ctx) => {
    await book.flushed();
    ctx.body = presentBook(book, ctx.query.provider, ctx.query.mode);
  });

  router.post('/control/outage', (ctx) => {
    const { provider, mode } = readBookName(ctx);
    const asked = readText(readBody(ctx), 'kind');
    const kind = OUTAGE_KINDS.find((one) => one === asked) ?? null;
    if (asked !== null && kind === null)
      ctx.throw(400, `kind must be one of ${OUTAGE_KINDS.join(', ')}, or null.`);
    outages.set(provider, mode, kind);
    ctx.body = { provider, mode, kind };
  });

  addTransferControls(router, parts);
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
  const isAsked = (key: ReferenceKey): boolean =>
    (provider === undefined || key.provider === provider) &&
    (mode === undefined || key.mode === mode);
  return {
    transfers: book.transfers
      .list()
      .filter(isAsked)
      .map((transfer) => presentTransferEntry(transfer, book)),
    checkouts: book.checkouts.list().filter(isAsked).map(presentCheckoutEntry),
    unaccepted: book.transfers
      .listUnaccepted()
      .filter(({ key }) => isAsked(key))
      .map(({ key, count }) => ({
        provider: key.provider,
        mode: key.mode,
        client_reference: key.reference,
        submissions: count,
      })),
  };
}

/** Delays apply to transfers accepted from now on. */
function changeSettings(ctx: Context, settings: SandboxSettings): void {
  const body = readBody(ctx);
  const readNumber = (member: string, current: number): number => {
    const value = body[member] ?? current;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    return ctx.throw(400, `${member} must be a whole number of 0 or more.`);
  };
  settings.settleMs = readNumber('settle_ms', settings.settleMs);
  settings.slowMs = readNumber('slow_ms', settings.slowMs);
  settings.errorSubmissions = readNumber('error_submissions', settings.errorSubmissions);
  if (body.callback_base_url === null) settings.callbackBaseUrl = null;
  else settings.callbackBaseUrl = readText(body, 'callback_base_url') ?? settings.callbackBaseUrl;
}
