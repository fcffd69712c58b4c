/** A file that is written while it is read. */
import { Readable } from 'node:stream';

/**
 * Reads the first part before the answer begins, so that a fault is an answer and not a cut file. No
 * stream in between: it would read ahead of a slow client.
 */
export async function startDownload(
  content: AsyncIterable<string> | Iterable<string>,
): Promise<Readable> {
  const parts = inParts(content);
  const first = await parts.next();
  return Readable.from(
    (async function* () {
      if (first.done !== true) yield first.value;
      yield* parts;
    })(),
  );
}

async function* inParts(content: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  yield* content;
}
