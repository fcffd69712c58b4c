/** /request_logs, in addition to the specification (decisions/api#request-log). */
import { bind, type Route } from '../../kit/api/routes';
import {
  presentRequest,
  readRequestLogQuery,
  REQUEST_LOG_OPERATIONS,
} from './request-logs-contract';
import { presentOne } from '../../kit/service/envelope';
import type { RequestLogs } from './request-logs';
import { pathId } from '../../kit/api/context';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function requestLogRoutes(requestLogs: RequestLogs, pagination: Pagination): Route[] {
  return bind(REQUEST_LOG_OPERATIONS, {
    listRequestLogs: listPage(
      pagination,
      readRequestLogQuery,
      (caller, query) => requestLogs.list(caller, query),
      presentRequest,
    ),

    getRequestLog: async (ctx) => {
      const request = await requestLogs.get(ctx.state.caller, pathId('request', ctx));
      ctx.body = presentOne(presentRequest(request));
    },
  });
}
