/** Lists as async iterators: the next page is requested when it is needed. */
import type { CallOptions, Send } from './request';

export interface Page<Item> {
  data: Item[];
  /** The `cursor` of the next page, with the same query. Null on the last page. */
  nextCursor: string | null;
}

export interface List<Item> extends AsyncIterable<Item> {
  /** One page: the one that `cursor` of the query says, or the first. */
  page(): Promise<Page<Item>>;
  /** The pages from that page on. */
  pages(): AsyncIterable<Page<Item>>;
}

interface ListBody<Item> {
  data: Item[];
  meta: { next_cursor: string | null };
}

export function createList<Item>(
  send: Send,
  path: string,
  query: { cursor?: string | undefined } = {},
  options: CallOptions = {},
): List<Item> {
  const read = async (cursor: string | undefined): Promise<Page<Item>> => {
    const call = {
      method: 'GET',
      path,
      query: { ...query, cursor },
      isList: true,
      ...options,
    } as const;
    const { data, meta } = await send<ListBody<Item>>(call);
    return { data, nextCursor: meta.next_cursor };
  };

  async function* pages(): AsyncGenerator<Page<Item>> {
    for (let cursor = query.cursor; ;) {
      const page = await read(cursor);
      yield page;
      if (page.nextCursor === null) return;
      cursor = page.nextCursor;
    }
  }

  return {
    page: () => read(query.cursor),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
}
