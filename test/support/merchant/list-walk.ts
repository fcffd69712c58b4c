/** Walks a list page by page, as a client would: along links.next. */
import type { ApiAnswer } from './merchant-client';

/**
 * Every object of the list, in the order they were met.
 * @param path with its filters, such as `/payouts?limit=4`
 * @param between what happens after a page that was not the last; it gets all that was met so far
 */
export async function walkList(
  get: (path: string) => Promise<ApiAnswer>,
  path: string,
  between: (met: ApiAnswer['json'][]) => Promise<void> = () => Promise.resolve(),
): Promise<ApiAnswer['json'][]> {
  const met: ApiAnswer['json'][] = [];
  for (let here = path; ;) {
    const { status, text, json } = await get(here);
    if (status !== 200) throw new Error(`GET ${here} was answered with ${status} ${text}`);
    met.push(...json.data);
    if (json.links.next === null) return met;
    const next = new URL(json.links.next);
    here = next.pathname.replace('/api/v1', '') + next.search;
    await between(met);
  }
}
