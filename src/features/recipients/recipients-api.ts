/** /recipients. */
import { bind, type Route, withBody } from '../../kit/api/routes';
import {
  presentRecipient,
  readRecipientChange,
  readRecipientQuery,
  readRecipientRequest,
  RECIPIENT_OPERATIONS,
} from './recipients-contract';
import { presentOne } from '../../kit/service/envelope';
import type { Recipients } from './recipients';
import { changedBy, pathId } from '../../kit/api/context';
import { validate } from '../../kit/api/validate';
import { writeStored } from '../../kit/api/idempotency-key';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function recipientRoutes(recipients: Recipients, pagination: Pagination): Route[] {
  return bind(RECIPIENT_OPERATIONS, {
    createRecipient: withBody(validate(readRecipientRequest), async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      const input = { idempotencyKey, request };
      writeStored(ctx, await recipients.create(caller, changedBy(ctx.state), input));
    }),

    listRecipients: listPage(
      pagination,
      readRecipientQuery,
      (caller, query) => recipients.list(caller, query),
      presentRecipient,
    ),

    getRecipient: async (ctx) => {
      const recipient = await recipients.get(ctx.state.caller, pathId('recipient', ctx));
      ctx.body = presentOne(presentRecipient(recipient));
    },

    updateRecipient: withBody(validate(readRecipientChange), async (ctx) => {
      const { caller, request } = ctx.state;
      const id = pathId('recipient', ctx);
      const recipient = await recipients.update(caller, changedBy(ctx.state), id, request);
      ctx.body = presentOne(presentRecipient(recipient));
    }),

    deleteRecipient: async (ctx) => {
      const { caller } = ctx.state;
      const id = pathId('recipient', ctx);
      ctx.body = presentOne(
        presentRecipient(await recipients.remove(caller, changedBy(ctx.state), id)),
      );
    },
  });
}
