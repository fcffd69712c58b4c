/** WORKER_QUEUES: which task queues a worker process takes, and the rates of the providers' queues. */
import { readWorkerConfig } from '../../../src/shell/config';

const ENV = {
  DATABASE_URL: 'postgres://localhost/gateway',
  TEMPORAL_ADDRESS: 'localhost:7233',
  WEBHOOK_SECRET_KEY: 'a secret that is long enough for it',
};

test.each([
  [undefined, ['payouts', 'batches', 'payments', 'webhooks', 'webhooks-retry', 'providers']],
  ['webhooks', ['webhooks']],
  ['payments, payouts', ['payouts', 'payments']],
])('WORKER_QUEUES=%s', (queues, expected) => {
  expect(readWorkerConfig({ ...ENV, WORKER_QUEUES: queues }).worker.queues).toEqual(expected);
});

test.each(['payout', 'payouts,payouts', 'payouts,'])('WORKER_QUEUES=%s is refused', (queues) => {
  expect(() => readWorkerConfig({ ...ENV, WORKER_QUEUES: queues })).toThrow(
    'WORKER_QUEUES must be a list of different values of: payouts, batches, payments',
  );
});

test('each provider and mode has a task queue, with the rate that is set', () => {
  const { providerQueues } = readWorkerConfig({
    ...ENV,
    ONCHAIN_LIVE_CALLS_PER_SECOND: '25',
  }).worker;
  expect(providerQueues).toEqual([
    { taskQueue: 'provider-onchain_provider-test', callsPerSecond: null },
    { taskQueue: 'provider-onchain_provider-live', callsPerSecond: 25 },
    { taskQueue: 'provider-exchange_pay-test', callsPerSecond: null },
    { taskQueue: 'provider-exchange_pay-live', callsPerSecond: null },
  ]);
  expect(() => readWorkerConfig({ ...ENV, EXCHANGE_PAY_TEST_CALLS_PER_SECOND: '0' })).toThrow(
    'EXCHANGE_PAY_TEST_CALLS_PER_SECOND must be a whole number from 1 to 10000, not "0".',
  );
});
