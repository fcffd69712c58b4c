/**
 * The API in the test's process, with the sandbox as its provider and without Temporal: what a workflow does at once,
 * such as reserving the funds, is its activity, called directly. Nothing goes on by itself; `drive` carries a payout on.
 */
import type { Deps as ActivityDeps } from '../../activities/deps';
import { LocalCalls } from '../../activities/local-calls';
import { cancelUnusedCheckout, openPayment } from '../../activities/payment/open';
import { approvePayout, cancelPayout, rejectPayout } from '../../activities/payout/decide';
import { checkPayout, submitPayout } from '../../activities/payout/provider';
import { reservePayout } from '../../activities/payout/reserve';
import { connect } from '../../src/db/connect';
import { isFinalPayout } from '../../src/domain/payout';
import { createNetworkFees } from '../../src/kit/service/network-fees';
import { startSandbox } from '../../src/rails/sandbox/server';
import type { Deps } from '../../src/shell/deps';
import type { ApiConfig } from '../../src/shell/config';
import type { PayoutWorkflows } from '../../src/temporal/payout-workflows';
import type { PaymentInput, PayoutState } from '../../workflows/messages';
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
  const replace = (deps: Deps<ApiConfig>) => {
    const own = stepsOf(deps, workerDb);
    steps ??= own;
    return {
      payoutWorkflows: directly(deps.payoutWorkflows, own),
      paymentWorkflows: {
        ...deps.paymentWorkflows,
        open: (start: PaymentInput) => open(own, start),
      },
    };
  };
  const env = providerEnvironment(sandbox, credentials, 1_000);
  const start = async (without = '-') => {
    const kept = Object.entries(env).filter(([name]) => !name.startsWith(without));
    const { url } = await harness.startGateway({ env: Object.fromEntries(kept), replace });
    return `${url}/api/v1`;
  };
  const baseUrl = await start();
  const step = (): ActivityDeps => {
    if (steps === undefined) throw new Error('The gateway has not started.');
    return steps;
  };
  return {
    baseUrl,
    sandbox,
    db: harness.owner,
    pepper: PEPPER,
    /** The URL of another API process that lacks the settings whose names begin like this. */
    startWithout: start,
    /** Approves a payout and carries it to its end. */
    drive: (id: string) => drive(step(), id),
    reject: (id: string, reason: string) => rejectPayout(step(), id, 'alice', reason),
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
    localCalls: new LocalCalls([]),
    decimalsOf: createNetworkFees(deps.providers).decimals,
    webhookDeliveryStarter: { start: () => undefined, lookFor: () => undefined },
  };
}

function directly(workflows: PayoutWorkflows, steps: ActivityDeps): PayoutWorkflows {
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
  };
}

async function open(deps: ActivityDeps, { paymentId, provider, mode }: PaymentInput) {
  const input = { paymentId, provider, mode };
  const report = await openPayment(deps, input);
  if ('unusedCheckout' in report) await cancelUnusedCheckout(deps, input);
  return report;
}

async function drive(deps: ActivityDeps, id: string): Promise<PayoutState['status']> {
  await approvePayout(deps, id, 'alice', 'signal');
  const { status } = await waitFor(`${id} to be final`, async () => {
    const submitted = await submitPayout(deps, id, false);
    const state = submitted.status === 'processing' ? await checkPayout(deps, id) : submitted;
    return isFinalPayout(state.status) ? state : undefined;
  });
  return status;
}
