/** The workflows of the bare limit: the steps of a payout, a payment and a delivery, and nothing else. */
import {
  condition,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  defineSignal,
  defineUpdate,
} from '@temporalio/workflow';
import type { Flow, FlowActivities } from './flow-activities';

const OPTIONS = { startToCloseTimeout: '10 seconds' } as const;
const local = proxyLocalActivities<FlowActivities>(OPTIONS);
const regular = proxyActivities<FlowActivities>(OPTIONS);

const created = defineUpdate<boolean>('created');
const approve = defineSignal('approve');
const providerUpdate = defineSignal('providerUpdate');

/** Provider calls as local activities. */
export const leanPayout = (flow: Flow) => payout(flow, local);
/** Provider calls as regular activities. */
export const regularPayout = (flow: Flow) => payout(flow, regular);

async function payout(
  flow: Flow,
  provider: Pick<FlowActivities, 'submit' | 'checkTransfer'>,
): Promise<void> {
  const state = takeMessages();
  await local.reserve(flow);
  state.isCreated = true;
  await condition(() => state.isApproved);
  await local.approve(flow);
  await provider.submit(flow);
  do await updateOrTimer(state, '2 seconds');
  while (!(await provider.checkTransfer(flow)));
}

export async function payment(flow: Flow): Promise<void> {
  const state = takeMessages();
  await local.openCheckout(flow);
  state.isCreated = true;
  do await updateOrTimer(state, '10 seconds');
  while (!(await local.checkCheckout(flow)));
}

export async function delivery(url: string, body: string): Promise<void> {
  await local.post(url, body);
}

function takeMessages() {
  const state = { isCreated: false, isApproved: false, isUpdated: false };
  setHandler(created, async () => {
    await condition(() => state.isCreated);
    return true;
  });
  setHandler(approve, () => void (state.isApproved = true));
  setHandler(providerUpdate, () => void (state.isUpdated = true));
  return state;
}

async function updateOrTimer(state: { isUpdated: boolean }, timer: '2 seconds' | '10 seconds') {
  await condition(() => state.isUpdated, timer);
  state.isUpdated = false;
}
