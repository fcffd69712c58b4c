/** A destination is known only after a payout to exactly this destination was completed. */
import { readPayoutFacts } from '../../../src/db/payouts/payout-facts';
import { amount } from '../../../src/domain/money';
import { PAYOUT_STATUSES, type PayoutRequest } from '../../../src/domain/payout';
import { newId } from '../../../src/platform/lib/new-id';
import { openTestDatabase } from '../../support/servers/database';
import { makeAccount } from '../../support/merchant/ledger';
import { insertPayouts } from '../../support/merchant/listed-rows';
import { createKey } from '../../support/merchant/merchant';
import { started } from '../../support/started';

const database = started(() => openTestDatabase({ owner: 2 }));
let accountId: string;
let apiKeyId: string;

beforeAll(async () => {
  accountId = await makeAccount(database.owner);
  await createKey(database.owner, 'pepper', { accountId, mode: 'live' });
  const [key] = await database.owner.query<{ id: string }>('SELECT id FROM api_keys', []);
  apiKeyId = key?.id ?? '';
});

const PAID = {
  type: 'crypto_address',
  value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  memo: null,
} as const;

async function isKnown(
  destination: PayoutRequest['destination'] = PAID,
  network = 'tron',
  mode: 'live' | 'test' = 'live',
): Promise<boolean> {
  const request = {
    amount: amount('10'),
    currency: 'USDT',
    reference: newId('payout'),
    destination,
    network,
    provider: null,
    description: null,
    metadata: {},
  };
  const provider = 'onchain_provider';
  const query = { accountId, mode, apiKeyId, provider, network, request } as const;
  return (await readPayoutFacts(database.owner, query)).destinationUsedBefore;
}

test('a payout of another account does not make it known', async () => {
  const stranger = await makeAccount(database.owner);
  await insertPayouts(database.owner, { accountId: stranger, mode: 'live' }, [payout('completed')]);
  expect(await isKnown()).toBe(false);
});

test('only a completed payout makes it known, and only this destination', async () => {
  for (const status of PAYOUT_STATUSES.filter((one) => one !== 'completed')) {
    await insertPayouts(database.owner, { accountId, mode: 'live' }, [payout(status)]);
    expect([status, await isKnown()]).toEqual([status, false]);
  }
  await insertPayouts(database.owner, { accountId, mode: 'live' }, [payout('completed')]);
  expect(await isKnown()).toBe(true);
  expect(await isKnown({ ...PAID, memo: '42' })).toBe(false);
  expect(await isKnown({ ...PAID, value: PAID.value.toLowerCase() })).toBe(false);
  expect(await isKnown({ ...PAID, type: 'exchange_id' })).toBe(false);
  expect(await isKnown(PAID, 'ethereum')).toBe(false);
  expect(await isKnown(PAID, 'tron', 'test')).toBe(false);
});

function payout(status: (typeof PAYOUT_STATUSES)[number]) {
  const at = new Date().toISOString();
  return {
    id: newId('payout'),
    status,
    provider: 'onchain_provider' as const,
    currency: 'USDT',
    at,
  };
}
