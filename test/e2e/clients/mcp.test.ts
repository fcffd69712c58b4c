/** The MCP server with a key of live mode, which moves nothing. */
import { OPERATION_TOOLS } from '../../../clients/mcp/src/generated';
import { buildPayout } from '../../support/merchant/merchant-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { ACTIONS, PAYMENT, READS, useAssistants } from './assistant';

const { gateway, startAssistant } = useAssistants();

test.concurrent('with a live key, no action is listed, and each is refused', async () => {
  const { client } = await openMerchant(gateway, { mode: 'live', funds: { USDT: '100' } });
  const made = await client.createPayout(buildPayout());
  const assistant = await startAssistant(client);
  const { tools, done, refused } = assistant;
  expect(tools.map(({ name }) => name).sort()).toEqual([...READS, 'explain_error'].sort());
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  const payment = { ...PAYMENT, reference: 'live-order' };
  const arguments_: Record<string, object> = {
    create_payment: payment,
    create_payout: buildPayout({ reference: 'live-payout' }),
    cancel_payout: { id: made.json.data.id },
    trigger_event: { type: 'payout.completed' },
  };
  for (const name of ACTIONS) {
    expect(await refused(name, { ...arguments_[name] })).toEqual({
      code: 'wrong_usage',
      message: `${name} needs a test key, and this server has a live key.`,
      remedy: 'Start the server with a key that begins with sk_test_.',
    });
  }
  // A tool that reads sends nothing but GET, whatever its ID is.
  for (const id of [`${made.json.data.id}/cancel`, '../payouts', '..', '']) {
    expect(await refused('get_payout', { id })).toMatchObject({ code: 'wrong_usage' });
  }
  expect(OPERATION_TOOLS.every(({ kind, method }) => kind !== 'reads' || method === 'GET')).toBe(
    true,
  );
  expect((await done('list_payouts')).data).toMatchObject([
    { id: made.json.data.id, mode: 'live', status: 'under_review' },
  ]);
  expect((await done('list_payments')).data).toEqual([]);
  await assistant.end();
});
