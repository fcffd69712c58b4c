/**
 * PostgreSQL goes away for a while, with payouts at every status: the programs live on, the API
 * says so in its error envelope, and afterwards everything goes on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { allowConnections } from '../support/servers/database';
import { startGateway } from '../support/servers/gateway';
import { fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { whenFinal, whenStatus } from './payout-status';
import { started } from '../support/started';

const AWAY_MS = 5_000;

const gateway = started(startGateway);

beforeAll(async () => {
  for (const mode of ['test', 'live'] as const) {
    await fund(gateway.db, gateway.merchant.accountId, mode, 'USDT', FUNDS);
  }
});

test('nothing is lost while the database is away, and the API says that it is', async () => {
  const { merchant, baseUrl, db } = gateway;
  const live = new PatientClient(baseUrl, merchant.liveKey);
  const tester = new PatientClient(baseUrl, merchant.testKey);
  const approve = (id: string) => gateway.temporal.workflow.getHandle(id).signal('approve');
  const reviewed = await live.createPayout(buildPayout());
  const slow = await tester.createPayout(buildPayout({ amount: '10.00009003' }));
  await whenStatus(db, slow.id, 'processing');
  const requested = await tester.createPayout(buildPayout());
  expect(requested.status).toBe('requested');

  await allowConnections(gateway, false);
  await approve(reviewed.id);
  const body = buildPayout();
  const key = randomKey();
  const merchantClient = new MerchantClient(baseUrl, merchant.testKey);
  const meanwhile = await Promise.all([
    merchantClient.createPayout(body, key),
    merchantClient.get('/balance'),
    merchantClient.get(`/payouts/${slow.id}`),
    merchantClient.post(`/payouts/${requested.id}/cancel`),
  ]);
  for (const answer of meanwhile) {
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(answer.json.error).toMatchObject({
      code: expect.stringMatching(/^(internal_error|service_unavailable)$/),
      message: expect.any(String),
      request_id: answer.headers.get('x-request-id'),
    });
  }
  await sleep(AWAY_MS);
  await allowConnections(gateway, true);

  const late = await tester.createPayout(body);
  const all = [reviewed, slow, requested, late];
  for (const { id } of all) expect(await whenFinal(db, id)).toBe('completed');
  expect(await auditPayouts(gateway)).toEqual([]);
  for (const [mode, client] of [
    ['test', tester],
    ['live', live],
  ] as const) {
    const balance = await client.balance();
    expect(balance).toEqual(await expectedBalance(db, merchant.accountId, FUNDS, mode));
    expect(balance.reserved).toBe('0.00000000');
  }
});
