/** The transfer part of Exchange Pay's API; ../transfers decides. */
import type Router from '@koa/router';
import type { Context } from 'koa';
import { normalizeAmount } from '../decimal-text';
import { hang, readBookMode, resetConnection } from '../outages';
import { readBody, readText, REFERENCE } from '../request';
import type { TransferOrder } from '../transfers/book';
import type { Submission, Transfers } from '../transfers/transfers';
import {
  answerFailure,
  answerList,
  answerMalformed,
  answerSuccess,
  CODES,
  CURRENCIES,
  presentExchangePayTransfer,
} from './answers';

const PROVIDER = 'exchange_pay';
const RECIPIENT_TYPES = ['exchange_id', 'email'];
const EXCHANGE_ID = /^[0-9]{1,20}$/;

export function addExchangePayTransfers(router: Router, transfers: Transfers): void {
  router.post('/payout/transfer', async (ctx) => {
    const order = readOrder(ctx);
    if (order === null) {
      answerMalformed(ctx);
      return;
    }
    const refusal = checkOrder(order);
    if (refusal === null) answerSubmission(ctx, await transfers.submit(order));
    else answerFailure(ctx, 400, refusal, 'The transfer is not supported.');
  });

  router.post('/payout/query', async (ctx) => {
    const reference = readText(readBody(ctx), 'merchantTransferId') ?? '';
    const transfer = await transfers.find({
      provider: PROVIDER,
      mode: readBookMode(ctx),
      reference,
    });
    if (transfer === null) {
      answerFailure(ctx, 400, CODES.transferNotFound, 'Transfer not found.');
      return;
    }
    answerSuccess(ctx, presentExchangePayTransfer(transfer));
  });

  router.post('/payout/list', async (ctx) => {
    const book = { provider: PROVIDER, mode: readBookMode(ctx) } as const;
    await answerList(ctx, (query) => transfers.list(book, query), presentExchangePayTransfer);
  });
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
      answerFailure(
        ctx,
        400,
        CODES.referenceConflict,
        'merchantTransferId belongs to a different transfer.',
      );
      return;
    case 'fault':
      if (submission.fault === 'hang') hang(ctx);
      else if (submission.fault === 'reset') resetConnection(ctx);
      else answerFailure(ctx, 500, CODES.internalError, 'Internal error.');
  }
}
