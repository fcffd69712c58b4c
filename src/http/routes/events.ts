/** /events: the feed, in addition to the specification (decisions E1 to E3). */
import type Router from '@koa/router';
import { LATEST, readEventQuery } from '../../schemas/events';
import type { EventQuery, Events } from '../../services/services';
import { type GatewayState, routePattern } from '../context';
import type { Auth } from '../middleware/auth';
import type { Pagination } from '../pagination';

export function eventRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  events: Events,
  pagination: Pagination,
): void {
  router.get('/events', auth('events:read'), async (ctx) => {
    const { caller } = ctx.state;
    const { limit, filters, filterTexts, cursor, after, waitSeconds } = readEventQuery(ctx.query);
    const request = { caller, path: routePattern(ctx), filters: filterTexts, limit };
    const read = pagination.readCursor(request, cursor);
    const start = read === null ? startAfter(after) : { position: read.createdAt, id: read.id };
    const gone = new AbortController();
    ctx.res.once('close', () => gone.abort());
    const query = { limit, filters, start, waitSeconds };
    const { bodies, next } = await events.list(caller, query, gone.signal);
    const data = bodies.map((body) => JSON.parse(body.toString()) as object);
    // The feed is ordered by position, where other lists are ordered by time.
    ctx.body = pagination.present(request, data, { createdAt: next.position, id: next.id });
  });
}

function startAfter(after: string | null): EventQuery['start'] {
  if (after === null) return 'oldest';
  return after === LATEST ? LATEST : { eventId: after };
}
