/**
 * How often, and how many at a time, one person, account or address may ask for what costs much, so that
 * one viewer stalls nobody. Each process counts for itself: the limits protect its processor and its
 * connections. What is refused is not counted, so that waiting helps.
 */

/** Who is counted. A visitor without a session has an address only. */
export interface Asker {
  session: string | null;
  account: string | null;
  /** Null if unknown. */
  address: string | null;
}

interface Limit {
  atOnce: number;
  perMinute: number;
}

/** Several people share an account, and several accounts an address. */
const LIMITS = {
  /** A form that changes something: a transaction, and mostly a row of the audit log. */
  form: {
    session: { atOnce: 8, perMinute: 240 },
    account: { atOnce: 16, perMinute: 600 },
    address: { atOnce: 32, perMinute: 1_200 },
  },
  /** argon2: some 60 ms of a core and 19 MiB. */
  password: {
    session: { atOnce: 1, perMinute: 10 },
    account: { atOnce: 4, perMinute: 60 },
    address: { atOnce: 8, perMinute: 240 },
  },
  /** A file of any length. A month has a file for each kind and currency. */
  export: {
    session: { atOnce: 1, perMinute: 30 },
    account: { atOnce: 2, perMinute: 60 },
    address: { atOnce: 4, perMinute: 120 },
  },
  /** A table of thousands of rows. Two at a time, because a double click sends it twice. */
  table: {
    session: { atOnce: 2, perMinute: 30 },
    account: { atOnce: 4, perMinute: 60 },
    address: { atOnce: 8, perMinute: 120 },
  },
  /** A PDF: some 100 ms of a core. */
  pdf: {
    session: { atOnce: 1, perMinute: 30 },
    account: { atOnce: 2, perMinute: 60 },
    address: { atOnce: 4, perMinute: 120 },
  },
  /** Webhooks, mails and messages that a person has sent, or sent again. */
  delivery: {
    session: { atOnce: 2, perMinute: 30 },
    account: { atOnce: 4, perMinute: 60 },
    address: { atOnce: 8, perMinute: 120 },
  },
  /** A part of a text is looked for in thousands of rows of each kind. */
  search: {
    session: { atOnce: 2, perMinute: 60 },
    account: { atOnce: 4, perMinute: 120 },
    address: { atOnce: 8, perMinute: 240 },
  },
  /** Questions to a provider. The form of a payout asks while somebody types. */
  provider: {
    session: { atOnce: 4, perMinute: 120 },
    account: { atOnce: 8, perMinute: 240 },
    address: { atOnce: 16, perMinute: 480 },
  },
} as const satisfies Record<string, Record<keyof Asker, Limit>>;

export type Cost = keyof typeof LIMITS;

/** The page that says so has the status 429. */
export class TooManyRequests extends Error {
  readonly retryAfterS: number;

  constructor(retryAfterS: number) {
    super('too many requests');
    this.retryAfterS = retryAfterS;
  }
}

export interface Limits {
  /** @returns what ends the request @throws TooManyRequests */
  begin(costs: readonly Cost[], asker: Asker): () => void;
}

const WINDOW_MS = 60_000;
/** When another request of the same asker has to end first. */
const BUSY_RETRY_S = 2;

interface Use {
  running: number;
  /** The starts of the last minute, oldest first. */
  begun: number[];
}

/** @param clock milliseconds that never go back */
export function createLimits(clock = () => performance.now()): Limits {
  const uses = new Map<string, Use>();
  let sweptAt = clock();

  /** Forgets who has asked for nothing in the last minute. */
  function sweep(now: number): void {
    if (now - sweptAt < WINDOW_MS) return;
    sweptAt = now;
    for (const [key, { running, begun }] of uses) {
      if (running === 0 && (begun.at(-1) ?? -Infinity) <= now - WINDOW_MS) uses.delete(key);
    }
  }

  function useOf(key: string, now: number): Use {
    const use = uses.get(key) ?? { running: 0, begun: [] };
    uses.set(key, use);
    while (use.begun[0] !== undefined && use.begun[0] <= now - WINDOW_MS) use.begun.shift();
    return use;
  }

  return {
    begin: (costs, asker) => {
      const now = clock();
      sweep(now);
      const counted = costs.flatMap((cost) =>
        (['session', 'account', 'address'] as const).flatMap((scope) => {
          const id = asker[scope];
          if (id === null) return [];
          return [{ use: useOf(`${cost} ${scope} ${id}`, now), limit: LIMITS[cost][scope] }];
        }),
      );
      for (const { use, limit } of counted) {
        const [oldest = now] = use.begun;
        if (use.begun.length >= limit.perMinute) {
          throw new TooManyRequests(Math.ceil((oldest + WINDOW_MS - now) / 1_000));
        }
        if (use.running >= limit.atOnce) throw new TooManyRequests(BUSY_RETRY_S);
      }
      for (const { use } of counted) {
        use.running += 1;
        use.begun.push(now);
      }
      let hasEnded = false;
      return () => {
        if (hasEnded) return;
        hasEnded = true;
        for (const { use } of counted) use.running -= 1;
      };
    },
  };
}
