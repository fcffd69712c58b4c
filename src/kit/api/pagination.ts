/**
 * Keyset pagination (decisions/api#lists). A cursor is opaque to clients: the position after which the
 * next page starts, signed together with the account, the mode and the filters of the list.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type FieldError, validationFailed } from '../../domain/errors';
import type { ListQuery, Query } from './query';
import type { Caller, ListPosition, Page } from '../service/services';
import { type GatewayContext, type GatewayMiddleware, routePattern } from './context';

/** One list request of one caller. */
export interface ListRequest {
  caller: Caller;
  /** `/api/v1/payouts` */
  path: string;
  /** The filters as they were sent, without limit and cursor, in the order of the link. */
  filters: Readonly<Record<string, string>>;
  limit: number;
}

export interface Pagination {
  /** @throws ApiError validation_failed when the cursor belongs to another list */
  readCursor(list: ListRequest, cursor: string | undefined): ListPosition | null;
  /** The list envelope (the specification, "Conventions"). */
  present(list: ListRequest, data: object[], next: ListPosition | null): object;
}

/**
 * The handler of a list: reads the query, asks for a page and presents it.
 * @param read throws validation_failed with every failing parameter
 */
export function listPage<Filters, Item>(
  pagination: Pagination,
  read: (query: Query) => ListQuery & { filters: Filters },
  list: (
    caller: Caller,
    query: { limit: number; after: ListPosition | null; filters: Filters },
  ) => Promise<Page<Item>>,
  present: (item: Item) => object,
): GatewayMiddleware {
  return async (ctx) => {
    const { caller } = ctx.state;
    const { limit, filters, filterTexts, cursor } = read(ctx.query);
    const request = { caller, path: listPath(ctx), filters: filterTexts, limit };
    const after = pagination.readCursor(request, cursor);
    const page = await list(caller, { limit, after, filters });
    ctx.body = pagination.present(request, page.items.map(present), page.next);
  };
}

/** The path of the list as it was sent. */
function listPath(ctx: GatewayContext): string {
  const { id = '' } = ctx.params as { id?: string };
  return routePattern(ctx).replace(':id', id);
}

const TAG_BYTES = 16;

/** @param earlierSecrets secrets whose cursors are still accepted */
export function createPagination(
  publicUrl: string,
  cursorSecret: string,
  earlierSecrets: readonly string[] = [],
): Pagination {
  const base = publicUrl.replace(/\/+$/, '');

  function tag(list: ListRequest, position: string, secret = cursorSecret): Buffer {
    const { accountId, mode } = list.caller;
    const filters = Object.entries(list.filters).sort(([a], [b]) => (a < b ? -1 : 1));
    return createHmac('sha256', secret)
      .update(JSON.stringify([list.path, accountId, mode, filters, position]))
      .digest()
      .subarray(0, TAG_BYTES);
  }

  function makeCursor(list: ListRequest, { createdAt, id }: ListPosition): string {
    const position = JSON.stringify([createdAt, id]);
    return Buffer.concat([tag(list, position), Buffer.from(position)]).toString('base64url');
  }

  return {
    readCursor(list, cursor) {
      if (cursor === undefined) return null;
      const bytes = Buffer.from(cursor, 'base64url');
      const position = bytes.subarray(TAG_BYTES).toString();
      const given = bytes.subarray(0, TAG_BYTES);
      // Decoding is lenient, so a cursor must equal the one that we would encode.
      const isOurs =
        bytes.toString('base64url') === cursor &&
        given.length === TAG_BYTES &&
        [cursorSecret, ...earlierSecrets].some((secret) =>
          timingSafeEqual(given, tag(list, position, secret)),
        );
      if (!isOurs) throw validationFailed([FOREIGN_CURSOR]);
      const [createdAt, id] = JSON.parse(position) as [string, string];
      return { createdAt, id };
    },

    present(list, data, next) {
      const cursor = next === null ? null : makeCursor(list, next);
      return {
        data,
        links: {
          first: null,
          last: null,
          prev: null,
          next: cursor === null ? null : base + list.path + query(list, cursor),
        },
        meta: {
          path: base + list.path,
          per_page: list.limit,
          next_cursor: cursor,
          prev_cursor: null,
        },
      };
    },
  };
}

const FOREIGN_CURSOR: FieldError = {
  field: 'cursor',
  rule: 'format',
  message:
    'Send cursor as meta.next_cursor of the previous page, with the same filters and API key.',
};

function query({ filters, limit }: ListRequest, cursor: string): string {
  return `?${new URLSearchParams({ ...filters, limit: String(limit), cursor }).toString()}`;
}
