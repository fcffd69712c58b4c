/** Events: the list, newest first, and the feed, from a point on and without an end. */
import type { Event, ListEventsQuery } from './generated';
import { createList, type List } from './list';
import { getOne } from './one';
import { type CallOptions, isRetryable, pause, type Send } from './request';

type EventFilters = Pick<ListEventsQuery, 'type' | 'object_id'>;

export type EventListQuery = Omit<ListEventsQuery, 'after' | 'wait'>;

/** `after` is where the feed starts; `cursor` continues it. */
export type FeedQuery = EventFilters & Pick<ListEventsQuery, 'after' | 'cursor' | 'wait' | 'limit'>;

export interface EventPage {
  events: Event[];
  /** Save it after you have processed the events, and continue with it. It never expires while you follow. */
  cursor: string;
}

export interface FollowOptions extends Omit<FeedQuery, 'wait' | 'limit'> {
  /** Ends the iteration. */
  signal?: AbortSignal;
  /** Called for each attempt that failed and is repeated; the iteration goes on. */
  onError?: (error: unknown) => void;
}

export interface Events {
  /** The events of the account, newest first. */
  list(query?: EventListQuery, options?: CallOptions): List<Event>;
  /** An event of the last 30 days. */
  get(id: string, options?: CallOptions): Promise<Event>;
  /** One page of the feed, oldest first: after the event `after`, or from the oldest event on. */
  feed(query?: FeedQuery, options?: CallOptions): Promise<EventPage>;
  /**
   * Every event from a point on, as they happen: after the event `after`, after a `cursor`, or from
   * the oldest event on. Save the id of each event that you have processed, and pass it as `after`
   * the next time. @throws CursorExpiredError when the next events were deleted
   */
  follow(options?: FollowOptions): AsyncIterable<Event>;
}

interface FeedBody {
  data: Event[];
  meta: { next_cursor: string };
}

const PATH = '/events';
const WAIT_SECONDS = 25;
const WAIT_TIMEOUT_MS = (WAIT_SECONDS + 30) * 1_000;
/** The pause after an empty page that came at once, and between attempts to reach the gateway. */
const PAUSE_MS = 1_000;

export function createEvents(send: Send): Events {
  async function read(
    query: FeedQuery,
    options: CallOptions,
    onRetry?: (error: unknown) => void,
  ): Promise<EventPage> {
    const timeout = query.wait === undefined ? {} : { timeoutMs: WAIT_TIMEOUT_MS };
    const isStart = query.after === undefined && query.cursor === undefined;
    const from = isStart ? { ...query, after: 'oldest' } : query;
    const call = {
      method: 'GET',
      path: PATH,
      query: from,
      isList: true,
      ...timeout,
      ...options,
    } as const;
    const { data, meta } = await send<FeedBody>(call, onRetry);
    return { events: data, cursor: meta.next_cursor };
  }

  async function* follow({ signal, onError, ...start }: FollowOptions = {}): AsyncGenerator<Event> {
    const { after, cursor: firstCursor, ...filters } = start;
    let from: Pick<FeedQuery, 'after' | 'cursor'> = { after, cursor: firstCursor };
    while (signal?.aborted !== true) {
      const askedAt = performance.now();
      try {
        const query = { ...filters, ...from, wait: WAIT_SECONDS, limit: 100 };
        const page = await read(query, { signal }, onError);
        yield* page.events;
        from = { cursor: page.cursor };
        const soon = performance.now() - askedAt < PAUSE_MS;
        if (page.events.length === 0 && soon) await pause(PAUSE_MS, signal);
      } catch (error) {
        if (hasEnded(signal)) return;
        if (!isRetryable(error)) throw error;
        onError?.(error);
        await pause(PAUSE_MS, signal).catch(() => undefined);
      }
    }
  }

  return {
    list: (query, options) => createList(send, PATH, query, options),
    get: (id, options) => getOne(send, PATH, id, options),
    feed: (query = {}, options = {}) => read(query, options),
    follow,
  };
}

/**
 * This is a function because the compiler does not know that a signal changes while something is
 * awaited.
 */
function hasEnded(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
