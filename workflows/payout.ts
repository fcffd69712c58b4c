/**
 * The life of one payout, from reservation to its end. The database's guarded transitions decide;
 * this drives, waits and shows an operator where things stand. Each step is an idempotent
 * activity, so a run that was terminated is simply started again: it takes up where the row is.
 *
 * Started by services/payouts (update-with-start `reserve`) and, when it is missing, by the
 * reconciler, a cancel or a provider's callback.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { isFinalPayout } from '../src/domain/payout';
import type { CancelOutcome, PayoutInput, PayoutState, ReserveOutcome } from './messages';
import { UNREADABLE } from './payload-converter';
import { database, provider } from './payout-activities';
import { PayoutDesk } from './payout-desk';
import { cancelUpdate, reserveUpdate } from './payout-messages';

/** @returns the payout's final status, or why no payout came to be */
export async function payoutWorkflow(input: PayoutInput): Promise<string> {
  const desk = new PayoutDesk(input.payoutId);
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
      return cancel(input.payoutId, desk, by);
    },
    { validator: checkCanceller },
  );
  desk.noteCancellationRequests();

  // A requested cancellation (Temporal's, not the merchant's) must not strand the funds.
  return CancellationScope.nonCancellable(async () => {
    const result = await database.reservePayout(input);
    // Only what people type is taken as it comes. This fails the task, until a worker can read it.
    if ((result as unknown) === UNREADABLE) throw new Error('the reservation is unreadable');
    if (result.kind === 'reserved') desk.take(result.state);
    reserved = result.kind === 'reserved' ? { kind: 'reserved' } : result;
    const end = result.kind === 'reserved' ? await drive(input, desk) : result.kind;
    await condition(allHandlersFinished);
    return end;
  });
}

const NO_PAYOUT = 'there is no payout to cancel';

/** Ours is a request's id; somebody may also type the update by hand. */
function checkCanceller(by: unknown): void {
  if (typeof by !== 'string' || by === '' || by.includes('\0')) {
    throw ApplicationFailure.nonRetryable('`cancel` takes one text: who cancels');
  }
}

async function cancel(payoutId: string, desk: PayoutDesk, by: string): Promise<CancelOutcome> {
  const { applied, state } = await CancellationScope.nonCancellable(() =>
    database.cancelPayout(payoutId, by),
  );
  desk.take(state);
  return applied ? { kind: 'cancelled' } : { kind: 'invalid_state', status: state.status };
}

/** One turn for each thing that can happen next; what a turn does depends on the status alone. */
async function drive(input: PayoutInput, desk: PayoutDesk): Promise<string> {
  while (!isFinalPayout(desk.state.status)) {
    if (workflowInfo().continueAsNewSuggested && desk.isIdle()) {
      await condition(allHandlersFinished);
      await continueAsNew<(input: PayoutInput) => Promise<string>>(input);
    }
    desk.take(await turn(input.payoutId, desk));
  }
  return desk.state.status;
}

async function turn(payoutId: string, desk: PayoutDesk): Promise<PayoutState> {
  switch (desk.state.status) {
    case 'requested':
      return awaitDecision(payoutId, desk, desk.state.autoApproveInMs);
    case 'under_review':
      return awaitDecision(payoutId, desk, null);
    case 'approved':
      return submit(payoutId, desk);
    case 'processing':
      return check(payoutId, desk);
    default:
      return desk.state;
  }
}

async function awaitDecision(
  payoutId: string,
  desk: PayoutDesk,
  autoApproveInMs: number | null,
): Promise<PayoutState> {
  await desk.waitFor(() => desk.hasDecision(), autoApproveInMs, 'approves by itself');
  if (isFinalPayout(desk.state.status)) return desk.state;
  const decision = desk.takeDecision();
  if (decision?.kind === 'reject') return reject(payoutId, desk, decision.by, decision.reason);
  return (await database.approvePayout(payoutId, decision?.by ?? null)).state;
}

/** An approved payout is handed over; while it is held back an operator may still reject it. */
async function submit(payoutId: string, desk: PayoutDesk): Promise<PayoutState> {
  const { wait } = desk.state;
  const awaited = () => desk.hasDecision() || desk.hasUpdate();
  if (wait !== null) await desk.waitFor(awaited, wait.ms, 'tries again');
  desk.forgetUpdate();
  const decision = desk.takeDecision();
  if (decision?.kind === 'reject') return reject(payoutId, desk, decision.by, decision.reason);
  return provider.submitPayout(payoutId);
}

async function reject(
  payoutId: string,
  desk: PayoutDesk,
  by: string | null,
  reason: string | null,
): Promise<PayoutState> {
  const { applied, state } = await database.rejectPayout(payoutId, by, reason);
  // Not applied and final: an earlier try of this very rejection, or the merchant's cancel, won.
  if (!applied && !isFinalPayout(state.status)) desk.note(TOO_LATE);
  return state;
}

const TOO_LATE = '`reject` came too late: the payout was handed to the provider.';

async function check(payoutId: string, desk: PayoutDesk): Promise<PayoutState> {
  const { wait } = desk.state;
  if (wait !== null) await desk.waitFor(() => desk.hasUpdate(), wait.ms, 'asks the provider');
  desk.forgetUpdate();
  return provider.checkPayout(payoutId);
}
