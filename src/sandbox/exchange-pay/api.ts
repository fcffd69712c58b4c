/**
 * Exchange Pay's HTTP API: everything is a signed POST, and every answer an envelope
 * `{status, code, data, errorMessage}`. What it decides lies in ../transfers.ts and ../checkouts.
 */
import Router from '@koa/router';
import bodyParser from 'koa-bodyparser';
import type { Context, Middleware } from 'koa';
import type { TransferOrder } from '../book';
import type { CredentialsTable } from '../config';
import { normalizeAmount } from '../decimal-text';
import { hang, readBookMode, resetConnection, type Outages } from '../disturbances';
import { readBody, readText } from '../request-body';
import type { Submission, Transfers } from '../transfers';
import { RequestAuthentication } from './authenticate';
import { readChangesQuery } from './changes-query';
import { answerFailure, answerSuccess, CODES } from './envelope';
import { addExchangePayOrders, type OrderParts } from './order-api';
import { presentExchangePayTransfer } from './presenter';

const PROVIDER = 'exchange_pay';
const REFERENCE = /^[A-Za-z0-9_-]{1,64}$/;
const CURRENCIES = ['USDT', 'USDC', 'BTC', 'ETH'];
const RECIPIENT_TYPES = ['exchange_id', 'email'];
const EXCHANGE_ID = /^[0-9]{1,20}$/;

interface ExchangePayApiParts extends OrderParts {
  transfers: Transfers;
  credentials: CredentialsTable;
  outages: Outages;
}

export function exchangePayApi(parts: ExchangePayApiParts): Router {
  const { transfers, credentials, outages } = parts;
  const router = new Router({ prefix: '/exchange-pay/openapi/v1' });
  router.use(parseBody(), authenticate(credentials), outages.middleware(PROVIDER));
  addExchangePayOrders(router, parts);

  router.post('/payout/transfer', async (ctx) => {
    const order = readOrder(ctx);
    if (order === null) {
      answerFailure(ctx, 400, CODES.malformedRequest, 'A parameter is missing or malformed.');
      return;
    }
    const refusal = checkOrder(order);
    if (refusal === null) answerSubmission(ctx, await transfers.submit(order));
    else answerFailure(ctx, 400, refusal, 'The transfer cannot be made.');
  });

  router.post('/payout/query', async (ctx) => {
    const reference = readText(readBody(ctx), 'merchantTransferId') ?? '';
    const transfer = await transfers.find({
      provider: PROVIDER,
      mode: readBookMode(ctx),
      reference,
    });
    if (transfer === null) {
      answerFailure(ctx, 400, CODES.transferNotFound, 'No such transfer.');
      return;
    }
    answerSuccess(ctx, presentExchangePayTransfer(transfer));
  });

  router.post('/payout/list', async (ctx) => {
    const book = { provider: PROVIDER, mode: readBookMode(ctx) } as const;
    const page = await transfers.list(book, readChangesQuery(ctx));
    if (page === null) {
      answerFailure(ctx, 400, CODES.malformedRequest, 'The cursor is not valid.');
      return;
    }
    const { entries, cursor } = page;
    answerSuccess(ctx, { list: entries.map(presentExchangePayTransfer), cursor });
  });

  return router;
}

function parseBody(): Middleware {
  return bodyParser({
    enableTypes: ['json'],
    onerror: (_error, ctx) => {
      ctx.throw(400, 'malformed body');
    },
  });
}

function authenticate(credentials: CredentialsTable): Middleware {
  const authentication = new RequestAuthentication(credentials);
  return async (ctx, next) => {
    const mode = authentication.authenticate(ctx);
    if (mode === null) {
      answerFailure(ctx, 401, CODES.notAuthentic, 'The signature is not valid.');
      return;
    }
    ctx.state.mode = mode;
    await next();
  };
}

function readOrder(ctx: Context): TransferOrder | null {
  const body = readBody(ctx);
  const reference = readText(body, 'merchantTransferId');
  const currency = readText(body, 'currency');
  const recipientType = readText(body, 'recipientType');
  const recipient = readText(body, 'recipient', 254);
  const amount = normalizeAmount(body.transferAmount);
  if (reference === null || !REFERENCE.test(reference)) return null;
  if (currency === null || recipientType === null || recipient === null || amount === null) {
    return null;
  }
  return {
    provider: PROVIDER,
    mode: readBookMode(ctx),
    reference,
    amount,
    currency,
    network: null,
    destinationType: recipientType,
    destination: recipient,
    memo: null,
  };
}

/** The code of the refusal, or null when the order can be made. */
function checkOrder(order: TransferOrder): string | null {
  if (!RECIPIENT_TYPES.includes(order.destinationType)) return CODES.recipientTypeNotSupported;
  if (!CURRENCIES.includes(order.currency)) return CODES.currencyNotSupported;
  const isExchangeId = order.destinationType === 'exchange_id';
  const isValid = isExchangeId
    ? EXCHANGE_ID.test(order.destination)
    : order.destination.includes('@');
  return isValid ? null : CODES.recipientNotValid;
}

function answerSubmission(ctx: Context, submission: Submission): void {
  switch (submission.kind) {
    case 'transfer':
      answerSuccess(ctx, presentExchangePayTransfer(submission.transfer));
      return;
    case 'refused':
      answerFailure(ctx, 400, CODES.recipientRefused, 'The recipient cannot receive transfers.');
      return;
    case 'conflict':
      answerFailure(ctx, 400, CODES.referenceConflict, 'merchantTransferId has another order.');
      return;
    case 'fault':
      if (submission.fault === 'hang') hang(ctx);
      else if (submission.fault === 'reset') resetConnection(ctx);
      else answerFailure(ctx, 500, CODES.internalError, 'Internal error.');
  }
}
