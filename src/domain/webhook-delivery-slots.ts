/**
 * How many attempts at one endpoint a process makes at once. An endpoint that hangs holds only its
 * own slots; whoever finds none free is told when to come back, and that waiting is not an attempt.
 */
export const SLOTS_PER_ENDPOINT = 4;

/**
 * Nobody is sent away for longer, however many wait: the endpoint may be well again. Ten thousand that
 * wait for one that hangs come back some twenty times a second then.
 */
export const TURN_MS_MAX = 600_000;
const TURN_MS_MIN = 50;

/** What an attempt takes until one has ended; too little only sends more away once more. */
const FIRST_GUESS_MS = 40;
/** How much the last attempt counts in what one usually takes. */
const WEIGHT = 0.25;
/** Below 1, so that a slot seldom waits for its next: a few come too early and are sent away again. */
const KEENNESS = 0.8;

interface Use {
  taken: number;
  usualMs: number;
  /** When the last slot was taken. */
  takenAt: number;
  /** The last turn that was given. */
  lastTurnAt: number;
}

export type Slot = { release: () => void } | { turnInMs: number };

export class EndpointSlots {
  readonly #now: () => number;
  readonly #uses = new Map<string, Use>();

  /** @param now in milliseconds, never backwards */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @returns what gives the slot back, or when to ask again because none is free */
  take(endpointId: string): Slot {
    const use = this.#useOf(endpointId);
    if (use.taken >= SLOTS_PER_ENDPOINT) return { turnInMs: this.#nextTurn(use) };
    use.taken += 1;
    const takenAt = this.#now();
    use.takenAt = takenAt;
    let given = false;
    return {
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

  /** One turn after the other, as fast as the slots are likely to become free. */
  #nextTurn(use: Use): number {
    const now = this.#now();
    // Those that are under way take at least as long as they have taken.
    const attemptMs = Math.max(use.usualMs, now - use.takenAt);
    const turn = Math.max(now, use.lastTurnAt) + (attemptMs / SLOTS_PER_ENDPOINT) * KEENNESS;
    const last = now + TURN_MS_MAX;
    use.lastTurnAt = Math.min(turn, last);
    // Those that find the queue full do not all come back at the same moment.
    const own = turn > last ? last - Math.random() * (TURN_MS_MAX / 2) : turn;
    return Math.max(TURN_MS_MIN, Math.ceil(own - now));
  }

  #give(endpointId: string, use: Use): void {
    use.taken -= 1;
    if (use.taken === 0 && use.lastTurnAt <= this.#now()) this.#uses.delete(endpointId);
  }
}
