/** W3C Trace Context: the header of a request goes with its payout to the provider and to the webhooks. */
import { useSharedGateway } from '../../support/servers/gateway';
import { runAdmin } from '../../support/servers/gateway-admin';
import { buildPayout, randomKey } from '../../support/merchant/merchant-client';
import { openMerchant, whenFinal } from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { startReceiver } from '../../support/webhook/webhook-receiver';
import { waitFor } from '../../support/wait-for';
import { startWatchedGateway } from './watched-gateway';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
/** What else tracers send: the client's own data, for which nobody here asks. */
const OTHERS = {
  tracestate: 'merchant=1',
  baggage: 'merchant=1',
  b3: `${TRACE}-00f067aa0ba902b7-1`,
  'x-b3-traceid': TRACE,
};

const gateway = started(startWatchedGateway);

test.each([
  ['of the request', TRACEPARENT, TRACEPARENT],
  ['that is new, where the request has none', undefined, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/],
  [
    'that is new, where the request has none that is valid',
    `00-${'0'.repeat(32)}-x`,
    /^00-\w{32}-/,
  ],
])('a payout takes the trace %s to the provider and to its webhooks', async (_, sent, expected) => {
  const { accountId, client } = await openMerchant(gateway, { mode: 'test' });
  const receiver = await startReceiver();
  const where = ['--account', accountId, '--mode', 'test', '--url', receiver.url];
  await runAdmin(gateway, 'webhooks', 'create', ...where);
  const headers = {
    ...OTHERS,
    'idempotency-key': randomKey(),
    ...(sent !== undefined && { traceparent: sent }),
  };
  const { json } = await client.post('/payouts', buildPayout(), headers);
  await whenFinal(client, json.data.id);
  await waitFor('the events at the receiver', () => receiver.received.length === 4);

  const orders = gateway.calls.filter(({ body }) => body.includes(json.data.id));
  expect(orders.length).toBeGreaterThan(0);
  const seen = [...orders, ...receiver.received].map((one) => one.headers);
  const traces = new Set(seen.map(({ traceparent }) => traceparent));
  expect([...traces]).toEqual([
    typeof expected === 'string' ? expected : expect.stringMatching(expected),
  ]);
  const names = seen.flatMap((one) => Object.keys(one));
  expect(names.filter((name) => name in OTHERS)).toEqual([]);
  await receiver.stop();
});

test('the log lines of the request have the id of its trace', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const headers = { 'idempotency-key': randomKey(), traceparent: TRACEPARENT };
  const { json } = await client.post('/payouts', buildPayout(), headers);
  const line = await waitFor('the line', () =>
    gateway.api.output.split('\n').find((one) => one.includes(`"object_id":"${json.data.id}"`)),
  );
  expect(JSON.parse(line)).toMatchObject({ trace_id: TRACE, msg: 'request' });
});

test('without TRACE_CONTEXT nothing is passed on, and nothing is stored', async () => {
  const without = await useSharedGateway();
  const { accountId, client } = await openMerchant(without, { mode: 'test' });
  const receiver = await startReceiver();
  const where = ['--account', accountId, '--mode', 'test', '--url', receiver.url];
  await runAdmin(without, 'webhooks', 'create', ...where);
  const headers = { 'idempotency-key': randomKey(), traceparent: TRACEPARENT };
  const { json } = await client.post('/payouts', buildPayout(), headers);
  await whenFinal(client, json.data.id);
  await waitFor('the events at the receiver', () => receiver.received.length === 4);
  expect(receiver.received.filter((one) => 'traceparent' in one.headers)).toEqual([]);
  // Nor can the calls of the provider have it: they take it from the workflow.
  const history = await without.temporal.workflow.getHandle(json.data.id).fetchHistory();
  expect(JSON.stringify(history)).not.toContain('traceparent');
  await Promise.all([receiver.stop(), without.stop()]);
});
