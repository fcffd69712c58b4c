/** What the tests of a file share, such as a gateway: it starts before the first and stops after the last. */

/** How to stop what runs, in the order of the starts. What uses another is started after it, and stops first. */
const running: (() => Promise<unknown>)[] = [];

/**
 * @param isSound what has to hold before it stops
 * @returns an object that has the members of the started one from the next `beforeAll` on
 */
export function started<T extends object>(
  start: () => Promise<T>,
  isSound: (started: T) => Promise<unknown> = () => Promise.resolve(),
): T {
  const shared = {} as T & { stop?: () => Promise<unknown> };
  let place: number | null = null;
  beforeAll(async () => {
    Object.assign(shared, await start());
    place = running.push(async () => {
      try {
        await isSound(shared);
      } finally {
        await shared.stop?.();
      }
    });
  });
  afterAll(async () => {
    // It did not start.
    if (place === null) return;
    while (running.length >= place) await running.pop()?.();
  });
  return shared;
}
