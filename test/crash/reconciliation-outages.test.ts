/** A provider that is away, that limits or that hangs: statements are read later, and the other's payouts go on. */
import { atProvider, openedPayment, whenPayment } from '../support/payment/payment-steps';
import { whenPayout } from '../support/payout/payout-steps';
import {
  BY_EXCHANGE,
  casesOf,
  compare,
  scenarioPayout,
  silenceCallbacks,
  startReconciledGateway,
} from './reconciled-gateway';
import { type Outage, setOutage } from '../support/servers/sandbox';
import { started } from '../support/started';
import { waitFor } from '../support/wait-for';

const gateway = started(startReconciledGateway);

const outage = (kind: Outage) => setOutage(gateway, 'exchange_pay', 'test', kind);

test('a provider that is away is noted and skipped, and read when it is back', async () => {
  await silenceCallbacks(gateway);
  const id = await openedPayment(gateway.client, { provider: 'exchange_pay' });
  await atProvider(gateway, id, 'pay');
  await whenPayment(gateway.client, id, 'completed');
  await outage('answer_503');
  await atProvider(gateway, id, 'reorg');
  expect((await compare(gateway)).troubles).toEqual([
    expect.stringMatching(/^exchange_pay test payouts: The provider answered with status 503\./),
    expect.stringMatching(/^exchange_pay test payments: The provider answered with status 503\./),
  ]);
  expect(await troubles()).toEqual(['exchange_pay', 'exchange_pay']);
  expect(await casesOf(gateway, id)).toEqual([]);

  await outage(null);
  expect((await compare(gateway)).troubles).toEqual([]);
  expect(await troubles()).toEqual([]);
  expect(await casesOf(gateway, id)).toEqual(['credited_but_not_received']);
});

test('a provider that limits the rate of requests is read as soon as it allows it', async () => {
  await outage('answer_429');
  const compared = compare(gateway);
  await waitFor('the limit', async () => (await troubles()).length > 0);
  await outage(null);
  expect((await compared).troubles).toEqual([]);
  expect(await troubles()).toEqual([]);
});

async function troubles(): Promise<string[]> {
  const sql = 'SELECT provider FROM provider_statements WHERE trouble IS NOT NULL';
  return (await gateway.db.query<{ provider: string }>(sql)).map(({ provider }) => provider);
}

test('a provider that hangs delays no payout of the other', async () => {
  await outage('hang');
  const hanging = await Promise.all(
    Array.from({ length: 12 }, () => scenarioPayout(gateway.client, 'sends', BY_EXCHANGE)),
  );
  const others = await Promise.all(
    Array.from({ length: 3 }, () => scenarioPayout(gateway.client, 'sends')),
  );
  for (const id of others) await whenPayout(gateway.client, id, 'completed');
  const sql = "SELECT id FROM payouts WHERE status = 'completed' AND id = ANY (?)";
  expect(await gateway.db.query(sql, [hanging])).toEqual([]);
  await outage(null);
  for (const id of hanging) await whenPayout(gateway.client, id, 'completed');
});
