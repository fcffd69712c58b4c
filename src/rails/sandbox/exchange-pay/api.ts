/**
 * Exchange Pay's HTTP API: everything is a signed POST, and every answer an envelope
 * `{status, code, data, errorMessage}`. The decisions are made in ../transfers and ../checkouts.
 */
import Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Checkouts } from '../checkouts/checkouts';
import type { CredentialsTable, SandboxSettings } from '../config';
import type { Outages } from '../outages';
import { parseBody } from '../request';
import type { Transfers } from '../transfers/transfers';
import { answerFailure, answerMalformed, CODES } from './answers';
import { RequestAuthentication } from './authenticate';
import { addExchangePayOrders } from './orders';
import { addExchangePayTransfers } from './transfers';

interface ExchangePayApiParts {
  transfers: Transfers;
  checkouts: Checkouts;
  credentials: CredentialsTable;
  outages: Outages;
  settings: SandboxSettings;
}

export function exchangePayApi(parts: ExchangePayApiParts): Router {
  const { transfers, checkouts, credentials, outages, settings } = parts;
  const router = new Router({ prefix: '/exchange-pay/openapi/v1' });
  router.use(parseBody(), authenticate(credentials), outages.middleware('exchange_pay'));
  router.use(answerMalformed);
  addExchangePayOrders(router, checkouts, settings);
  addExchangePayTransfers(router, transfers);
  return router;
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
