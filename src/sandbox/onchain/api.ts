/**
 * The on-chain provider's HTTP API: REST, a bearer key, errors as `{error: {code, message}}`,
 * 422 for a definite refusal. What it decides lies in ../transfers.ts and ../checkouts.
 */
import Router from '@koa/router';
import bodyParser from 'koa-bodyparser';
import type { Context, Middleware } from 'koa';
import type { TransferOrder } from '../book';
import { BOOK_MODES, type CredentialsTable } from '../config';
import { normalizeAmount } from '../decimal-text';
import { hang, readBookMode, resetConnection, type Outages } from '../disturbances';
import { findFeeEstimate } from '../fee-estimates';
import { readBody, readObject, readText } from '../request-body';
import { isSameSecret } from '../secret-text';
import type { Submission, Transfers } from '../transfers';
import { answerError } from './answers';
import { answerBadQuery, readChangesQuery, readQuery } from './changes-query';
import { addOnchainCheckouts, type CheckoutParts } from './checkout-api';
import { presentOnchainTransfer } from './presenter';

const PROVIDER = 'onchain_provider';
const REFERENCE = /^[A-Za-z0-9_-]{1,64}$/;

interface OnchainApiParts extends CheckoutParts {
  transfers: Transfers;
  credentials: CredentialsTable;
  outages: Outages;
}

export function onchainApi(parts: OnchainApiParts): Router {
  const { transfers, credentials, outages } = parts;
  const router = new Router({ prefix: '/onchain/v1' });
  router.use(authenticate(credentials), outages.middleware(PROVIDER), parseBody());
  addOnchainCheckouts(router, parts);

  router.post('/transfers', async (ctx) => {
    const order = readOrder(ctx);
    if (order === null) {
      answerError(ctx, 400, 'malformed_request', 'A member is missing or has a wrong form.');
    } else if (findFeeEstimate(order.currency, order.network ?? '') === null) {
      answerError(ctx, 422, 'asset_not_supported', 'The asset is not sent on this network.');
    } else {
      answerSubmission(ctx, await transfers.submit(order));
    }
  });

  router.get('/transfers/:reference', async (ctx) => {
    const reference = ctx.params.reference ?? '';
    const transfer = await transfers.find({
      provider: PROVIDER,
      mode: readBookMode(ctx),
      reference,
    });
    if (transfer === null) {
      answerError(ctx, 404, 'transfer_not_found', 'No transfer has this client reference.');
      return;
    }
    ctx.body = { transfer: presentOnchainTransfer(transfer) };
  });

  router.get('/transfers', async (ctx) => {
    const query = readChangesQuery(ctx);
    const book = { provider: PROVIDER, mode: readBookMode(ctx) } as const;
    const page = query === null ? null : await transfers.list(book, query);
    if (page === null) answerBadQuery(ctx);
    else {
      const { entries, cursor } = page;
      ctx.body = { transfers: entries.map(presentOnchainTransfer), next_cursor: cursor };
    }
  });

  router.get('/fee-estimates', (ctx) => {
    const asset = readQuery(ctx, 'asset') ?? '';
    const network = readQuery(ctx, 'network') ?? '';
    const fee = findFeeEstimate(asset, network);
    if (fee === null) {
      answerError(ctx, 422, 'asset_not_supported', 'The asset is not sent on this network.');
      return;
    }
    ctx.body = { asset, network, fee, fee_asset: asset };
  });

  return router;
}

function authenticate(credentials: CredentialsTable): Middleware {
  return async (ctx, next) => {
    const key = /^Bearer (\S+)$/.exec(ctx.get('authorization'))?.[1] ?? '';
    const mode = BOOK_MODES.find((one) => {
      const expected = credentials[PROVIDER][one]?.apiKey;
      return expected !== undefined && isSameSecret(key, expected);
    });
    if (mode === undefined) {
      answerError(ctx, 401, 'unauthorized', 'The API key is missing or not known.');
      return;
    }
    ctx.state.mode = mode;
    await next();
  };
}

function parseBody(): Middleware {
  return bodyParser({
    enableTypes: ['json'],
    onerror: (_error, ctx) => {
      ctx.throw(400, 'malformed body');
    },
  });
}

function readOrder(ctx: Context): TransferOrder | null {
  const body = readBody(ctx);
  const destination = readObject(body, 'destination');
  const reference = readText(body, 'client_reference');
  const currency = readText(body, 'asset');
  const network = readText(body, 'network');
  const address = readText(destination, 'address');
  const amount = normalizeAmount(body.amount);
  const memo = readText(destination, 'memo');
  if (reference === null || !REFERENCE.test(reference)) return null;
  if (currency === null || network === null || address === null || amount === null) return null;
  return {
    provider: PROVIDER,
    mode: readBookMode(ctx),
    reference,
    amount,
    currency,
    network,
    destinationType: 'crypto_address',
    destination: address,
    memo,
  };
}

function answerSubmission(ctx: Context, submission: Submission): void {
  switch (submission.kind) {
    case 'transfer':
      ctx.status = submission.isNew ? 201 : 200;
      ctx.body = { transfer: presentOnchainTransfer(submission.transfer) };
      return;
    case 'refused':
      answerError(ctx, 422, 'destination_refused', 'Transfers to this destination are refused.');
      return;
    case 'conflict':
      answerError(ctx, 409, 'client_reference_conflict', 'The reference has another order.');
      return;
    case 'fault':
      if (submission.fault === 'hang') hang(ctx);
      else if (submission.fault === 'reset') resetConnection(ctx);
      else answerError(ctx, 500, 'internal_error', 'Something went wrong.');
  }
}
