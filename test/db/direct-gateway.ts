/**
 * The API in the test's process, with the sandbox as its provider and without Temporal: what a workflow does at once,
 * such as reserving the funds, is its activity, called directly. A callback of the provider is looked into at once, and
 * again a while later, so a payment that is paid completes. Nothing else goes on by itself; `drive` carries a payout on.
 */
import type { Deps as ActivityDeps } from '../../activities/deps';
import { LocalCalls } from '../../activities/local-calls';
import { checkPayment } from '../../activities/payment/check';
import { decidePayment } from '../../activities/payment/decide';
import { cancelUnusedCheckout, openPayment } from '../../activities/payment/open';
import { payRefund } from '../../activities/payment/pay-refund';
import { reserveRefund } from '../../activities/payment/reserve-refund';
import { withdrawRefund } from '../../activities/payment/waiting-refunds';
import {
  approvePayout,
  cancelPayout,
  decidePayout,
  rejectPayout,
} from '../../activities/payout/decide';
import { checkPayout, submitPayout } from '../../activities/payout/provider';
import { releasePayout } from '../../activities/payout/release';
import { reservePayout } from '../../activities/payout/reserve';
import { endPayoutBatch } from '../../activities/payout-batch/decide';
import { leaveOutOfPayoutBatch } from '../../activities/payout-batch/leave-out';
import { reservePayoutBatch } from '../../activities/payout-batch/reserve';
import { screenRecipients } from '../../activities/recipient/screen';
import { connect } from '../../src/db/connect';
import { isFinalPayout } from '../../src/domain/payout';
import { createNetworkFees } from '../../src/kit/service/network-fees';
import { startSandbox } from '../../src/rails/sandbox/server';
import type { Deps } from '../../src/shell/deps';
import type { ApiConfig } from '../../src/shell/config';
import type { PaymentWorkflows } from '../../src/temporal/payment-workflows';
import type { PayoutBatchWorkflows } from '../../src/temporal/payout-batch-workflows';
import type { PayoutWorkflows } from '../../src/temporal/payout-workflows';
import type { PaymentInput, PayoutState, VerifyOutcome } from '../../workflows/messages';
import { providerEnvironment } from '../support/servers/gateway';
import { makeCredentials } from '../support/servers/sandbox';
import { waitFor } from '../support/wait-for';
import { PEPPER, startHarness } from './http-harness';

export async function startDirectGateway() {
  const credentials = makeCredentials();
  const [harness, sandbox] = await Promise.all([
    startHarness(),
    startSandbox({ callbackBaseUrl: 'http://127.0.0.1:9', settleMs: 0, credentials }),
  ]);
  // Activities have the login of the worker.
  const { workerUrl } = harness.database;
  const workerDb = connect({ url: workerUrl, size: 8, applicationName: 'gateway-worker' });
  let steps: ActivityDeps | undefined;
  const heard: string[] = [];
  const replace = (deps: Deps<ApiConfig>) => {
    const own = stepsOf(deps, workerDb);
    steps ??= own;
    const paymentWorkflows = paymentsDirectly(deps.paymentWorkflows, own, heard);
    own.paymentWorkflows = paymentWorkflows;
    return {
      payoutWorkflows: payoutsDirectly(deps.payoutWorkflows, own, heard),
      payoutBatchWorkflows: batchesDirectly(deps.payoutBatchWorkflows, own),
      paymentWorkflows,
    };
  };
  const env = {
    ...providerEnvironment(sandbox, credentials, 3_000),
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    WEBHOOK_LIVE_ALLOW_CIDRS: '127.0.0.0/8',
  };
  const start = async (without = 'nothing') => {
    const kept = Object.entries(env).filter(([name]) => !name.startsWith(without));
    const { url } = await harness.startGateway({ env: Object.fromEntries(kept), replace });
    return `${url}/api/v1`;
  };
  const baseUrl = await start();
  sandbox.setCallbackBaseUrl(new URL(baseUrl).origin);
  const step = (): ActivityDeps => {
    if (steps === undefined) throw new Error('The gateway has not started.');
    return steps;
  };
  return {
    baseUrl,
    sandbox,
    db: harness.owner,
    pepper: PEPPER,
    env,
    /** The payouts and payments about which a provider's callback has told, each time. */
    heard,
    /** The URL of another API process that lacks the settings whose names begin like this. */
    startWithout: start,
    /** Approves a payout and submits it. */
    approve: (id: string) => approve(step(), id),
    /** The same, and carries it to its end. */
    drive: (id: string) => drive(step(), id),
    reject: (id: string, reason: string) => rejectPayout(step(), id, 'alice', reason),
    /** Asks the provider of a payment what has become of it. */
    look: (id: string) => checkPayment(step(), id),
    /** One run of the schedule that asks about recipients. */
    screenRecipients: () => screenRecipients(step()),
    stop: async () => {
      await harness.stop();
      await Promise.all([workerDb.destroy(), sandbox.stop()]);
    },
  };
}

function stepsOf(deps: Deps<ApiConfig>, db: ActivityDeps['db']): ActivityDeps {
  return {
    ...deps,
    db,
    consoleUrl: null,
    dashboardUrl: deps.config.publicUrl,
    localCalls: new LocalCalls([]),
    decimalsOf: createNetworkFees(deps.providers).decimals,
    webhookDeliveryStarter: { start: () => undefined, lookFor: () => undefined },
  };
}

/**
 * A callback can arrive before the call that it is about has been recorded, and a look can be refused by a rate limit;
 * a workflow's timer would ask again.
 */
const LOOKED_AGAIN_MS = [300, 1_000, 3_000, 10_000, 30_000];
/** The workflow of a payment first asks after 10 seconds: its callback may have been lost. */
const LOOKED_FIRST_MS = [10_000, 30_000];

function lookAgain(look: () => Promise<unknown>, after: readonly number[] = LOOKED_AGAIN_MS): void {
  for (const ms of after) {
    // The gateway may have stopped by then.
    setTimeout(() => void look().catch(() => undefined), ms).unref();
  }
}

function payoutsDirectly(
  workflows: PayoutWorkflows,
  steps: ActivityDeps,
  heard: string[],
): PayoutWorkflows {
  return {
    ...workflows,
    reserve: async ({ payoutId }) => {
      const result = await reservePayout(steps, { payoutId });
      return result.kind === 'reserved' ? { kind: 'reserved' } : result;
    },
    cancel: async ({ payoutId }, by) => {
      const { applied, state } = await cancelPayout(steps, payoutId, by);
      return applied ? { kind: 'cancelled' } : { kind: 'invalid_state', status: state.status };
    },
    decide: async ({ payoutId }, decisionId) => {
      const { outcome, state } = await decidePayout(steps, payoutId, decisionId);
      if (state.status === 'approved') await submitPayout(steps, payoutId, false);
      return { kind: outcome };
    },
    release: async ({ payoutId }) => {
      const { status } = await releasePayout(steps, payoutId);
      return { kind: 'looked', status };
    },
    sendProviderUpdate: async ({ payoutId }) => {
      heard.push(payoutId);
      lookAgain(() => checkPayout(steps, payoutId));
      await checkPayout(steps, payoutId);
      return { kind: 'sent' };
    },
    wake: () => Promise.resolve(),
  };
}

function batchesDirectly(
  workflows: PayoutBatchWorkflows,
  steps: ActivityDeps,
): PayoutBatchWorkflows {
  return {
    ...workflows,
    reserve: async ({ id }) => {
      const result = await reservePayoutBatch(steps, { batchId: id });
      return result.kind === 'reserved' ? { kind: 'reserved' } : result;
    },
    stop: async ({ id }, by) => {
      const { applied, state } = await endPayoutBatch(steps, id, 'stop', by, null);
      return applied || state.ending === 'stop'
        ? { kind: 'stopped' }
        : { kind: 'invalid_state', status: state.status };
    },
    leaveOut: async ({ id }, by, rows) => {
      const { outcome } = await leaveOutOfPayoutBatch(steps, id, by, rows);
      return { kind: outcome };
    },
    wake: () => Promise.resolve(),
  };
}

function paymentsDirectly(
  workflows: PaymentWorkflows,
  steps: ActivityDeps,
  heard: string[],
): PaymentWorkflows {
  const ask = async (paymentId: string): Promise<VerifyOutcome> => {
    const { answered, wait } = await checkPayment(steps, paymentId);
    const { retryAfterMs } = wait ?? {};
    return { kind: 'verified', answered, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  };
  return {
    ...workflows,
    open: (start) => {
      lookAgain(() => checkPayment(steps, start.paymentId), LOOKED_FIRST_MS);
      return open(steps, start);
    },
    verify: ({ paymentId }) => ask(paymentId),
    cancel: async ({ paymentId }, id) => {
      const decision = { kind: 'cancel', id, amount: null, by: null, reason: null } as const;
      await decidePayment(steps, paymentId, { ...decision, isMerchants: true });
      return ask(paymentId);
    },
    refund: async ({ paymentId }, refundId) => {
      const outcome = await reserveRefund(steps, paymentId, refundId);
      if (outcome.kind === 'reserved') await checkPayment(steps, paymentId);
      return outcome;
    },
    payRefund: ({ paymentId }, refundId) => payRefund(steps, paymentId, refundId),
    withdraw: ({ paymentId }, refundId) => withdrawRefund(steps, paymentId, refundId),
    sendProviderUpdate: async ({ paymentId }) => {
      heard.push(paymentId);
      lookAgain(() => checkPayment(steps, paymentId));
      await checkPayment(steps, paymentId);
      return { kind: 'sent' };
    },
  };
}

/** The checkout of a payment, as its workflow opens it. */
async function open(deps: ActivityDeps, { paymentId, provider, mode }: PaymentInput) {
  const input = { paymentId, provider, mode };
  const report = await openPayment(deps, input);
  if ('unusedCheckout' in report) await cancelUnusedCheckout(deps, input);
  return report;
}

async function approve(deps: ActivityDeps, id: string): Promise<PayoutState> {
  await approvePayout(deps, id, 'alice', 'signal');
  return submitPayout(deps, id, false);
}

async function drive(deps: ActivityDeps, id: string): Promise<PayoutState['status']> {
  let state = await approve(deps, id);
  await waitFor(`${id} to be final`, async () => {
    if (state.status === 'processing') state = await checkPayout(deps, id);
    else if (!isFinalPayout(state.status)) state = await submitPayout(deps, id, false);
    return isFinalPayout(state.status);
  });
  return state.status;
}
