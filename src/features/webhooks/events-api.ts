/**
 * /events: the list and the feed, in addition to the specification (decisions/webhooks#events-list,
 * decisions/webhooks#events-feed and decisions/webhooks#long-poll).
 */
import { bind, type Route } from '../../kit/api/routes';
import { EVENT_OPERATIONS, LATEST, OLDEST, readEventQuery, refuseMixed } from './events-contract';
import { presentOne } from '../../kit/service/envelope';
import type { Events, FeedRequest, ListPosition } from '../../kit/service/services';
import { pathId, routePattern } from '../../kit/api/context';
import type { Pagination } from '../../kit/api/pagination';

export function eventRoutes(events: Events, pagination: Pagination): Route[] {
  return bind(EVENT_OPERATIONS, {
    listEvents: async (ctx) => {
      const { caller } = ctx.state;
      const query = readEventQuery(ctx.query);
      const { limit, filters, times } = query;
      const request = { caller, path: routePattern(ctx), filters: query.filterTexts, limit };
      const position = pagination.readCursor(request, query.cursor);
      const start = feedStart(query.after, position);
      refuseMixed(query, start !== null);
      if (start === null) {
        const wanted = { limit, filters: { ...filters, ...times }, after: position };
        const { items, next } = await events.list(caller, wanted);
        ctx.body = pagination.present(request, items.map(bodyOf), next);
        return;
      }
      const gone = new AbortController();
      ctx.res.once('close', () => gone.abort());
      const { waitSeconds = 0 } = query;
      const { bodies, next } = await events.feed(
        caller,
        { limit, filters, start, waitSeconds },
        gone.signal,
      );
      const data = bodies.map((body) => bodyOf({ body }));
      // The feed is ordered by position, where other lists are ordered by time.
      ctx.body = pagination.present(request, data, { createdAt: next.position, id: next.id });
    },

    getEvent: async (ctx) => {
      const body = await events.get(ctx.state.caller, pathId('event', ctx));
      ctx.body = presentOne(bodyOf({ body }));
    },
  });
}

/** A position of the feed is a number, and a position of a list is a time. */
const FEED_POSITION = /^[0-9]+$/;

/** The start of the feed, or null when the request is for the list. */
function feedStart(
  after: string | undefined,
  cursor: ListPosition | null,
): FeedRequest['start'] | null {
  if (after === LATEST || after === OLDEST) return after;
  if (after !== undefined) return { eventId: after };
  if (cursor === null || !FEED_POSITION.test(cursor.createdAt)) return null;
  return { position: cursor.createdAt, id: cursor.id };
}

function bodyOf({ body }: { body: Buffer }): object {
  return JSON.parse(body.toString()) as object;
}
