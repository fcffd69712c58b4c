/**
 * Limits the concurrent attempts at one endpoint, so a hanging endpoint occupies only its own slots. A
 * delivery without a free slot is told when to try again; waiting is not an attempt. The slots are rows
 * that all workers share. A process looks at its own first, so that a full process does not ask the
 * database.
 */
export const SLOTS_PER_ENDPOINT = 4;

/**
 * The longest wait, because the endpoint may recover at any time. Ten thousand deliveries that wait for
 * a hanging endpoint then ask about twenty times a second.
 */
export const TURN_MS_MAX = 600_000;
const TURN_MS_MIN = 50;

/** The assumed duration until an attempt has ended; too low a value only causes extra waits. */
const FIRST_GUESS_MS = 40;
/** Weight of the last attempt in the average duration. */
const WEIGHT = 0.25;
/**
 * Turns come a little early, so that a slot is rarely idle: a few deliveries return before a slot is
 * free and wait again.
 */
const KEENNESS = 0.8;

/**
 * The assumed duration of other workers' attempts. With it, an endpoint's waiting deliveries ask at
 * most twenty times a second. How long the attempts have run says little, because the slot of a dead
 * worker is soon free.
 */
const ELSEWHERE_MS = 250;

interface Use {
  taken: number;
  usualMs: number;
  /** The time when a slot was last taken. */
  takenAt: number;
  /** The latest turn that was assigned. */
  lastTurnAt: number;
}

/** A slot that an attempt has taken. */
export interface TakenSlot {
  release: () => void;
  /**
   * Releases the slot of this process, because the attempts of other workers take all slots.
   * @returns when to try again, in milliseconds
   */
  giveUp: () => number;
}

/** A taken slot, or the time until the delivery's turn in milliseconds. */
export type Slot = TakenSlot | { turnInMs: number };

/** The slots of one process, for all endpoints. */
export class EndpointSlots {
  readonly #now: () => number;
  readonly #uses = new Map<string, Use>();

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * @param longestMs a turn after more than this is not assigned to the caller
   * @returns a function that releases the slot, or when to try again if none is free
   */
  take(endpointId: string, longestMs = Infinity): Slot {
    const use = this.#useOf(endpointId);
    if (use.taken >= SLOTS_PER_ENDPOINT) {
      return { turnInMs: this.#nextTurn(use, this.#now() - use.takenAt, longestMs) };
    }
    use.taken += 1;
    const takenAt = this.#now();
    use.takenAt = takenAt;
    let given = false;
    return {
      giveUp: () => {
        given = true;
        use.taken -= 1;
        return this.#nextTurn(use, ELSEWHERE_MS);
      },
      release: () => {
        if (given) return;
        given = true;
        use.usualMs += (this.#now() - takenAt - use.usualMs) * WEIGHT;
        this.#give(endpointId, use);
      },
    };
  }

  #useOf(endpointId: string): Use {
    const known = this.#uses.get(endpointId);
    if (known !== undefined) return known;
    const now = this.#now();
    const use = { taken: 0, usualMs: FIRST_GUESS_MS, takenAt: now, lastTurnAt: now };
    this.#uses.set(endpointId, use);
    return use;
  }

  /**
   * The next turn. Turns are assigned one after the other, as fast as slots are expected to become
   * free.
   */
  #nextTurn(use: Use, heldMs: number, longestMs = Infinity): number {
    const now = this.#now();
    // Running attempts take at least as long as they have taken so far.
    const attemptMs = Math.max(use.usualMs, heldMs);
    const turn = Math.max(now, use.lastTurnAt) + (attemptMs / SLOTS_PER_ENDPOINT) * KEENNESS;
    if (turn - now > longestMs) return Math.ceil(turn - now);
    const last = now + TURN_MS_MAX;
    use.lastTurnAt = Math.min(turn, last);
    // Spreads deliveries beyond the longest wait, so that they do not return at the same moment.
    const own = turn > last ? last - Math.random() * (TURN_MS_MAX / 2) : turn;
    return Math.max(TURN_MS_MIN, Math.ceil(own - now));
  }

  #give(endpointId: string, use: Use): void {
    use.taken -= 1;
    if (use.taken === 0 && use.lastTurnAt <= this.#now()) this.#uses.delete(endpointId);
  }
}
