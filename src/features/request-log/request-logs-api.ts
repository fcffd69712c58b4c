/** /request_logs, in addition to the specification (decisions/api#request-log). */
import type Router from '@koa/router';
import { presentOne } from '../../kit/service/envelope';
import { presentRequest } from './request-logs-contract';
import { readRequestLogQuery } from './request-logs-contract';
import type { RequestLogs } from './request-logs';
import { type GatewayState, pathId } from '../../kit/api/context';
import type { Auth } from '../../kit/api/auth';
import { noQuery } from '../../kit/api/no-query';
import { listPage, type Pagination } from '../../kit/api/pagination';

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
