/** Reads the log of API requests for the API. request-log.ts writes it. */
import {
  findRequest,
  listRequests,
  type LoggedRequest,
  type RequestFilters,
} from '../../db/request-log/request-log';
import type { Db } from '../../db/transaction';
import { ApiError } from '../../domain/errors';
import type { Caller, ListPosition, Page } from '../../kit/service/services';

export interface RequestLogQuery {
  limit: number;
  after: ListPosition | null;
  filters: Omit<RequestFilters, 'status' | 'statusClass'> & {
    /** `422` or `4xx` */
    status?: string;
  };
}

export interface RequestLogs {
  list(caller: Caller, query: RequestLogQuery): Promise<Page<LoggedRequest>>;
  /** @throws ApiError not_found */
  get(caller: Caller, id: string): Promise<LoggedRequest>;
}

export function createRequestLogs({ db }: { db: Db }): RequestLogs {
  return {
    list: ({ accountId, mode }, { filters: { status, ...filters }, ...query }) =>
      listRequests(db, {
        accountId,
        mode,
        ...query,
        filters: { ...filters, ...(status === undefined ? {} : statusOf(status)) },
      }),
    async get({ accountId, mode }, id) {
      const found = await findRequest(db, { accountId, mode, id });
      if (found === null) {
        throw new ApiError({ code: 'not_found', details: { resource: 'request' } });
      }
      return found;
    },
  };
}

const CLASSES: Record<string, number> = { 1: 1, 2: 2, 3: 3, 4: 4, 5: 5 };

function statusOf(text: string): Pick<RequestFilters, 'status' | 'statusClass'> {
  const statusClass = CLASSES[text.charAt(0)] ?? 0;
  return text.endsWith('xx') ? { statusClass } : { statusClass, status: text };
}
