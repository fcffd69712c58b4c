/**
 * What a request with a key that is in use gets (decisions/api#idempotency), at the moments that tests over
 * HTTP miss.
 */
import { ApiError } from '../../../src/domain/errors';
import { newId } from '../../../src/platform/lib/new-id';
import { type ClaimedWork, runClaimed } from '../../../src/kit/service/idempotency';
import { openTestDatabase } from '../../support/servers/database';
import { started } from '../../support/started';

const ROUTE = { provider: 'onchain_provider', network: 'tron', networkFee: null } as const;
const CREATED = { status: 201, body: Buffer.from('created'), replayed: false };

// One connection executes statements in the order in which they are sent, so what the checks of a
// request create is claimed after that request has read its key.
const database = started(() => openTestDatabase({ owner: 1 }));
let accountId: string;

beforeAll(async () => {
  accountId = newId('account');
  await database.owner.query(`INSERT INTO accounts (id, name) VALUES (?, 'tested')`, [accountId]);
});

function run(key: string, work: Partial<ClaimedWork<object>>) {
  return runClaimed<object>(
    { db: database.owner, shortStatements: database.owner },
    {
      caller: { accountId, mode: 'test', apiKeyId: newId('apiKey'), scopes: [] },
      objectId: newId('payout'),
      endpoint: '/payouts',
      idempotencyKey: key,
      request: { reference: key },
      prepare: () => Promise.resolve(ROUTE),
      create: () => Promise.resolve(CREATED),
      ...work,
    },
  );
}

/** Does what the transaction that creates the object does. */
async function storeResponse(objectId: string): Promise<void> {
  await database.owner.query(
    `UPDATE idempotency_keys SET state = 'done', response_status = 201, response_body = ?,
            completed_at = now() WHERE object_id = ?`,
    [CREATED.body, objectId],
  );
}

/** Creates the object and stores the response. */
async function createOnce(key: string): Promise<void> {
  const objectId = newId('payout');
  await run(key, {
    objectId,
    create: async () => {
      await storeResponse(objectId);
      return CREATED;
    },
  });
}

const used = new ApiError({ code: 'invalid_request' });

test('checks that refuse what the same request has created since give its response', async () => {
  const answer = await run('overtaken', {
    prepare: async () => {
      await createOnce('overtaken');
      throw used;
    },
  });
  expect(answer).toEqual({ ...CREATED, replayed: true });
});

test('checks that refuse leave the key unused', async () => {
  await expect(run('refused', { prepare: () => Promise.reject(used) })).rejects.toBe(used);
  expect(await database.owner.query(`SELECT FROM idempotency_keys WHERE key = 'refused'`)).toEqual(
    [],
  );
  expect(await run('refused', {})).toEqual(CREATED);
});

test('a stored response does not wait for the checks', async () => {
  await createOnce('stored');
  const never = new Promise<never>(() => undefined);
  expect(await run('stored', { prepare: () => never })).toEqual({ ...CREATED, replayed: true });
});

test('a request that is claimed while the checks run is not claimed again', async () => {
  const answer = run('claimed', {
    prepare: async () => {
      await createOnce('claimed');
      return ROUTE;
    },
    create: () => Promise.reject(new Error('created twice')),
  });
  expect(await answer).toEqual({ ...CREATED, replayed: true });
});

test('the claim has the route, and work that fails releases it', async () => {
  const failed = run('failed', {
    create: async (route) => {
      const [claim] = await database.owner.query<{ request: object }>(
        `SELECT request FROM idempotency_keys WHERE key = 'failed'`,
      );
      expect(claim?.request).toMatchObject({ request: { reference: 'failed' }, route });
      throw used;
    },
  });
  await expect(failed).rejects.toBe(used);
  expect(await database.owner.query(`SELECT FROM idempotency_keys WHERE key = 'failed'`)).toEqual(
    [],
  );
});
