/** One search over what an account has, in both modes. */
import {
  findIdOfAccount,
  findTextOfAccount,
  type FoundOfAccount,
} from '../../db/accounts/account-search';
import { findRequest } from '../../db/request-log/request-log';
import type { Db } from '../../db/transaction';
import { spellingsOf } from '../../adapters/destinations/canonical';
import { isId } from '../../domain/ids';
import { type Owner, MODES } from '../../domain/mode';
import { parseRequestAmount } from '../../domain/money';
import { readAs } from '../../kit/service/own';

export { type FoundOfAccount, SEARCHED_OBJECTS } from '../../db/accounts/account-search';

/** A shorter text would be found in too many objects. */
export const SEARCH_LENGTH_MIN = 2;

/** The object with this id, or the one whose page shows it. */
export async function findIdOf(db: Db, accountId: string, id: string) {
  const read = readAs(db, { accountId });
  if (!isId('request', id)) return findIdOfAccount(read, accountId, id);
  for (const mode of MODES) {
    const found = await findRequest(read, { accountId, mode, id });
    if (found !== null) return { mode, shownBy: id };
  }
  return null;
}

/** Finds objects that contain the text: this mode before the other, newest first. */
export async function findTextOf(
  db: Db,
  { accountId, mode, text }: Owner & { text: string },
): Promise<FoundOfAccount[]> {
  const amount = parseRequestAmount(text.replace(',', '.'));
  const search = { accountId, text, amount, addresses: spellingsOf(text) };
  const found = await findTextOfAccount(readAs(db, { accountId }), search);
  const each = [...new Map(found.map((one) => [one.id, one])).values()];
  const rank = (one: FoundOfAccount) => (one.mode === mode ? 0 : 1);
  return each.sort(
    (one, other) => rank(one) - rank(other) || other.createdAt.getTime() - one.createdAt.getTime(),
  );
}
