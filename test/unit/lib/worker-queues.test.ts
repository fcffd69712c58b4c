/** WORKER_QUEUES: which task queues a worker process takes. */
import { readConfig } from '../../../src/config';

const SECRET = 'a secret that is long enough for it';
const ENV = {
  DATABASE_URL: 'postgres://localhost/gateway',
  TEMPORAL_ADDRESS: 'localhost:7233',
  KEY_PEPPER: SECRET,
  CURSOR_SECRET: SECRET,
  WEBHOOK_SECRET_KEY: SECRET,
};

test.each([
  [undefined, ['payouts', 'payments', 'webhooks', 'webhooks-retry']],
  ['webhooks', ['webhooks']],
  ['payments, payouts', ['payouts', 'payments']],
])('WORKER_QUEUES=%s', (queues, expected) => {
  expect(readConfig({ ...ENV, WORKER_QUEUES: queues }).worker.queues).toEqual(expected);
});

test.each(['payout', 'payouts,payouts', 'payouts,'])('WORKER_QUEUES=%s is refused', (queues) => {
  expect(() => readConfig({ ...ENV, WORKER_QUEUES: queues })).toThrow(
    'WORKER_QUEUES must be a list of different values of: payouts, payments',
  );
});
