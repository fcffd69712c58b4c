/**
 * One payout, from reservation to its final status. The database's guarded transitions decide; the
 * workflow waits, calls the activities and shows the state to operators. Each step is an idempotent
 * activity, so a new run after a termination continues from the row. Its updates are handled here, its
 * signals in payout-page.ts and operator-page.ts.
 *
 * Started by features/payouts (update-with-start `reserve`) and, when it is missing, by
 * restart-missing, a cancel or a provider's callback.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineUpdate,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities';
import { isId } from '../src/domain/ids';
import { isFinalPayout } from '../src/domain/payout';
import {
  activities,
  LOCAL_PROVIDER_CALL,
  localActivities,
  localFirst,
  PROVIDER_CALL,
  TRANSACTION,
} from './activities';
import type { Timer } from './operator-page';
import type {
  CancelOutcome,
  DecideOutcome,
  Hold,
  PayoutInput,
  PayoutState,
  ReleaseOutcome,
  ReserveOutcome,
  Wait,
} from './messages';
import { providerQueue, UPDATES } from './names';
import { isName, NAME_LENGTH_MAX } from './operator-input';
import { PayoutPage } from './payout-page';

const { reservePayout } = localActivities<'reservePayout'>({
  ...TRANSACTION,
  summary: 'Reserve the funds',
});
const { approvePayout } = localActivities<'approvePayout'>({
  ...TRANSACTION,
  summary: 'Approve the payout',
});
const { rejectPayout } = localActivities<'rejectPayout'>({
  ...TRANSACTION,
  summary: 'Reject the payout',
});

const { releasePayout } = localActivities<'releasePayout'>({
  ...TRANSACTION,
  summary: 'Release the payout if its conditions are met',
});

/**
 * Cancelling is not a local activity, which would run before the update is recorded, at the end of the
 * workflow task. After a crash in between, the row would be cancelled and its workflow would wait for
 * ever.
 */
const { cancelPayout } = activities<'cancelPayout'>({
  ...TRANSACTION,
  // A merchant is waiting: if the worker dies, another one must retry before the request times out.
  startToCloseTimeout: '4 seconds',
  summary: 'Cancel the payout',
});

/** Deciding is not a local activity either, for the same reason. An operator is waiting. */
const { decidePayout } = activities<'decidePayout'>({
  ...TRANSACTION,
  startToCloseTimeout: '4 seconds',
  summary: 'Apply the decision of an operator',
});

/** While the payout waits: its verdict is there when an operator looks at it. */
const { screenQueued } = activities<'screenQueued'>({
  startToCloseTimeout: '20 seconds',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 3, maximumAttempts: 6 },
  summary: 'Ask the screening',
});

/** Once more before an approval, because an answer counts for a day. */
const { screenQueued: screenBeforeApproval } = activities<'screenQueued'>({
  startToCloseTimeout: '20 seconds',
  retry: { maximumAttempts: 1 },
  summary: 'Ask the screening before the approval',
});

/** The same for a release that a merchant's key approves. */
const { releasePayout: releaseForMerchant } = activities<'releasePayout'>({
  ...TRANSACTION,
  startToCloseTimeout: '4 seconds',
  summary: 'Release the payout if its conditions are met',
});

/** @param mayBeFast otherwise the call waits in the provider's task queue */
function callProvider(
  page: PayoutPage,
  summary: string,
  mayBeFast: boolean,
  call: (steps: Activities) => Promise<PayoutState>,
): Promise<PayoutState> {
  const regular = () => {
    page.publish();
    return { ...PROVIDER_CALL, taskQueue: providerQueue(page.state) };
  };
  return localFirst(call, { summary, local: mayBeFast ? LOCAL_PROVIDER_CALL : null, regular });
}

/** Waits for the reservation that the workflow makes. */
const reserveUpdate = defineUpdate<ReserveOutcome>(UPDATES.reserve);

/** The merchant's cancel; `by` is the id of the request. */
const cancelUpdate = defineUpdate<CancelOutcome, [by: string]>(UPDATES.cancel);

/** A decision that the console has stored; its id is the only input, so nobody can claim a name. */
const decideUpdate = defineUpdate<DecideOutcome, [decisionId: string]>(UPDATES.decide);

/** A key of the merchant has approved the payout, which the database has stored. */
const releaseUpdate = defineUpdate<ReleaseOutcome>(UPDATES.release);

/** @returns the final status, or why no payout was created */
export async function payoutWorkflow(input: PayoutInput): Promise<string> {
  const page = new PayoutPage(input.payoutId);
  let reserved: ReserveOutcome | null = null;
  const outcome = async (): Promise<ReserveOutcome> => {
    await CancellationScope.nonCancellable(() => condition(() => reserved !== null));
    return reserved ?? { kind: 'abandoned' };
  };
  setHandler(reserveUpdate, outcome);
  setHandler(
    cancelUpdate,
    async (by: string): Promise<CancelOutcome> => {
      if ((await outcome()).kind !== 'reserved') throw ApplicationFailure.nonRetryable(NO_PAYOUT);
      return cancel(input.payoutId, page, by);
    },
    { validator: checkCanceller },
  );
  setHandler(
    decideUpdate,
    async (decisionId: string): Promise<DecideOutcome> => {
      if ((await outcome()).kind !== 'reserved') throw ApplicationFailure.nonRetryable(NO_PAYOUT);
      return decide(input.payoutId, page, decisionId);
    },
    { validator: checkDecisionId },
  );
  setHandler(releaseUpdate, async (): Promise<ReleaseOutcome> => {
    if ((await outcome()).kind !== 'reserved') throw ApplicationFailure.nonRetryable(NO_PAYOUT);
    return release(input.payoutId, page);
  });

  // Temporal's cancellation request, unlike the merchant's cancel, must not strand the funds.
  return CancellationScope.nonCancellable(async () => {
    const result = await reservePayout(input);
    if (result.kind === 'reserved') {
      page.linkTo(result.consolePage);
      page.skipsBrief = result.skipsBrief === true;
      page.take(result.state);
      page.isScreenedFirst = result.isScreenedFirst === true;
      if (page.isScreenedFirst) void screenQueued(input.payoutId, null).catch(ignore);
    }
    reserved = result.kind === 'reserved' ? { kind: 'reserved' } : result;
    const end = result.kind === 'reserved' ? await run(input, page) : result.kind;
    await condition(allHandlersFinished);
    return end;
  });
}

const NO_PAYOUT = 'The payout does not exist.';

/** The gateway sends a request's id, but an operator can also send the update by hand. */
function checkCanceller(by: unknown): void {
  if (isName(by)) return;
  throw ApplicationFailure.nonRetryable(
    `\`cancel\` requires one string of at most ${NAME_LENGTH_MAX} characters: the id or name of the caller.`,
  );
}

function checkDecisionId(decisionId: unknown): void {
  if (typeof decisionId === 'string' && isId('decision', decisionId)) return;
  throw ApplicationFailure.nonRetryable(
    '`decide` requires the id of a decision that was made in the console.',
  );
}

async function decide(
  payoutId: string,
  page: PayoutPage,
  decisionId: string,
): Promise<DecideOutcome> {
  const { outcome, state } = await CancellationScope.nonCancellable(async () => {
    await askBeforeApproval(payoutId, page, decisionId);
    return decidePayout(payoutId, decisionId);
  });
  page.take(state);
  return { kind: outcome };
}

async function askBeforeApproval(
  payoutId: string,
  page: PayoutPage,
  decisionId: string | null,
): Promise<void> {
  if (page.isScreenedFirst) await screenBeforeApproval(payoutId, decisionId).catch(ignore);
}

/** A source gave no answer: the approval does not wait, and nothing is submitted without one. */
function ignore(): void {
  // The history has the failure.
}

async function cancel(payoutId: string, page: PayoutPage, by: string): Promise<CancelOutcome> {
  const { applied, state } = await CancellationScope.nonCancellable(() =>
    cancelPayout(payoutId, by),
  );
  page.take(state);
  return applied ? { kind: 'cancelled' } : { kind: 'invalid_state', status: state.status };
}

async function release(payoutId: string, page: PayoutPage): Promise<ReleaseOutcome> {
  const state = await CancellationScope.nonCancellable(() => releaseForMerchant(payoutId));
  page.take(state);
  // The time of the next look may be another one now.
  if (state.waiting !== undefined) page.noteProviderUpdate();
  return { kind: 'looked', status: state.status };
}

/** Takes one turn per status change or wait. A turn depends only on the status. */
async function run(input: PayoutInput, page: PayoutPage): Promise<string> {
  while (!isFinalPayout(page.state.status)) {
    if (workflowInfo().continueAsNewSuggested && page.isIdle()) {
      await condition(allHandlersFinished);
      // A decision that arrived meanwhile is only in this run's memory.
      if (page.isIdle()) await continueAsNew<(input: PayoutInput) => Promise<string>>(input);
    }
    const before = page.state;
    page.takeStep(before, await turn(input.payoutId, page));
  }
  page.publish();
  return page.state.status;
}

async function turn(payoutId: string, page: PayoutPage): Promise<PayoutState> {
  switch (page.state.status) {
    case 'requested':
      return awaitDecision(payoutId, page, page.state.autoApproveInMs);
    case 'under_review':
      return awaitDecision(payoutId, page, null);
    case 'approved':
      return submit(payoutId, page);
    case 'processing':
      return check(payoutId, page);
    case 'completed':
    case 'rejected':
    case 'failed':
    case 'cancelled':
      return page.state;
  }
}

async function awaitDecision(
  payoutId: string,
  page: PayoutPage,
  autoApproveInMs: number | null,
): Promise<PayoutState> {
  const { status, waiting } = page.state;
  const timer =
    autoApproveInMs === null ? undefined : { ms: autoApproveInMs, summary: 'Automatic approval' };
  if (waiting === undefined) await page.waitFor(() => page.hasDecision(), timer);
  else await page.waitToLook(waiting);
  // The payout was cancelled, or decided in the console.
  if (page.state.status !== status) return page.state;
  const decision = page.takeDecision();
  if (waiting !== undefined && decision === null) {
    page.forgetProviderUpdate();
    return releasePayout(payoutId);
  }
  if (decision?.kind === 'reject') return reject(payoutId, page, decision.by, decision.reason);
  await askBeforeApproval(payoutId, page, null);
  const bySignal = decision === null ? undefined : 'signal';
  const { applied, state, instead } = await approvePayout(payoutId, decision?.by ?? null, bySignal);
  if (!applied && state.status === 'under_review' && decision !== null) {
    page.remarkUnchanged(decision, instead ?? NEEDS_TWO);
  }
  return state;
}

/** Submits an approved payout; while it is held, an operator can still reject it. */
async function submit(payoutId: string, page: PayoutPage): Promise<PayoutState> {
  const { wait, isUntaken = false } = page.state;
  const awaited = () => page.hasDecision() || page.hasProviderUpdate();
  if (wait !== null) await page.waitFor(awaited, timerOf(wait, 'Submit again'));
  page.forgetProviderUpdate();
  // The payout was rejected in the console.
  if (isFinalPayout(page.state.status)) return page.state;
  const decision = page.takeDecision();
  if (decision?.kind === 'reject') return reject(payoutId, page, decision.by, decision.reason);
  // A payout in doubt, and one that the provider has limited, waits in the provider's task queue.
  const mayBeFast = wait === null || wait.ms === null;
  return callProvider(page, 'Submit to the provider', mayBeFast, ({ submitPayout }) =>
    submitPayout(payoutId, isUntaken),
  );
}

async function reject(
  payoutId: string,
  page: PayoutPage,
  by: string | null,
  reason: string | null,
): Promise<PayoutState> {
  const { applied, state } = await rejectPayout(payoutId, by, reason);
  // A rejection that was not applied to a final payout came after an earlier attempt of it, or after
  // the merchant's cancel.
  if (!applied && !isFinalPayout(state.status)) page.remark(TOO_LATE);
  return state;
}

const NEEDS_TWO = 'this amount requires the approval of two operators in the console';

const TOO_LATE = '`reject` had no effect: the payout was already submitted to the provider.';

async function check(payoutId: string, page: PayoutPage): Promise<PayoutState> {
  const { wait } = page.state;
  if (wait !== null) {
    await page.waitFor(() => page.hasProviderUpdate(), timerOf(wait, 'Next check'));
  }
  page.forgetProviderUpdate();
  const isLimited = wait !== null && wait.ms !== null && wait.retryAfterMs !== undefined;
  return callProvider(page, 'Check with the provider', !isLimited, ({ checkPayout }) =>
    checkPayout(payoutId),
  );
}

function timerOf(wait: Wait | Hold, summary: string): Timer | undefined {
  if (wait.ms === null) return undefined;
  const why = wait.retryAfterMs === undefined ? '' : ': the provider limits the rate of requests';
  return { ms: wait.ms, summary: summary + why };
}
