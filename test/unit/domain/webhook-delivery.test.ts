import {
  WEBHOOK_DELIVERY_STATUSES,
  WEBHOOK_DELIVERY_TRANSITIONS,
  type WebhookDeliveryFacts,
  webhookDeliveryStatusesBefore,
  nextWebhookDeliveryMove,
} from '../../../src/domain/webhook-delivery';
import { attemptsOf, RETRY_SCHEDULE_MS, waitAfterMs } from '../../../src/domain/webhook-delivery';

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

test('the waits are those of the specification, to the second, and eight attempts are all', () => {
  const seconds = Array.from({ length: 9 }, (_, index) =>
    waitAfterMs(RETRY_SCHEDULE_MS, index + 1),
  );
  expect(seconds.map((ms) => (ms === null ? null : ms / 1_000))).toEqual([
    1 * MINUTE_S,
    5 * MINUTE_S,
    30 * MINUTE_S,
    2 * HOUR_S,
    6 * HOUR_S,
    12 * HOUR_S,
    24 * HOUR_S,
    null,
    null,
  ]);
  expect(attemptsOf(RETRY_SCHEDULE_MS)).toBe(8);
});

test('the table of transitions, pair by pair', () => {
  const edges = WEBHOOK_DELIVERY_STATUSES.flatMap((from) =>
    Object.entries(WEBHOOK_DELIVERY_TRANSITIONS[from]).map(
      ([trigger, to]) => `${from} ${trigger} ${to}`,
    ),
  );
  expect(edges).toEqual([
    'pending succeed succeeded',
    'pending exhaust failed',
    'pending skip skipped',
    'pending abandon abandoned',
    'failed succeed succeeded',
    'skipped succeed succeeded',
    'skipped recover pending',
    'abandoned succeed succeeded',
  ]);
  expect(webhookDeliveryStatusesBefore('succeed')).toEqual([
    'pending',
    'failed',
    'skipped',
    'abandoned',
  ]);
  expect(webhookDeliveryStatusesBefore('recover')).toEqual(['skipped']);
});

const PENDING: WebhookDeliveryFacts = {
  status: 'pending',
  attempts: 0,
  dueInMs: 0,
  retryRequested: false,
  openAttempt: null,
  endpointTakes: true,
  bodyKept: true,
};

test.each<[string, Partial<WebhookDeliveryFacts>, object]>([
  ['a new one', {}, { kind: 'attempt', manual: false }],
  [
    'one that is due since long',
    { dueInMs: -86_400_000, attempts: 7 },
    { kind: 'attempt', manual: false },
  ],
  ['one that is a millisecond early', { dueInMs: 1, attempts: 1 }, { kind: 'rest' }],
  [
    'an early one that somebody asks for',
    { dueInMs: 9, retryRequested: true },
    { kind: 'attempt', manual: true },
  ],
  [
    'one with an attempt that never ended',
    { openAttempt: 3, attempts: 3 },
    { kind: 'count_lost', attempt: 3 },
  ],
  [
    'the same, asked for',
    { openAttempt: 3, retryRequested: true },
    { kind: 'count_lost', attempt: 3 },
  ],
  ['one after its eighth attempt', { attempts: 8 }, { kind: 'exhaust' }],
  [
    'one whose endpoint is gone',
    { endpointTakes: false, dueInMs: 99 },
    { kind: 'skip', why: 'endpoint_gone' },
  ],
  ['one whose body is forgotten', { bodyKept: false }, { kind: 'skip', why: 'body_expired' }],
  ['a failed one', { status: 'failed', dueInMs: null, attempts: 8 }, { kind: 'rest' }],
  [
    'a failed one, asked for',
    { status: 'failed', dueInMs: null, attempts: 8, retryRequested: true },
    { kind: 'attempt', manual: true },
  ],
  [
    'a succeeded one, asked for',
    { status: 'succeeded', dueInMs: null, retryRequested: true },
    { kind: 'attempt', manual: true },
  ],
  [
    'a failed one without an endpoint, asked for',
    { status: 'failed', dueInMs: null, retryRequested: true, endpointTakes: false },
    { kind: 'rest' },
  ],
  [
    'a failed one without a body, asked for',
    { status: 'failed', dueInMs: null, retryRequested: true, bodyKept: false },
    { kind: 'rest' },
  ],
])('what comes next for %s', (_, facts, move) => {
  expect(nextWebhookDeliveryMove({ ...PENDING, ...facts }, RETRY_SCHEDULE_MS)).toEqual(move);
});
