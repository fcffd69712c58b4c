/**
 * The on-chain provider's HTTP API (docs/onchain-provider.md): REST with a bearer key for each mode,
 * errors as `{error: {code, message}}`, 422 for a definite refusal. The wallet and the sandbox serve
 * it; each decides behind `OnchainProvider`. The gateway's adapter shares no code with it.
 */
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { isSameSecret } from '../../platform/lib/same-secret';
import {
  type AlarmView,
  type CheckoutView,
  presentAlarm,
  presentCheckout,
  presentTransfer,
  presentUnknownTransaction,
  presentWallet,
  type TransferView,
  type UnknownTransactionView,
  type WalletView,
} from './present';
import { HttpRefusal, refusal } from './refusals';
import {
  type ChangesQuery,
  type CheckoutOrder,
  type CheckoutStep,
  type Mode,
  MODES,
  pageOf,
  readChangesQuery,
  readCheckoutOrder,
  readDecision,
  readMode,
  readQuery,
  readTransferOrder,
  type TransferOrder,
} from './requests';

export interface FeeView {
  /** The fee in the transfer's asset. */
  fee: string;
  /** How many decimals an amount of the asset can have on the network. */
  decimals: number;
}

/** Lists return one entry more than the limit when there is another page, the oldest change first. */
export interface OnchainProvider {
  /** Null when the request has been given an answer, or none at all. @throws HttpRefusal */
  submitTransfer(
    order: TransferOrder,
    ctx: Context,
  ): Promise<{ transfer: TransferView; isNew: boolean } | null>;
  findTransfer(mode: Mode, reference: string): Promise<TransferView | null>;
  listTransfers(mode: Mode, query: ChangesQuery): Promise<TransferView[]>;
  /** @throws HttpRefusal */
  estimateFee(mode: Mode, asset: string, network: string): Promise<FeeView> | FeeView;
  /** @throws HttpRefusal */
  openCheckout(order: CheckoutOrder): Promise<{ checkout: CheckoutView; isNew: boolean }>;
  findCheckout(mode: Mode, reference: string): Promise<CheckoutView | null>;
  listCheckouts(mode: Mode, query: ChangesQuery): Promise<CheckoutView[]>;
  /** Null when there is no such checkout. @throws HttpRefusal */
  takeStep(mode: Mode, reference: string, step: CheckoutStep): Promise<CheckoutView | null>;
  /** The alarms that are open on the networks of the mode, oldest first; the newest of very many. */
  listAlarms(mode: Mode): Promise<AlarmView[]> | AlarmView[];
  /** What the addresses that pay transfers have; empty where that means nothing. */
  listWallets(mode: Mode): Promise<WalletView[]> | WalletView[];
  /** Transactions that pay from the provider's own addresses and belong to no order that it has. */
  listUnknownTransactions(mode: Mode): Promise<UnknownTransactionView[]> | UnknownTransactionView[];
  /** Such a transaction has paid this order; nothing is sent. @throws HttpRefusal */
  claimTransaction(order: TransferOrder, txHash: string): Promise<TransferView>;
}

interface OnchainApi {
  prefix: string;
  /** Null where the provider is not available in that mode. */
  credentials: Record<Mode, { apiKey: string } | null>;
  provider: OnchainProvider;
  /** Runs between the authentication and the routes. */
  middleware?: Middleware;
}

export function onchainApi({ prefix, credentials, provider, middleware }: OnchainApi): Router {
  const router = new Router({ prefix });
  router.use(answerErrors, authenticate(credentials));
  // The errors are answered within the middleware too, so that it sees the answer of every request.
  if (middleware !== undefined) router.use(middleware, answerErrors);
  router.use(parseBody);
  addTransfers(router, provider);
  addCheckouts(router, provider);
  addOperation(router, provider);
  return router;
}

function addTransfers(router: Router, provider: OnchainProvider): void {
  router.post('/transfers', async (ctx) => {
    const submission = await provider.submitTransfer(readTransferOrder(ctx), ctx);
    if (submission === null) return;
    ctx.status = submission.isNew ? 201 : 200;
    ctx.body = { transfer: presentTransfer(submission.transfer) };
  });

  router.get('/transfers/:reference', async (ctx) => {
    const transfer = await provider.findTransfer(readMode(ctx), readReference(ctx));
    if (transfer === null) throw refusal('transfer_not_found');
    ctx.body = { transfer: presentTransfer(transfer) };
  });

  router.get('/transfers', async (ctx) => {
    const query = readChangesQuery(ctx);
    const found = await provider.listTransfers(readMode(ctx), query);
    const { entries, nextCursor } = pageOf(found, query.limit);
    ctx.body = { transfers: entries.map(presentTransfer), next_cursor: nextCursor };
  });

  router.get('/fee-estimates', async (ctx) => {
    const asset = readQuery(ctx, 'asset') ?? '';
    const network = readQuery(ctx, 'network') ?? '';
    const { fee, decimals } = await provider.estimateFee(readMode(ctx), asset, network);
    ctx.body = { asset, network, fee, fee_asset: asset, decimals };
  });
}

function addCheckouts(router: Router, provider: OnchainProvider): void {
  const answer = (ctx: Context, checkout: CheckoutView | null): void => {
    if (checkout === null) throw refusal('checkout_not_found');
    ctx.body = { checkout: presentCheckout(checkout) };
  };
  const act = async (ctx: Context, step: CheckoutStep): Promise<void> => {
    answer(ctx, await provider.takeStep(readMode(ctx), readReference(ctx), step));
  };

  router.post('/checkouts', async (ctx) => {
    const { checkout, isNew } = await provider.openCheckout(readCheckoutOrder(ctx));
    ctx.status = isNew ? 201 : 200;
    answer(ctx, checkout);
  });

  router.get('/checkouts/:reference', async (ctx) => {
    answer(ctx, await provider.findCheckout(readMode(ctx), readReference(ctx)));
  });

  router.get('/checkouts', async (ctx) => {
    const query = readChangesQuery(ctx);
    const found = await provider.listCheckouts(readMode(ctx), query);
    const { entries, nextCursor } = pageOf(found, query.limit);
    ctx.body = { checkouts: entries.map(presentCheckout), next_cursor: nextCursor };
  });

  router.post('/checkouts/:reference/cancel', (ctx) => act(ctx, { do: 'cancel' }));
  router.post('/checkouts/:reference/compliance', (ctx) => act(ctx, readDecision(ctx)));
}

function addOperation(router: Router, provider: OnchainProvider): void {
  router.get('/alarms', async (ctx) => {
    ctx.body = { alarms: (await provider.listAlarms(readMode(ctx))).map(presentAlarm) };
  });

  router.get('/wallets', async (ctx) => {
    ctx.body = { wallets: (await provider.listWallets(readMode(ctx))).map(presentWallet) };
  });

  router.get('/unknown-transactions', async (ctx) => {
    const found = await provider.listUnknownTransactions(readMode(ctx));
    ctx.body = { unknown_transactions: found.map(presentUnknownTransaction) };
  });

  router.post('/unknown-transactions/:txHash', async (ctx) => {
    const { txHash = '' } = ctx.params as { txHash?: string };
    const transfer = await provider.claimTransaction(readTransferOrder(ctx), txHash.toLowerCase());
    ctx.body = { transfer: presentTransfer(transfer) };
  });
}

function readReference(ctx: Context): string {
  return (ctx.params as { reference?: string }).reference ?? '';
}

const answerErrors: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    const answered = error instanceof HttpRefusal ? error : refusal('internal_error');
    if (answered !== error) ctx.app.emit('error', error, ctx);
    ctx.status = answered.status;
    ctx.body = { error: { code: answered.code, message: answered.message } };
  }
};

function authenticate(credentials: OnchainApi['credentials']): Middleware {
  return async (ctx, next) => {
    const key = /^Bearer (\S+)$/.exec(ctx.get('authorization'))?.[1] ?? '';
    const mode = MODES.find((one) => {
      const expected = credentials[one]?.apiKey;
      return expected !== undefined && isSameSecret(key, expected);
    });
    if (mode === undefined) {
      throw refusal('unauthorized');
    }
    ctx.state.mode = mode;
    await next();
  };
}

const parseBody: Middleware = bodyParser({
  enableTypes: ['json'],
  onerror: () => {
    throw new HttpRefusal(400, 'malformed_request', 'The body is not valid JSON.');
  },
});
