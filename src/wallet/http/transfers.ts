/** The transfer part of the API; ../sender/transfers decides. */
import type Router from '@koa/router';
import type { Context } from 'koa';
import { parseRequestAmount } from '../../domain/money';
import type { Chain } from '../chain/chain';
import type { Database } from '../db/database';
import { estimateFee } from '../sender/fee-estimate';
import {
  findTransfer,
  listTransfers,
  type OrderRules,
  presentTransfer,
  REFUSALS,
  submitTransfer,
  type Transfer,
  type TransferOrder,
} from '../sender/transfers';
import {
  HttpRefusal,
  isJsonObject,
  malformed,
  pageOf,
  readBody,
  readChangesQuery,
  readMember,
  readMode,
  readQuery,
  readReference,
  readText,
} from './answers';

interface TransferRoutes {
  db: Database;
  chains: readonly Chain[];
  rules: OrderRules;
  /** A new transfer is in the database. */
  onQueued: (transfer: Transfer) => void;
}

export function addTransfers(
  router: Router,
  { db, chains, rules, onQueued }: TransferRoutes,
): void {
  router.post('/transfers', async (ctx) => {
    const submission = await submitTransfer(db, rules, readOrder(ctx));
    if (submission.kind === 'refused') {
      throw new HttpRefusal(422, submission.code, REFUSALS[submission.code]);
    }
    if (submission.kind === 'conflict') {
      const message = 'The client reference belongs to a different order.';
      throw new HttpRefusal(409, 'client_reference_conflict', message);
    }
    if (submission.isNew) onQueued(submission.transfer);
    ctx.status = submission.isNew ? 201 : 200;
    ctx.body = { transfer: presentTransfer(submission.transfer) };
  });

  router.get('/transfers/:reference', async (ctx) => {
    const transfer = await findTransfer(db, readMode(ctx), ctx.params.reference ?? '');
    if (transfer === null) {
      throw new HttpRefusal(404, 'transfer_not_found', 'No transfer has this client reference.');
    }
    ctx.body = { transfer: presentTransfer(transfer) };
  });

  router.get('/transfers', async (ctx) => {
    const query = readChangesQuery(ctx);
    const found = await listTransfers(db, readMode(ctx), query);
    const { entries, nextCursor } = pageOf(found, query.limit);
    ctx.body = { transfers: entries.map(presentTransfer), next_cursor: nextCursor };
  });

  router.get('/fee-estimates', async (ctx) => {
    const asset = readQuery(ctx, 'asset') ?? '';
    const network = readQuery(ctx, 'network') ?? '';
    const mode = readMode(ctx);
    const chain = chains.find((one) => one.network.mode === mode && one.network.name === network);
    const estimate = chain === undefined ? null : await estimateFee(chain, asset);
    if (estimate === null) {
      throw new HttpRefusal(422, 'asset_not_supported', REFUSALS.asset_not_supported);
    }
    if (estimate === 'no_price') {
      const message = `No price of the native coin is configured in ${asset}.`;
      throw new HttpRefusal(503, 'price_not_configured', message);
    }
    ctx.body = { asset, network, fee: estimate, fee_asset: asset };
  });
}

function readOrder(ctx: Context): TransferOrder {
  const body = readBody(ctx);
  const amountText = readMember(body, 'amount');
  const amount = typeof amountText === 'string' ? parseRequestAmount(amountText) : null;
  if (amount === null) {
    throw malformed('amount', 'must be a positive decimal number as text with at most 8 decimals');
  }
  const destination = readMember(body, 'destination');
  if (!isJsonObject(destination)) throw malformed('destination', 'must be a JSON object');
  const memo = readMember(destination, 'memo') ?? null;
  return {
    mode: readMode(ctx),
    reference: readReference(body, 'client_reference'),
    asset: readText(body, 'asset'),
    network: readText(body, 'network'),
    amount,
    destination: readText(destination, 'address'),
    memo: memo === null ? null : readText(destination, 'memo'),
  };
}
