/** /request_logs, in addition to the specification (decisions/api#request-log). */
import type Router from '@koa/router';
import { presentOne } from '../../presenters/envelope';
import { presentRequest } from '../../presenters/request-log';
import { readRequestLogQuery } from '../../schemas/request-logs';
import type { RequestLogs } from '../../services/request-logs';
import { type GatewayState, pathId } from '../context';
import type { Auth } from '../middleware/auth';
import { noQuery } from '../middleware/query';
import { listPage, type Pagination } from '../pagination';

export function requestLogRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  requestLogs: RequestLogs,
  pagination: Pagination,
): void {
  router.get(
    '/request_logs',
    auth('request_logs:read'),
    listPage(
      pagination,
      readRequestLogQuery,
      (caller, query) => requestLogs.list(caller, query),
      presentRequest,
    ),
  );

  router.get('/request_logs/:id', auth('request_logs:read'), noQuery, async (ctx) => {
    const request = await requestLogs.get(ctx.state.caller, pathId('request', ctx));
    ctx.body = presentOne(presentRequest(request));
  });
}
