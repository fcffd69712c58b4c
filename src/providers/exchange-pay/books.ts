/** Exchange Pay's books behind the port: lists of what changed, by time and cursor. */
import { readUnixTimeMs } from '../answer-members';
import { readBookPage } from '../book-page';
import type { BookPage, BookQuery, Provider } from '../port';
import { readExchangePayTransfer, readSuccess } from './answers';
import { readExchangePayOrder } from './checkout-answers';
import type { PostToExchangePay } from './checkouts';
import { describeUnclear } from './unclear';

export function createExchangePayBooks(
  post: PostToExchangePay,
): Pick<Provider, 'listPayouts' | 'listCheckouts'> {
  const list = async <Entry extends { providerId: string }>(
    path: string,
    { changedFrom, cursor }: BookQuery,
    entry: (shown: unknown) => Entry | undefined,
  ): Promise<BookPage<Entry>> => {
    const answer = await post(path, { updateTimeFrom: changedFrom?.getTime() ?? null, cursor });
    if (answer.kind === 'trouble') return { kind: 'unknown', reason: answer.reason };
    const page = readBookPage(readSuccess(answer.status, answer.body), {
      list: 'list',
      cursor: 'cursor',
      entry,
      changedAt: (shown) => readUnixTimeMs(shown, 'updateTime'),
    });
    return page ?? { kind: 'unknown', reason: describeUnclear(answer.status, answer.body) };
  };
  return {
    listPayouts: (query) => list('payout/list', query, readExchangePayTransfer),
    listCheckouts: (query) => list('order/list', query, readExchangePayOrder),
  };
}
