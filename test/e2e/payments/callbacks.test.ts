/** Callbacks of the providers over HTTP: only an authentic one is taken, and none moves money. */
import { brokenInvariants, useSharedGateway } from '../../support/servers/gateway';
import {
  acceptedPayout,
  approve,
  balanceOf,
  magic,
  openMerchant,
  whenFinal,
  whenPayout,
} from '../../support/payout/payout-steps';
import { control, readBookEntry } from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';
import { started } from '../../support/started';
import {
  type Callback,
  callbackSecret,
  deliverCallback,
  PAYOUT_CLAIMS,
} from '../../support/servers/provider-callbacks';
import type { Mode } from '../../../src/domain/mode';
import type { ProviderCode } from '../../../src/domain/provider-codes';

const gateway = started(useSharedGateway);

const secretOf = (provider: ProviderCode, mode: Mode) => callbackSecret(gateway, provider, mode);
const deliver = (path: string, callback: Callback) => deliverCallback(gateway, path, callback);

const BOTH: ProviderCode[] = ['onchain_provider', 'exchange_pay'];

/** A payout in processing of which the provider never says a final word by itself. */
async function openPayout(provider: ProviderCode) {
  const { client } = await openMerchant(gateway, { funds: { USDT: '100' } });
  const destination =
    provider === 'onchain_provider'
      ? { destination: magic('never_settles') }
      : { destination: { type: 'exchange_id', value: '9000009014' }, network: undefined };
  const id = await acceptedPayout(client, destination);
  await approve(gateway, id);
  await whenPayout(client, id, 'processing');
  return { client, id };
}

test.each(BOTH)(
  'an authentic claim of %s is only a reason to ask the provider',
  async (provider) => {
    const { client, id } = await openPayout(provider);
    const claim = PAYOUT_CLAIMS[provider](id, secretOf(provider, 'live'));
    expect(await deliver(`${provider}/live`, claim)).toMatchObject({ status: 200 });
    // The provider itself says that it is pending.
    await waitFor('the update to arrive', async () => {
      const { events } = await gateway.temporal.workflow.getHandle(id).fetchHistory();
      const names = (events ?? []).map(
        (one) => one.workflowExecutionSignaledEventAttributes?.signalName,
      );
      return names.includes('providerUpdate');
    });
    expect((await client.get(`/payouts/${id}`)).json.data.status).toBe('processing');

    const key = { provider, mode: 'live', client_reference: id };
    await control(gateway.sandbox.url, 'transfers/settle', key);
    expect(await whenFinal(client, id)).toMatchObject({ status: 'completed' });
    expect(await balanceOf(client)).toMatchObject({ reserved: '0.00000000' });
    expect(await brokenInvariants(gateway)).toEqual([]);
  },
);

test('a success after a failure moves nothing and is noted for an operator', async () => {
  const { client } = await openMerchant(gateway, { funds: { USDT: '100' } });
  const id = await acceptedPayout(client, { destination: magic('success_after_failure') });
  await approve(gateway, id);
  expect(await whenFinal(client, id)).toMatchObject({ status: 'failed' });
  const openedCase = await waitFor('the case', async () => {
    const [found] = await gateway.db.query<{ kind: string; details: object }>(
      'SELECT kind, details FROM cases WHERE object_id = ?',
      [id],
    );
    return found;
  });
  expect(openedCase).toEqual({
    kind: 'sent_after_return_of_funds',
    details: { ours: 'failed', theirs: 'sent' },
  });
  expect(await readBookEntry(gateway.sandbox.url, id)).toMatchObject({ status: 'sent' });
  expect((await client.get(`/payouts/${id}`)).json.data.status).toBe('failed');
  expect(await balanceOf(client)).toMatchObject({ available: '100.00000000' });
});
