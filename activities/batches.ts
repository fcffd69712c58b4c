/** Work on many rows in small statements, so that none holds its rows for long. */

export interface Batches {
  size: number;
  /** In one run at most: a backlog is worked off over several runs. */
  most: number;
}

/**
 * Until a batch is not full.
 * @param work does one batch and says how many rows it took
 * @returns how many rows all of them took
 */
export async function inBatches(
  { size, most }: Batches,
  work: (limit: number) => Promise<number>,
): Promise<number> {
  let done = 0;
  for (let batch = 0; batch < most; batch++) {
    const count = await work(size);
    done += count;
    if (count < size) break;
  }
  return done;
}
