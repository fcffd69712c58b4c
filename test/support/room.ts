/**
 * The test files of a folder as one file of jest, which loads every module again for each of its files. Each part is
 * a `describe` with its own start and end; a part that the command line names runs alone (see jest.config.js).
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { scaled } from './scale';

const END = '.test.ts';
/** What only `npm run test:long` runs. */
const LONG_END = `.long${END}`;

interface Stoppable {
  stop: () => Promise<unknown>;
}

/** What runs for all parts, by its name; null outside a room. */
let shared: Map<string, Promise<Stoppable>> | null = null;

export function runParts(folder: string): void {
  const running = (shared = new Map<string, Promise<Stoppable>>());
  const isPart = (file: string) => file.endsWith(END) && !file.endsWith(scaled(LONG_END, '/'));
  const parts = readdirSync(folder).filter(isPart);
  for (const part of parts.toSorted()) {
    describe(part.slice(0, -END.length), () => {
      jest.requireActual<object>(join(folder, part));
    });
  }
  afterAll(async () => {
    for (const one of running.values()) await (await one).stop();
  });
}

/**
 * What the parts of a room use one after the other, such as a gateway: it starts for the first and stops after the
 * last. Each part leaves its settings, pauses and outages as it found them, and keeps to accounts of its own.
 */
export function sharedInRoom<T extends Stoppable>(
  name: string,
  start: () => Promise<T>,
): () => Promise<T> {
  return async () => {
    if (shared === null) return start();
    const running = (shared.get(name) as Promise<T> | undefined) ?? start();
    shared.set(name, running);
    return { ...(await running), stop: () => Promise.resolve() };
  };
}
