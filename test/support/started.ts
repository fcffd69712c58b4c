/** What the tests of a file share, such as a gateway: it starts before the first and stops after the last. */

type Stoppable = { stop?: () => Promise<unknown> };

/**
 * @returns an object that has the members of the started one from the first `beforeAll` that follows
 * @param isSound what has to hold before it stops
 */
export function started<T extends object>(
  start: () => Promise<T>,
  isSound: (started: T) => Promise<unknown> = () => Promise.resolve(),
): T {
  const shared = {} as T & Stoppable;
  beforeAll(async () => {
    Object.assign(shared, await start());
  });
  afterAll(async () => {
    // It did not start.
    if (shared.stop === undefined) return;
    try {
      await isSound(shared);
    } finally {
      await shared.stop();
    }
  });
  return shared;
}
