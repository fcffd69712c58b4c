/** API keys of one account and mode, for a merchant. */
import { AccountDb } from '../db/account-db';
import { listApiKeys, type ApiKey } from '../db/repositories/api-keys';
import type { Db } from '../db/transaction';
import type { ChangedBy } from './admin/audit';
import {
  createKey,
  type KeySettings,
  type KeyWithSecret,
  revokeKey,
  rotateKey,
} from './admin/keys';
import type { Owner } from './dashboard';

type FindKey = (owner: Owner, id: string) => Promise<ApiKey>;

/** @throws AdminRefusal, InvalidInput */
export interface DashboardKeys {
  list: (owner: Owner) => Promise<ApiKey[]>;
  get: FindKey;
  create: (
    owner: Owner,
    by: ChangedBy,
    settings: Omit<KeySettings, keyof Owner>,
  ) => Promise<KeyWithSecret>;
  rotate: (owner: Owner, by: ChangedBy, id: string) => Promise<KeyWithSecret>;
  revoke: (owner: Owner, by: ChangedBy, id: string) => Promise<ApiKey>;
}

export function createDashboardKeys(
  { db, pepper }: { db: Db; pepper: string },
  get: FindKey,
): DashboardKeys {
  return {
    list: async ({ accountId, mode }) =>
      (await listApiKeys(new AccountDb(db, accountId), accountId)).filter(
        (key) => key.mode === mode,
      ),
    get,
    create: ({ accountId, mode }, by, settings) =>
      createKey(db, by, pepper, { accountId, mode, ...settings }),
    rotate: async (owner, by, id) => rotateKey(db, by, pepper, (await get(owner, id)).id),
    revoke: async (owner, by, id) => revokeKey(db, by, (await get(owner, id)).id),
  };
}
