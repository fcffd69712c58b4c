/**
 * Whether the answers that clients got about one object could come from a gateway that did one thing
 * after the other (Wing and Gong, with the states met remembered, as Porcupine does). An operation
 * without an answer may have taken effect at any time after its start, or never.
 */

export interface Operation<Action> {
  action: Action;
  startedAt: number;
  /** Null: no answer. */
  endedAt: number | null;
}

export interface Model<State, Action> {
  initial: State;
  /** The states that the action may lead to; none: its answer is impossible in the state. */
  step(state: State, action: Action): State[];
}

/** @returns whether an order exists that explains all answers */
export function isLinearizable<State, Action>(
  model: Model<State, Action>,
  history: readonly Operation<Action>[],
): boolean {
  const met = new Set<string>();
  const search = (done: bigint, state: State): boolean => {
    const open = history.flatMap((operation, index) =>
      (done & (1n << BigInt(index))) === 0n ? [{ ...operation, bit: 1n << BigInt(index) }] : [],
    );
    // What has no answer need not have happened.
    if (open.every(({ endedAt }) => endedAt === null)) return true;
    const key = `${done}|${JSON.stringify(state)}`;
    if (met.has(key)) return false;
    met.add(key);
    // An operation can be next if none of the others ended before it began.
    const firstEnd = Math.min(...open.map(({ endedAt }) => endedAt ?? Infinity));
    return open
      .filter(({ startedAt }) => startedAt <= firstEnd)
      .some(({ action, bit }) =>
        model.step(state, action).some((next) => search(done | bit, next)),
      );
  };
  return search(0n, model.initial);
}
