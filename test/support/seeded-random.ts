/** Chance that can be repeated: TEST_SEED gives a test the same dice again. */
export interface Dice {
  /** From 0 to below `limit`. */
  roll: (limit: number) => number;
  pick: <T>(from: readonly T[]) => T;
}

/** The seed to print: from the environment, or a new one. */
export function chooseSeed(): number {
  const given = process.env['TEST_SEED'] ?? '';
  return given === '' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}

/** Mulberry32. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const roll = (limit: number): number => Math.floor(next() * limit);
  return { roll, pick: (from) => from[roll(from.length)]! };
}
