/**
 * The list and the feed of an account's events in one mode (decisions/webhooks#events-list, decisions/webhooks#events-feed
 * and decisions/webhooks#long-poll). Reads never use Temporal.
 */
import { findEventBody, listEvents } from '../../db/webhooks/event-list';
import {
  type FeedEvent,
  type FeedPosition,
  type FeedQuery,
  findFeedPosition,
  findOldestPosition,
  readFeed,
  readFrontier,
} from '../../db/webhooks/events-feed';
import type { Db } from '../../db/transaction';
import { ApiError, validationFailed } from '../../domain/errors';
import { SUBSCRIBABLE_EVENTS } from '../../domain/events';
import { createEventWaits } from './event-waits';
import type { Caller, Events, FeedPage, FeedRequest } from '../../kit/service/services';

const FIRST: FeedPosition = { position: '0', id: '' };

export function createEvents({ db }: { db: Db }): Events {
  const waits = createEventWaits(db);

  async function startOf(caller: Caller, start: FeedRequest['start']): Promise<FeedPosition> {
    if (start === 'oldest') return FIRST;
    if (start === 'latest') return { position: await readFrontier(db), id: '' };
    if ('position' in start) return start;
    const found = await findFeedPosition(db, { ...caller, id: start.eventId });
    if (found !== null) return found;
    throw validationFailed([UNKNOWN_EVENT]);
  }

  /** A page; only a reader that starts with the oldest event passes over deleted ones. */
  async function read(query: FeedQuery, fromOldest: boolean) {
    const { events, frontier, ahead } = await readFeed(db, query);
    if (ahead) throw new ApiError({ code: 'cursor_expired' });
    if (events[0]?.body !== null) return { events: untilDeleted(events), frontier };
    if (!fromOldest) throw new ApiError({ code: 'cursor_expired' });
    const oldest = await findOldestPosition(db, query);
    if (oldest === null) return { events: [], frontier };
    const kept = await readFeed(db, { ...query, after: oldest, keptOnly: true });
    return { events: untilDeleted(kept.events), frontier: kept.frontier };
  }

  return {
    list: (caller, query) => listEvents(db, { ...caller, ...query }),
    async get({ accountId, mode }, id) {
      const found = await findEventBody(db, { accountId, mode, id });
      if (found === null) {
        throw new ApiError({ code: 'not_found', details: { resource: 'event' } });
      }
      if (found.body === null) throw new ApiError({ code: 'cursor_expired' });
      return found.body;
    },
    async feed(caller, { limit, filters, start, waitSeconds }, signal): Promise<FeedPage> {
      const after = await startOf(caller, start);
      const { accountId, mode } = caller;
      const types = filters.type ?? SUBSCRIBABLE_EVENTS;
      const query = { accountId, mode, types, objectId: filters.objectId, after, limit };
      const deadline = performance.now() + waitSeconds * 1_000;
      for (;;) {
        const { events, frontier } = await read(query, start === 'oldest');
        const last = events.at(-1);
        if (last !== undefined) {
          const { position, id } = last;
          return { bodies: events.map(({ body }) => body), next: { position, id } };
        }
        const came = await waits.wait({ ...query, since: frontier }, deadline, signal);
        if (!came) return { bodies: [], next: after };
      }
    },
    stopWaiting: () => waits.stop(),
  };
}

type Kept = FeedEvent & { body: Buffer };

/** The clean-up runs beside the readers: what follows a deleted event waits for the next page. */
function untilDeleted(events: FeedEvent[]): Kept[] {
  const deleted = events.findIndex(({ body }) => body === null);
  const kept = deleted < 0 ? events : events.slice(0, deleted);
  return kept.filter((event): event is Kept => event.body !== null);
}

const UNKNOWN_EVENT = {
  field: 'after',
  rule: 'unsupported',
  message: 'Send after as the ID of an event of this account and mode.',
} as const;
