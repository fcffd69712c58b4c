/** /exports, in addition to the specification (decisions/books#exports). */
import { bind, type Route } from '../../kit/api/routes';
import { EXPORT_OPERATIONS, readExportQuery } from './exports-contract';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { showsPayouts } from '../../domain/bookkeeping';
import { startDownload } from '../../platform/lib/download';
import type { AccountTurns } from '../../kit/service/account-turns';
import type { Balances, Caller } from '../../kit/service/services';
import { requireScope } from '../../kit/api/auth';

export function exportRoutes(balances: Balances, turns: AccountTurns): Route[] {
  return bind(EXPORT_OPERATIONS, {
    exportFile: async (ctx) => {
      const { caller } = ctx.state;
      const request = readExportQuery(ctx.query);
      if (showsPayouts(request.kind)) requireScope(caller, 'payouts:read');
      const file = await balances.exportFile(caller, request);
      ctx.body = await untilSent(turns, caller, () => startDownload(file.content));
      ctx.attachment(file.name);
      ctx.type = file.type;
    },
  });
}

/** A file has its account's turn until it is sent, or its client is gone. */
function untilSent(
  turns: AccountTurns,
  caller: Caller,
  start: () => Promise<Readable>,
): Promise<Readable> {
  return new Promise((resolve, reject) => {
    turns
      .run(caller, async () => {
        const content = await start();
        const closed = once(content, 'close');
        resolve(content);
        await closed;
      })
      .catch(reject);
  });
}
