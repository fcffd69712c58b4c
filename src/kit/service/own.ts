/**
 * Reads for a merchant's page: as the account (db/as-account.ts, where PostgreSQL leaves out the rows of
 * others), and only objects of the page's mode. Every page of the dashboard reads through these functions.
 */
import { asAccount } from '../../db/as-account';
import type { Db, Reader } from '../../db/transaction';
import type { Owner } from '../../domain/mode';
import { AdminRefusal, type NotFoundObject } from './refusal';

/** The database as the account sees it. */
export function readAs(db: Db, { accountId }: Pick<Owner, 'accountId'>): Reader {
  return asAccount(db, accountId);
}

/** The account's objects of one mode. */
export async function listOwn<T extends Owner>(
  db: Db,
  { accountId, mode }: Owner,
  list: (reader: Reader, accountId: string) => Promise<T[]>,
): Promise<T[]> {
  const all = await list(asAccount(db, accountId), accountId);
  return all.filter((object) => object.mode === mode);
}

/** @throws AdminRefusal, also for an object of another account or mode, as if it did not exist */
export async function findOwn<T extends Owner>(
  db: Db,
  owner: Owner,
  kind: NotFoundObject,
  id: string,
  find: (reader: Reader, id: string) => Promise<T | null>,
): Promise<T> {
  return requireOwn(owner, kind, id, await find(asAccount(db, owner.accountId), id));
}

/** @throws AdminRefusal as `findOwn` */
export function requireOwn<T extends Owner>(
  owner: Owner,
  kind: NotFoundObject,
  id: string,
  object: T | null,
): T {
  if (object?.accountId === owner.accountId && object.mode === owner.mode) return object;
  throw new AdminRefusal({ code: 'not_found', object: kind, id });
}
