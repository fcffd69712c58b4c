/** Notifications with a real database and a real SMTP server. */
import { addressNotifications } from '../../../activities/notifications/address';
import { sendNotification } from '../../../activities/notifications/send';
import { createKey } from '../../../src/features/api-keys/api-keys';
import { makeAccount } from '../../support/merchant/ledger';
import { makeUser } from '../../support/merchant/page-client';
import { notificationDeps } from '../notification-deps';
import { openTestDatabase } from '../../support/servers/database';
import { startMailServer } from '../../support/servers/mail-server';
import { started } from '../../support/started';

const PEPPER = 'pepper-'.repeat(6);
const KEY = { name: 'Shop', scopes: ['payments:read' as const], allow: [] };
const NO_RULES = { currencies: [], payoutMax: [], dailyMax: [] };

async function startNotifications() {
  const database = await openTestDatabase({ owner: 4, worker: 4 });
  const { owner, worker } = database;
  const server = await startMailServer();
  const deps = notificationDeps(worker, server);
  return {
    owner,
    worker,
    server,
    deps,
    newOwner: async (accountId?: string) => {
      const account = accountId ?? (await makeAccount(owner));
      return { account, user: await makeUser(owner, 'merchant', 'owner', account) };
    },
    makeKey: (accountId: string) => {
      const by = { actor: 'ada@example.com', reason: null };
      const subject = { accountId, mode: 'test' as const, pepper: PEPPER };
      return createKey.make(owner, by, subject, { ...KEY, ...NO_RULES });
    },
    deliver: async (): Promise<void> => {
      for (const id of await addressNotifications(deps)) await sendNotification(deps, id);
    },
    stop: () => Promise.all([server.stop(), database.stop()]),
  };
}

/** Each test begins with a mail server that has no mail and takes every one. */
export function startedNotifications() {
  const world = started(startNotifications);
  beforeEach(() => {
    world.server.mails.length = 0;
    world.server.refuseWith(null);
    world.server.beforeAnswer(null);
  });
  return world;
}
