/** The filters of the list of payouts that the signed-in operator has given a name. */
import {
  listSavedFilters,
  removeFilter,
  saveFilter,
  type SavedFilter,
} from '../../db/payouts/saved-filters';
import type { Db } from '../../db/transaction';
import { checkText } from '../../kit/service/checks';
import { InvalidInput } from '../../kit/service/refusal';
import type { SignedIn } from '../../kit/service/sessions';

export type { SavedFilter } from '../../db/payouts/saved-filters';

export const FILTER_NAME_LENGTH_MAX = 40;
export const SAVED_FILTERS_MAX = 20;

type Person = Pick<SignedIn, 'userId'>;

export function listFilters(db: Db, { userId }: Person): Promise<SavedFilter[]> {
  return listSavedFilters(db, userId);
}

/** Saving it again under the same name replaces it. @throws InvalidInput for the field `name` */
export async function keepFilter(db: Db, { userId }: Person, wish: SavedFilter): Promise<void> {
  const name = checkText('name', wish.name, FILTER_NAME_LENGTH_MAX);
  const isSaved = await db.transaction((tx) =>
    saveFilter(tx, userId, { name, query: wish.query }, SAVED_FILTERS_MAX),
  );
  if (!isSaved)
    throw new InvalidInput('name', { code: 'too_many_filters', max: SAVED_FILTERS_MAX });
}

export function forgetFilter(db: Db, { userId }: Person, name: string): Promise<void> {
  return db.transaction((tx) => removeFilter(tx, userId, name));
}
