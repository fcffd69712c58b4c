/** Files that are sent while their rows are read from the database. */
import { Readable } from 'node:stream';
import { csvLine } from './csv';

/**
 * Reads the first part before the answer begins, so that a fault is an answer and not a cut file. There is
 * no stream in between, because it would read ahead of a slow client.
 */
export async function startDownload(
  content: AsyncIterable<string> | Iterable<string | Uint8Array>,
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

async function* inParts(
  content: AsyncIterable<string> | Iterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  yield* content;
}

/** A CSV file with a line of headings, written page by page. */
export async function* csvFile(
  columns: readonly string[],
  pages: AsyncIterable<readonly (readonly string[])[]>,
): AsyncGenerator<string> {
  let head = csvLine(columns);
  for await (const rows of pages) {
    yield head + rows.map((row) => csvLine(row)).join('');
    head = '';
  }
  if (head !== '') yield head;
}

/** A JSON array with one object on each line, written page by page. */
export async function* jsonArray(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const objects of pages) {
    yield objects
      .map((object) => {
        const line = separator + JSON.stringify(object);
        separator = ',\n';
        return line;
      })
      .join('');
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}
