/** The on-chain provider's statements behind the port: lists of what changed, by time and cursor. */
import { readIsoTime } from '../answer-members';
import { readStatementPage } from '../statement-page';
import type { StatementPage, StatementQuery, Provider } from '../port';
import type { CallProvider } from '../provider-http';
import { readOnchainTransferMembers } from './answers';
import { readOnchainCheckoutMembers } from './checkout-answers';
import { NOT_UNDERSTOOD, unclear } from './unclear';

/** A checkout is bigger than a transfer, and an answer has a largest size. */
const TRANSFERS_PER_PAGE = 200;
const CHECKOUTS_PER_PAGE = 50;

export function createOnchainStatements(
  base: string,
  headers: Record<string, string>,
  call: CallProvider,
): Pick<Provider, 'listPayouts' | 'listCheckouts'> {
  const list = async <Entry extends { providerId: string }>(
    name: string,
    limit: number,
    { changedFrom, cursor }: StatementQuery,
    entry: (shown: unknown) => Entry | undefined,
  ): Promise<StatementPage<Entry>> => {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(changedFrom === null ? {} : { updated_from: changedFrom.toISOString() }),
      ...(cursor === null ? {} : { cursor }),
    });
    const answer = await call({
      method: 'GET',
      url: `${base}/${name}?${query.toString()}`,
      headers,
    });
    if (answer.kind === 'trouble') return { kind: 'unknown', reason: answer.reason };
    if (answer.status !== 200) return unclear(answer.status, answer.body);
    const page = readStatementPage(answer.body, {
      list: name,
      cursor: 'next_cursor',
      entry,
      changedAt: (shown) => readIsoTime(shown, 'updated_at'),
    });
    return page ?? NOT_UNDERSTOOD;
  };
  return {
    listPayouts: (query) =>
      list('transfers', TRANSFERS_PER_PAGE, query, readOnchainTransferMembers),
    listCheckouts: (query) =>
      list('checkouts', CHECKOUTS_PER_PAGE, query, readOnchainCheckoutMembers),
  };
}
