/** The transfer part of the on-chain provider's API; ../transfers decides. */
import type Router from '@koa/router';
import type { Context } from 'koa';
import { lastFourDecimals, normalizeAmount } from '../decimal-text';
import { hang, readBookMode, resetConnection } from '../outages';
import { readBody, readObject, readText, REFERENCE } from '../request';
import type { TransferOrder } from '../transfers/book';
import type { Submission, Transfers } from '../transfers/transfers';
import {
  answerBadQuery,
  answerError,
  answerMalformed,
  presentOnchainTransfer,
  readChangesQuery,
  readQuery,
} from './answers';

const PROVIDER = 'onchain_provider';

/**
 * The network fee of each pair that the provider sends, in the transfer's own currency. Fixed, so
 * that a test can state a total exactly.
 */
const FEE_ESTIMATES: Readonly<Record<string, string>> = {
  'USDT/ethereum': '4.00',
  'USDT/tron': '1.00',
  'USDC/ethereum': '4.00',
  'USDC/tron': '1.00',
  'USDC/base': '0.05',
  'ETH/ethereum': '0.001',
  'BTC/bitcoin': '0.00002',
  'XRP/xrpl': '0.0001',
};

/** Null for a pair that the provider does not send. */
export function findFeeEstimate(asset: string, network: string): string | null {
  const pair = `${asset}/${network}`;
  return Object.hasOwn(FEE_ESTIMATES, pair) ? (FEE_ESTIMATES[pair] ?? null) : null;
}

/**
 * Stands for an amount with more decimals than its asset has on the network. By a magic code, as a
 * scenario is: a true limit of 6 decimals would leave no room for the codes.
 */
const NOT_REPRESENTABLE = '9101';

export function isRepresentable(amount: string): boolean {
  return lastFourDecimals(amount) !== NOT_REPRESENTABLE;
}

export function answerNotRepresentable(ctx: Context): void {
  const message = 'The amount has more decimals than the asset on this network.';
  answerError(ctx, 422, 'amount_not_representable', message);
}

export function addOnchainTransfers(router: Router, transfers: Transfers): void {
  router.post('/transfers', async (ctx) => {
    const order = readOrder(ctx);
    if (order === null) {
      answerMalformed(ctx);
    } else if (findFeeEstimate(order.currency, order.network ?? '') === null) {
      answerError(ctx, 422, 'asset_not_supported', 'The asset is not supported on this network.');
    } else if (!isRepresentable(order.amount)) {
      answerNotRepresentable(ctx);
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
      answerError(ctx, 422, 'asset_not_supported', 'The asset is not supported on this network.');
      return;
    }
    ctx.body = { asset, network, fee, fee_asset: asset };
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
      answerError(
        ctx,
        409,
        'client_reference_conflict',
        'The client reference belongs to a different order.',
      );
      return;
    case 'fault':
      if (submission.fault === 'hang') hang(ctx);
      else if (submission.fault === 'reset') resetConnection(ctx);
      else answerError(ctx, 500, 'internal_error', 'Internal error.');
  }
}
