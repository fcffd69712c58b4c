/** Webhook deliveries by API (decisions/webhooks#webhooks-by-api), to a receiver that fails first. */
import { useSharedGateway } from '../../support/servers/gateway';
import {
  type ApiAnswer,
  type MerchantClient,
  randomKey,
} from '../../support/merchant/merchant-client';
import { acceptedPayout, openMerchant } from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { startReceiver } from '../../support/webhook/webhook-receiver';

const gateway = started(useSharedGateway);
const post = (client: MerchantClient, body: object, key = randomKey()) =>
  client.create('/webhook_endpoints', body, key);

async function created(client: MerchantClient, body: object) {
  const answer = await post(client, body);
  expect(answer.status).toBe(201);
  return answer.json.data;
}

const refusal = ({ status, json }: ApiAnswer) => ({ status, ...json.error });

test('deliveries are listed with their attempts, and resent [endpoint GET /webhook_endpoints/{id}/deliveries] [endpoint GET /webhook_deliveries/{id}] [endpoint POST /webhook_deliveries/{id}/resend]', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const broken = await startReceiver(500);
  const { id } = await created(client, { url: broken.url, events: ['payout.requested'] });
  const payout = await acceptedPayout(client);
  const listed = await waitFor('the failed attempt', async () => {
    const { json } = await client.get(`/webhook_endpoints/${id}/deliveries?status=pending`);
    return json.data[0]?.last_error === 'http_5xx' ? json.data : null;
  });
  expect(listed).toMatchObject([
    { object: 'webhook_delivery', endpoint_id: id, object_id: payout, attempt_count: 1 },
  ]);
  const path = `/webhook_deliveries/${listed[0].id}`;
  expect((await client.get(path)).json.data.attempts).toMatchObject([
    { number: 1, manual: false, outcome: 'failed', response_status: 500, response_body: 'ok' },
  ]);
  broken.answer = 200;
  expect((await client.post(`${path}/resend`)).json.data.id).toBe(listed[0].id);
  const delivery = await waitFor('the second attempt', async () => {
    const { json } = await client.get(path);
    return json.data.status === 'succeeded' ? json.data : null;
  });
  expect(delivery.attempts).toMatchObject([{ manual: false }, { manual: true, number: 2 }]);
  const succeeded = await client.get(
    `/webhook_endpoints/${id}/deliveries?status=succeeded&limit=1`,
  );
  expect(succeeded.json.data).toMatchObject([{ id: listed[0].id }]);

  await client.patch(`/webhook_endpoints/${id}`, { enabled: false });
  expect(refusal(await client.post(`${path}/resend`))).toMatchObject({
    status: 409,
    details: { status: 'disabled' },
  });
  await broken.stop();
});
