/** The ways that a payout can go, as data: what is done with it, its steps and its events. */
import { ApiError } from '../../../src/domain/errors';
import type { Mode } from '../../../src/domain/mode';
import type { ScenarioName } from '../../../src/rails/sandbox/transfers/scenarios';
import type { ActivityName } from '../chaos/activity-faults';
import { createPayoutCase, type CaseOptions, type PayoutCase, readPayout } from './payout-case';
import type { WorkflowWorld } from '../servers/workflow-world';
import { waitThroughFaults } from '../wait-for';

export interface Branch {
  /** Also the name of its history under test/fixtures/histories. */
  name: string;
  title: string;
  mode: Mode;
  /** Test mode only: live payouts are always reviewed. */
  review?: boolean;
  scenario?: ScenarioName;
  act?: (payout: PayoutCase, world: WorkflowWorld) => Promise<unknown>;
  /** The activities that it cannot do without, as often as it needs them. */
  steps: ActivityName[];
  events: string[];
}

const SENT = ['requested', 'approved', 'processing', 'completed'];
const UNTIL_SUBMITTED: ActivityName[] = ['reservePayout', 'approvePayout', 'submitPayout'];
const UNTIL_CHECKED: ActivityName[] = [...UNTIL_SUBMITTED, 'checkPayout'];
/** The first answer is lost; the second call asks what became of it. */
const UNTIL_FOUND: ActivityName[] = [...UNTIL_SUBMITTED, 'submitPayout'];

const approve = ({ handle }: PayoutCase) => handle.signal('approve', { by: 'alice' });
const reject = ({ handle }: PayoutCase) => handle.signal('reject', { by: 'bob', reason: 'no' });
/** Merchants are told to send what was answered with 503 again; it may have been done. */
const cancel = (payout: PayoutCase, world: WorkflowWorld) =>
  waitThroughFaults('the cancellation', async () => {
    try {
      return await world.payouts().cancel(payout.caller, payout.id);
    } catch (error) {
      const wasCancelled =
        error instanceof ApiError &&
        error.code === 'invalid_state' &&
        (await readPayout(world, payout)).status === 'cancelled';
      if (wasCancelled) return 'cancelled before';
      throw error;
    }
  });

export const BRANCHES: readonly Branch[] = [
  {
    name: 'approves-itself',
    title: 'a test payout that approves itself',
    mode: 'test',
    steps: UNTIL_CHECKED,
    events: SENT,
  },
  {
    name: 'approved',
    title: 'a live payout that is approved',
    mode: 'live',
    act: approve,
    steps: UNTIL_CHECKED,
    events: SENT,
  },
  {
    name: 'rejected',
    title: 'a payout that is rejected',
    mode: 'live',
    act: reject,
    steps: ['reservePayout', 'rejectPayout'],
    events: ['requested', 'rejected'],
  },
  {
    name: 'cancelled-while-requested',
    title: 'a requested payout that is cancelled',
    mode: 'test',
    act: cancel,
    steps: ['reservePayout', 'cancelPayout'],
    events: ['requested', 'cancelled'],
  },
  {
    name: 'cancelled-under-review',
    title: 'a payout under review that is cancelled',
    mode: 'test',
    review: true,
    act: cancel,
    steps: ['reservePayout', 'cancelPayout'],
    events: ['requested', 'cancelled'],
  },
  {
    name: 'refused',
    title: 'a payout that the provider refuses',
    mode: 'test',
    scenario: 'refuses',
    steps: UNTIL_SUBMITTED,
    events: ['requested', 'approved', 'failed'],
  },
  {
    name: 'fails-later',
    title: 'a payout that fails later',
    mode: 'live',
    act: approve,
    scenario: 'fails_later',
    steps: UNTIL_CHECKED,
    events: ['requested', 'approved', 'processing', 'failed'],
  },
  {
    name: 'timeout-after-accept',
    title: 'a submission that times out after it was accepted',
    mode: 'live',
    act: approve,
    scenario: 'timeout_after_accept',
    steps: UNTIL_FOUND,
    events: SENT,
  },
  {
    name: 'timeout-before-accept',
    title: 'a submission that times out before it was accepted',
    mode: 'live',
    act: approve,
    scenario: 'timeout_before_accept',
    steps: [...UNTIL_FOUND, 'checkPayout'],
    events: SENT,
  },
  {
    name: 'connection-reset',
    title: 'a submission that breaks off',
    mode: 'live',
    act: approve,
    scenario: 'connection_reset',
    steps: UNTIL_FOUND,
    events: SENT,
  },
  {
    name: 'callback-lost',
    title: 'a payout whose callback is lost',
    mode: 'test',
    scenario: 'callback_lost',
    steps: UNTIL_CHECKED,
    events: SENT,
  },
];

/** Creates the payout and does what its branch has people do. */
export async function startBranch(
  world: WorkflowWorld,
  { mode, review = false, scenario = 'sends', act }: Branch,
  options: CaseOptions = {},
): Promise<PayoutCase> {
  const payout = await createPayoutCase(world, { ...options, mode, review, scenario });
  await act?.(payout, world);
  return payout;
}
