/** Beneficiaries in the database: their encryption with another key, and their erasure. */
import { randomBytes } from 'node:crypto';
import { connect } from '../../../src/db/connect';
import { getPayout } from '../../../src/db/payouts/payouts';
import type { Db } from '../../../src/db/transaction';
import { newId } from '../../../src/platform/lib/new-id';
import { openBeneficiary, sealBeneficiary } from '../../../src/platform/lib/beneficiary-seal';
import { createSecretBox } from '../../../src/platform/lib/secret-box';
import { buildPayoutMoney, fund, insertPayout, makeAccount } from '../../support/merchant/ledger';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { Admin } from '../admin-harness';

const ADA = { name: 'Ada Lovelace', kind: 'individual', institution: null } as const;
const EARLIER = randomBytes(32).toString('hex');
const CURRENT = randomBytes(32).toString('hex');
const earlier = createSecretBox(EARLIER, []);
const current = createSecretBox(CURRENT, []);

let database: TestDatabase;
let owner: Db;
let admin: Admin;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = connect({ url: database.ownerUrl, size: 2, applicationName: 'beneficiaries-test' });
  const keys = { WEBHOOK_SECRET_KEY: CURRENT, WEBHOOK_SECRET_KEYS_EARLIER: EARLIER };
  admin = new Admin(database.adminUrl, { ...keys, KEY_PEPPER: randomBytes(32).toString('hex') });
});

afterAll(async () => {
  await owner.destroy();
  await database.drop();
});

/** A payout whose beneficiary is encrypted with the earlier key. */
async function payoutWithBeneficiary(): Promise<string> {
  const key = { accountId: await makeAccount(owner), mode: 'live', currency: 'USDT' } as const;
  await fund(owner, key, '10');
  const id = newId('payout');
  await insertPayout(owner, key, { ...buildPayoutMoney('4'), id }, 'requested');
  const { sealed, keyId } = sealBeneficiary(earlier, ADA, id);
  await owner.query(
    `INSERT INTO payout_beneficiaries (payout_id, sealed, key_id) VALUES (?, decode(?, 'base64'), ?)`,
    [id, sealed, keyId],
  );
  return id;
}

const stored = async (id: string) => (await getPayout(owner, id)).beneficiary;

const uses = async () =>
  Object.fromEntries(
    (await admin.list('secrets', 'list'))
      .filter(({ name }) => name === 'WEBHOOK_SECRET_KEY')
      .map(({ id, used }) => [id, used]),
  );

test('`secrets list` counts beneficiaries, and `webhooks reseal` encrypts them with the current key', async () => {
  const ids = [await payoutWithBeneficiary(), await payoutWithBeneficiary()];
  const before = await uses();
  expect(before[earlier.keyId]).toBe(ids.length);
  expect(await admin.json('webhooks', 'reseal')).toMatchObject({ resealed: ids.length });
  expect(await uses()).toEqual({ [current.keyId]: ids.length });
  for (const id of ids) {
    expect(openBeneficiary(current, await stored(id), id)).toEqual(ADA);
  }
  const [one, other] = ids as [string, string];
  const copied = await stored(one);
  expect(() => openBeneficiary(current, copied, other)).toThrow();
});

test('`beneficiaries erase` erases those of payouts that ended before, and the payouts stay', async () => {
  const [old, recent, open] = [
    await payoutWithBeneficiary(),
    await payoutWithBeneficiary(),
    await payoutWithBeneficiary(),
  ];
  const end = `UPDATE payouts SET status = 'cancelled', updated_at = ? WHERE id = ?`;
  await owner.query(end, ['2020-12-31T23:59:59Z', old]);
  await owner.query(end, ['2021-01-01T00:00:00Z', recent]);
  await owner.query(`UPDATE payouts SET updated_at = '2020-01-01' WHERE id = ?`, [open]);
  const erase = ['beneficiaries', 'erase', '--before', '2021-01-01', '--reason', 'five years'];
  expect(await admin.json(...erase)).toMatchObject({ erased: 1 });
  expect(await admin.json(...erase)).toMatchObject({ erased: 0 });
  expect(await stored(old)).toMatchObject({ sealed: null });
  expect(openBeneficiary(earlier, await stored(old), old)).toBeNull();
  for (const id of [recent, open])
    expect(openBeneficiary(earlier, await stored(id), id)).toEqual(ADA);
  const entries = await owner.query(
    `SELECT reason, after FROM audit_log WHERE action = 'payout_beneficiaries.erase' ORDER BY id LIMIT 1`,
  );
  expect(entries).toEqual([{ reason: 'five years', after: { erased: 1 } }]);
});

test('a payout that was read without its beneficiary is not taken for one that has none', () => {
  expect(() => openBeneficiary(current, undefined, 'po_1')).toThrow(/without its beneficiary/);
  expect(openBeneficiary(current, null, 'po_1')).toBeNull();
});
