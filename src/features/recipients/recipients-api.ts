/** /recipients. */
import type Router from '@koa/router';
import { presentOne } from '../../kit/service/envelope';
import { presentRecipient } from './recipients-contract';
import {
  readRecipientChange,
  readRecipientQuery,
  readRecipientRequest,
} from './recipients-contract';
import type { Recipients } from './recipients';
import { changedBy, type GatewayState, pathId } from '../../kit/api/context';
import type { Auth } from '../../kit/api/auth';
import { validate } from '../../kit/api/validate';
import { idempotent, writeStored } from '../../kit/api/idempotency-key';
import { noQuery } from '../../kit/api/no-query';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function recipientRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  recipients: Recipients,
  pagination: Pagination,
): void {
  router.post(
    '/recipients',
    auth('recipients:write'),
    validate(readRecipientRequest),
    noQuery,
    idempotent(),
    async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      const input = { idempotencyKey, request };
      writeStored(ctx, await recipients.create(caller, changedBy(ctx.state), input));
    },
  );

  router.get(
    '/recipients',
    auth('recipients:read'),
    listPage(
      pagination,
      readRecipientQuery,
      (caller, query) => recipients.list(caller, query),
      presentRecipient,
    ),
  );

  router.get('/recipients/:id', auth('recipients:read'), noQuery, async (ctx) => {
    const recipient = await recipients.get(ctx.state.caller, pathId('recipient', ctx));
    ctx.body = presentOne(presentRecipient(recipient));
  });

  router.patch(
    '/recipients/:id',
    auth('recipients:write'),
    validate(readRecipientChange),
    noQuery,
    async (ctx) => {
      const { caller, request } = ctx.state;
      const id = pathId('recipient', ctx);
      const recipient = await recipients.update(caller, changedBy(ctx.state), id, request);
      ctx.body = presentOne(presentRecipient(recipient));
    },
  );

  router.delete('/recipients/:id', auth('recipients:write'), noQuery, async (ctx) => {
    const { caller } = ctx.state;
    const id = pathId('recipient', ctx);
    ctx.body = presentOne(
      presentRecipient(await recipients.remove(caller, changedBy(ctx.state), id)),
    );
  });
}
