/**
 * Decisions about money that must follow each other: while one transaction holds its row, the other waits for it,
 * and decides by what the first one has left.
 */
import { deletePause, insertPause } from '../../../src/db/accounts/payout-pauses';
import { claimKey, lockClaim, releaseClaim } from '../../../src/db/idempotency';
import type { BalanceKey } from '../../../src/db/ledger/ledger';
import { lockPayment } from '../../../src/db/payments/payments';
import { beginSubmission } from '../../../src/db/payouts/payout-submissions';
import { holdRecipients, lockRecipient } from '../../../src/db/recipients/recipients';
import type { Tx } from '../../../src/db/transaction';
import type { PayoutOrder } from '../../../src/domain/payout';
import { newId } from '../../../src/platform/lib/new-id';
import {
  buildPayoutMoney,
  insertPayment,
  insertPayout,
  makeAccount,
} from '../../support/merchant/ledger';
import { openTestDatabase } from '../../support/servers/database';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const database = started(() => openTestDatabase({ owner: 2, app: 4 }));
let key: BalanceKey;

beforeAll(async () => {
  key = { accountId: await makeAccount(database.owner), mode: 'test', currency: 'USDT' };
});

/** What the other does while the first transaction is open, and what it gets after that. */
async function beside<T>(first: (tx: Tx) => Promise<unknown>, other: () => Promise<T>) {
  const holding = await database.app.begin();
  try {
    await first(holding);
  } catch (error) {
    await holding.rollback();
    throw error;
  }
  const [session] = await holding.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  let isOver = false;
  const result = other().finally(() => (isOver = true));
  const didWait = await waitFor('the other to wait or to end', async () => {
    const blocked = await database.owner.query(
      'SELECT FROM pg_stat_activity WHERE ? = ANY (pg_blocking_pids(pid))',
      [session!.pid],
    );
    return isOver || blocked.length > 0 ? { isOver } : undefined;
  });
  await holding.commit();
  return { waited: !didWait.isOver, result: await result };
}

const inTransaction = <T>(work: (tx: Tx) => Promise<T>) => database.app.transaction(work);

test('a claim is not released while the object of its request is created', async () => {
  const objectId = newId('payout');
  const claimed = { apiKeyId: 'key_1', request: {}, route: {} };
  const bodyHashes = [Buffer.from('a request')] as const;
  await claimKey(database.app, { ...key, key: objectId }, { objectId, bodyHashes, claimed });
  const { waited } = await beside(
    async (tx) => expect(await lockClaim(tx, objectId)).not.toBeNull(),
    () => releaseClaim(database.app, objectId),
  );
  expect(waited).toBe(true);
});

test('the steps of one payment follow each other', async () => {
  const id = await insertPayment(database.owner, key, 'created');
  const { waited, result } = await beside(
    async (tx) => {
      await lockPayment(tx, id);
      await tx.query(`UPDATE payments SET status = 'cancelled' WHERE id = ?`, [id]);
    },
    () => inTransaction((tx) => lockPayment(tx, id)),
  );
  expect({ waited, status: result.status }).toEqual({ waited: true, status: 'cancelled' });
});

test('a recipient does not change while a payout to it is reserved', async () => {
  const id = newId('recipient');
  await database.owner.query(
    `INSERT INTO recipients (id, account_id, mode, name, currency, network, destination_type,
                             destination_value, created_by)
     VALUES (?, ?, 'test', 'Ada', 'USDT', 'tron', 'crypto_address', 'T1', 'key_1')`,
    [id, key.accountId],
  );
  const order = { recipient: id } as unknown as PayoutOrder;
  const { waited } = await beside(
    async (tx) => expect((await holdRecipients(tx, key, [order])).has(id)).toBe(true),
    () => inTransaction((tx) => lockRecipient(tx, key, id)),
  );
  expect(waited).toBe(true);
});

test('a payout is not held by a pause that is being lifted', async () => {
  const payout = buildPayoutMoney('1');
  await insertPayout(database.owner, key, payout, 'approved');
  const pause = { scope: 'account', target: key.accountId, mode: null } as const;
  const made = await inTransaction((tx) =>
    insertPause(tx, { ...pause, reason: 'moved', createdBy: 'operator' }),
  );
  const { waited, result } = await beside(
    (tx) => deletePause(tx, made!.id),
    () => beginSubmission(database.app, payout.id),
  );
  expect({ waited, kind: result.kind }).toEqual({ waited: true, kind: 'begun' });
});
