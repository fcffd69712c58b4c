/**
 * Requests that wait for an event. None of them holds a database connection: while any wait, one query
 * per process and interval reads the new events of all accounts (decisions/webhooks#long-poll).
 */
import type { Owner } from '../../domain/mode';
import { type FeedQuery, type NewEvent, readNewEvents } from '../../db/webhooks/events-feed';
import type { Db } from '../../db/transaction';

const INTERVAL_MS = 300;
/** The rows of one query. After more new events than this, each waiting request runs its own query. */
const NEW_EVENTS_MAX = 1_000;
/** Further requests are answered at once, with an empty page. */
const WAITING_MAX = 2_000;
const WAITING_PER_ACCOUNT_MAX = 50;

type Wish = Owner & Pick<FeedQuery, 'types' | 'objectId'>;

interface Waiter extends Wish {
  wake: (came: boolean) => void;
}

export interface EventWaits {
  /**
   * Waits for an event that `wish` matches and that is not before `since`, at most until `deadline`.
   * @param deadline of performance.now()
   * @returns false when none has come
   */
  wait(wish: Wish & { since: string }, deadline: number, signal: AbortSignal): Promise<boolean>;
  /** Ends all waits, and those that begin later end at once. */
  stop(): void;
}

export function createEventWaits(db: Db): EventWaits {
  const waiters = new Set<Waiter>();
  let since = 0n;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function isFull({ accountId, mode }: Wish): boolean {
    if (waiters.size >= WAITING_MAX) return true;
    const own = [...waiters].filter((one) => one.accountId === accountId && one.mode === mode);
    return own.length >= WAITING_PER_ACCOUNT_MAX;
  }

  function add(waiter: Waiter, from: bigint): void {
    // A waiter that read its page before the last query may not know what that query found.
    if (waiters.size === 0 || from < since) since = from;
    waiters.add(waiter);
    timer ??= setTimeout(() => void look(), INTERVAL_MS);
  }

  async function look(): Promise<void> {
    const from = since;
    try {
      const { events, frontier } = await readNewEvents(db, from.toString(), NEW_EVENTS_MAX);
      const overflow = events.length === NEW_EVENTS_MAX;
      for (const waiter of [...waiters]) {
        if (overflow || events.some((event) => matches(waiter, event))) waiter.wake(true);
      }
      // Somebody may have begun to wait further back while the query ran.
      if (since === from) since = BigInt(frontier);
    } catch {
      // Every waiting request runs its own query, which reports what is wrong with the database.
      for (const waiter of [...waiters]) waiter.wake(true);
    }
    timer = waiters.size === 0 ? undefined : setTimeout(() => void look(), INTERVAL_MS);
  }

  return {
    async wait({ since: from, ...wish }, deadline, signal) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || stopped || signal.aborted || isFull(wish)) return false;
      const { promise, resolve } = withResolvers();
      const wake = (came: boolean): void => {
        waiters.delete(waiter);
        resolve(came);
      };
      const waiter: Waiter = { ...wish, wake };
      const giveUp = (): void => wake(false);
      const timeout = setTimeout(giveUp, leftMs);
      signal.addEventListener('abort', giveUp);
      add(waiter, BigInt(from));
      try {
        return await promise;
      } finally {
        clearTimeout(timeout);
        signal.removeEventListener('abort', giveUp);
      }
    },
    stop() {
      stopped = true;
      for (const waiter of [...waiters]) waiter.wake(false);
    },
  };
}

function matches({ accountId, mode, types, objectId }: Wish, event: NewEvent): boolean {
  return (
    event.accountId === accountId &&
    event.mode === mode &&
    types.includes(event.type) &&
    (objectId === undefined || event.objectId === objectId)
  );
}

/** Promise.withResolvers, which Node 20 does not have. */
function withResolvers() {
  let resolve: (came: boolean) => void = () => undefined;
  const promise = new Promise<boolean>((done) => (resolve = done));
  return { promise, resolve };
}
