/**
 * How many attempts at one endpoint a process makes at once. An endpoint that hangs holds only its
 * own slots; whoever finds none free comes back later, and that waiting is not an attempt.
 */
export const SLOTS_PER_ENDPOINT = 4;

export class EndpointSlots {
  readonly #taken = new Map<string, number>();

  /** @returns what gives the slot back, or null when none is free */
  take(endpointId: string): (() => void) | null {
    const taken = this.#taken.get(endpointId) ?? 0;
    if (taken >= SLOTS_PER_ENDPOINT) return null;
    this.#taken.set(endpointId, taken + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#give(endpointId);
    };
  }

  #give(endpointId: string): void {
    const left = (this.#taken.get(endpointId) ?? 1) - 1;
    if (left === 0) this.#taken.delete(endpointId);
    else this.#taken.set(endpointId, left);
  }
}
