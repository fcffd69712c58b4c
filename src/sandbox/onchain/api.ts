/**
 * The on-chain provider's HTTP API: REST, a bearer key, errors as `{error: {code, message}}`,
 * 422 for a definite refusal. The decisions are made in ../transfers and ../checkouts.
 */
import Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Checkouts } from '../checkouts/checkouts';
import { BOOK_MODES, type CredentialsTable, type SandboxSettings } from '../config';
import type { Outages } from '../outages';
import { isSameSecret, parseBody } from '../request';
import type { Transfers } from '../transfers/transfers';
import { answerError } from './answers';
import { addOnchainCheckouts } from './checkouts';
import { addOnchainTransfers } from './transfers';

const PROVIDER = 'onchain_provider';

interface OnchainApiParts {
  transfers: Transfers;
  checkouts: Checkouts;
  credentials: CredentialsTable;
  outages: Outages;
  settings: SandboxSettings;
}

export function onchainApi(parts: OnchainApiParts): Router {
  const { transfers, checkouts, credentials, outages, settings } = parts;
  const router = new Router({ prefix: '/onchain/v1' });
  router.use(authenticate(credentials), outages.middleware(PROVIDER), parseBody());
  addOnchainCheckouts(router, checkouts, settings);
  addOnchainTransfers(router, transfers);
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
      answerError(ctx, 401, 'unauthorized', 'The API key is missing or invalid.');
      return;
    }
    ctx.state.mode = mode;
    await next();
  };
}
