/**
 * Names that do not exist are refused with the names that do (decisions/api#validation): a misspelt one would
 * do nothing.
 */
import { OPERATIONS } from '../../../src/openapi/document';
import { newId } from '../../../src/platform/lib/new-id';
import { bearer, errorOf, startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let secret: string;

beforeAll(async () => {
  ({ secret } = await harness.createKey());
});

async function fieldsOf(answer: Response): Promise<object[]> {
  expect(answer.status).toBe(422);
  const { code, details } = await errorOf(answer);
  expect(code).toBe('validation_failed');
  return (details as { fields: object[] }).fields;
}

function send(method: string, path: string, body?: object): Promise<Response> {
  const headers = { ...bearer(secret), 'content-type': 'application/json', 'idempotency-key': 'k' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return fetch(`${gateway.url}/api/v1${path}`, { method, headers, ...text });
}

test.each(OPERATIONS)('$id refuses a query parameter that does not exist', async (operation) => {
  const { method, path, parameters, body } = operation;
  const known = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const id = newId(path.startsWith('/payouts') ? 'payout' : 'payment');
  const [example] = Object.values(body?.examples ?? {});
  const sent = await send(
    method.toUpperCase(),
    `${path.replace('{id}', id)}?state=failed`,
    example,
  );
  const others = known.length === 0 ? '' : `, or use one of ${known.join(', ')}`;
  expect(await fieldsOf(sent)).toContainEqual({
    field: 'state',
    rule: 'unsupported',
    message: `Unknown parameter state. Remove it${others}.`,
  });
});

test('unknown and invalid parameters are named together', async () => {
  const fields = await fieldsOf(await send('GET', '/payments?status=paid&state=failed&limit=0'));
  expect(fields.map((one) => (one as { field: string }).field).sort()).toEqual([
    'limit',
    'state',
    'status',
  ]);
});

const PAYMENT = { amount: '10', currency: 'USDT', reference: 'order-1', network: 'tron' };
const PAYOUT = {
  ...PAYMENT,
  destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
};

test.each([
  ['/payments', { ...PAYMENT, expire_in: 600 }, 'expire_in', /or use one of .*expires_in/],
  ['/payments', { ...PAYMENT, order: { id: 1 } }, 'order', /or use one of amount, currency/],
  ['/payouts', { ...PAYOUT, memo: '7' }, 'memo', /or use one of amount, currency/],
  [
    '/payouts',
    { ...PAYOUT, destination: { ...PAYOUT.destination, tag: '7' } },
    'destination.tag',
    /or use one of destination.type, destination.value, destination.memo\.$/,
  ],
  [
    '/api_keys',
    { name: 'Till', scopes: ['payouts:write'], payout_limits: { usdt: { per_day: '5' } } },
    'payout_limits.usdt',
    /Unknown field/,
  ],
])('POST %s with %j is refused', async (path, body, field, message) => {
  expect(await fieldsOf(await send('POST', path, body))).toEqual([
    { field, rule: 'unsupported', message: expect.stringMatching(message) },
  ]);
});
