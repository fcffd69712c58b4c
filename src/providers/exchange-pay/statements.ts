/** Exchange Pay's statements behind the port: lists of what changed, by time and cursor. */
import { readUnixTimeMs } from '../answer-members';
import { readStatementPage } from '../statement-page';
import type { StatementPage, StatementQuery, Provider } from '../port';
import { readExchangePayTransfer, readSuccess } from './answers';
import { readExchangePayOrder } from './checkout-answers';
import type { PostToExchangePay } from './checkouts';
import { describeUnclear } from './unclear';

export function createExchangePayStatements(
  post: PostToExchangePay,
): Pick<Provider, 'listPayouts' | 'listCheckouts'> {
  const list = async <Entry extends { providerId: string }>(
    path: string,
    { changedFrom, cursor }: StatementQuery,
    entry: (shown: unknown) => Entry | undefined,
  ): Promise<StatementPage<Entry>> => {
    const answer = await post(path, { updateTimeFrom: changedFrom?.getTime() ?? null, cursor });
    if (answer.kind === 'trouble') return { kind: 'unknown', reason: answer.reason };
    const page = readStatementPage(readSuccess(answer.status, answer.body), {
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
