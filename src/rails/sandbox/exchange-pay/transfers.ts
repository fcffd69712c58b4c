/** The transfer part of Exchange Pay's API; ../transfers decides. */
import type Router from '@koa/router';
import type { Context } from 'koa';
import { Type } from 'typebox';
import {
  BeneficiaryBody,
  OBJECT,
  PositiveAmount,
  Reference,
  Text,
  toAmount,
} from '../../onchain-api/requests';
import { hang, readBookMode, resetConnection } from '../outages';
import { readBody, readText } from '../request';
import type { TransferOrder } from '../transfers/book';
import type { Submission, Transfers } from '../transfers/transfers';
import {
  answerFailure,
  answerList,
  answerSuccess,
  checkBody,
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

const TransferBody = Type.Object(
  {
    merchantTransferId: Reference,
    currency: Text,
    recipientType: Text,
    recipient: Type.String({
      minLength: 1,
      maxLength: 254,
      description: 'must be a text of 1 to 254 characters',
    }),
    transferAmount: PositiveAmount,
    beneficiary: Type.Optional(BeneficiaryBody),
  },
  OBJECT,
);

function readOrder(ctx: Context): TransferOrder {
  const body = checkBody(ctx, TransferBody);
  return {
    provider: PROVIDER,
    mode: readBookMode(ctx),
    reference: body.merchantTransferId,
    amount: toAmount(body.transferAmount),
    currency: body.currency,
    network: null,
    destinationType: body.recipientType,
    destination: body.recipient,
    memo: null,
    beneficiary: body.beneficiary ?? null,
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
