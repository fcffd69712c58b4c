/**
 * The events of an account in the order of their transactions (decisions/webhooks#events-feed). Only what no running
 * transaction can precede any more is visible, so a reader that continues after the last event that
 * it has seen misses none, however late a transaction commits.
 */
import type { EventType } from '../../domain/events';
import type { Owner } from '../../domain/mode';
import type { Db } from '../transaction';

/** The position after an event. It is a bigint, as text, and the event's id. */
export interface FeedPosition {
  position: string;
  id: string;
}

/** An undefined filter includes all events. */
export interface EventFilters {
  type?: readonly EventType[];
  objectId?: string;
}

/** A question to the feed. */
export interface FeedQuery extends Owner {
  types: readonly EventType[];
  objectId: string | undefined;
  after: FeedPosition;
  limit: number;
  /** Passes over events whose body was deleted. */
  keptOnly?: boolean;
}

/** An event of the feed. The body is null after it was deleted (decisions/webhooks#retention). */
export interface FeedEvent extends FeedPosition {
  body: Buffer | null;
}

/**
 * The position of the oldest running transaction. What is below it is complete in this snapshot.
 */
const CLOCK = `
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift AS frontier,
         pg_snapshot_xmax(pg_current_snapshot())::text::bigint + shift AS newest
    FROM event_clock`;

/** A page of the feed. */
export interface FeedPage {
  events: FeedEvent[];
  /** Every event before this position was visible. */
  frontier: string;
  /**
   * True when the position that was asked for is ahead of every transaction, as after a restore.
   */
  ahead: boolean;
}

/**
 * Reads the feed with one statement, because the frontier and the events must be of one snapshot.
 */
export async function readFeed(
  db: Db,
  { accountId, mode, types, objectId, after, limit, keptOnly = false }: FeedQuery,
): Promise<FeedPage> {
  const page = (objectId === undefined ? ofAccount : ofObject)(
    keptOnly ? 'AND body IS NOT NULL' : '',
  );
  const found = await db.query<
    (FeedEvent | { position: null }) & Pick<FeedPage, 'frontier' | 'ahead'>
  >(
    `SELECT clock.frontier, clock.newest < ?::bigint AS ahead, page.position, page.id, page.body
       FROM (${CLOCK}) AS clock LEFT JOIN LATERAL (${page}) AS page ON true
      ORDER BY page.position, page.id`,
    [
      after.position,
      ...(objectId === undefined ? [] : [objectId]),
      [...types],
      accountId,
      mode,
      after.position,
      after.id,
      ...(objectId === undefined ? [limit] : []),
      limit,
    ],
  );
  const [first] = found;
  if (first === undefined) throw new Error('event_clock has no row');
  const events = found.filter((row) => row.position !== null);
  return { events, frontier: first.frontier, ahead: first.ahead };
}

/**
 * Reads each type from the index in order, so that a rare type costs no more than a frequent one.
 */
const ofAccount = (condition: string): string => `
  SELECT event.position, event.id, event.body
    FROM (SELECT each.position, each.id
            FROM unnest(?::text[]) AS wanted(type) CROSS JOIN LATERAL (
                   SELECT position, id FROM events
                    WHERE type = wanted.type AND account_id = ? AND mode = ?
                      AND (position, id) > (?::bigint, ?) AND position < clock.frontier
                      ${condition}
                    ORDER BY position, id LIMIT ?) AS each
           ORDER BY each.position, each.id LIMIT ?) AS listed
    JOIN events event ON event.id = listed.id`;

/** OFFSET 0 keeps PostgreSQL from looking for the few events of an object elsewhere. */
const ofObject = (condition: string): string => `
  SELECT position, id, body
    FROM (SELECT * FROM events WHERE object_id = ? OFFSET 0) AS event
   WHERE type = ANY (?::text[]) AND account_id = ? AND mode = ?
     AND (position, id) > (?::bigint, ?) AND position < clock.frontier
     ${condition}
   ORDER BY position, id LIMIT ?`;

/** The position where the feed stands: a later page after it has only newer events. */
export async function readFrontier(db: Db): Promise<string> {
  const [clock] = await db.query<{ frontier: string }>(CLOCK);
  if (clock === undefined) throw new Error('event_clock has no row');
  return clock.frontier;
}

/** The position of an event; null when the account has no such event. */
export async function findFeedPosition(
  db: Db,
  { accountId, mode, id }: Owner & { id: string },
): Promise<FeedPosition | null> {
  const [event] = await db.query<FeedPosition>(
    'SELECT position, id FROM events WHERE id = ? AND account_id = ? AND mode = ?',
    [id, accountId, mode],
  );
  return event ?? null;
}

/** The position of the oldest events that still have a body; null when there are none. */
export async function findOldestPosition(
  db: Db,
  { accountId, mode }: Owner,
): Promise<FeedPosition | null> {
  const [oldest] = await db.query<{ position: string }>(
    `SELECT position FROM events WHERE account_id = ? AND mode = ? AND body IS NOT NULL
      ORDER BY created_at, id LIMIT 1`,
    [accountId, mode],
  );
  return oldest === undefined ? null : { position: oldest.position, id: '' };
}

export interface NewEvent extends Owner {
  type: EventType;
  objectId: string;
}

/**
 * The events of all accounts since a position, up to `limit`, and the position where the feed stands
 * now.
 */
export async function readNewEvents(
  db: Db,
  since: string,
  limit: number,
): Promise<{ events: NewEvent[]; frontier: string }> {
  const found = await db.query<(NewEvent | { accountId: null }) & { frontier: string }>(
    `SELECT clock.frontier, event.account_id, event.mode, event.type, event.object_id
       FROM (${CLOCK}) AS clock LEFT JOIN LATERAL (
              SELECT * FROM events
               WHERE position + 0 >= ?::bigint AND position + 0 < clock.frontier
               ORDER BY position + 0 LIMIT ?) AS event ON true`,
    [since, limit],
  );
  const frontier = found[0]?.frontier ?? since;
  return { events: found.filter((row) => row.accountId !== null), frontier };
}
