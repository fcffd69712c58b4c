/** /exports, in addition to the specification (decisions/exports). */
import type Router from '@koa/router';
import { showsPayouts } from '../../domain/bookkeeping';
import { startDownload } from '../../lib/download';
import { readExportQuery } from '../../schemas/exports';
import type { Balances } from '../../services/services';
import type { GatewayState } from '../context';
import { type Auth, requireScope } from '../middleware/auth';

export function exportRoutes(router: Router<GatewayState>, auth: Auth, balances: Balances): void {
  router.get('/exports', auth('payments:read'), async (ctx) => {
    const { caller } = ctx.state;
    const request = readExportQuery(ctx.query);
    if (showsPayouts(request.kind)) requireScope(caller, 'payouts:read');
    const file = await balances.exportFile(caller, request);
    const content = await startDownload(file.content);
    ctx.attachment(file.name);
    ctx.type = file.type;
    ctx.body = content;
  });
}
