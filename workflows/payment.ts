/**
 * The life of one payment: opens the checkout, then asks the provider whenever it sends an update,
 * and at growing intervals, at the end of the window and for the late money after it. The database
 * decides by the provider's facts what happens; the workflow waits, asks, and records operators'
 * decisions.
 */
import {
  ActivityCancellationType,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineUpdate,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { activities, localActivities, PROVIDER_CALL, TRANSACTION } from './activities';
import type { OpenOutcome, PaymentInput, VerifyOutcome } from './messages';
import { UPDATES } from './names';
import { PaymentInbox } from './payment-inbox';

/** A merchant waits for the checkout: it gives up on the provider before the API gives up on it. */
const { openPayment } = activities<'openPayment'>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
  summary: 'Open the checkout',
});
const { checkPayment } = activities<'checkPayment'>({
  ...PROVIDER_CALL,
  summary: 'Check with the provider',
});

/** Fails as long as nothing has changed; each failure says when to call it again. */
const { watchPayment } = activities<'watchPayment'>({
  ...PROVIDER_CALL,
  // Whoever calls it off goes on at once: asking once more does no harm.
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  summary: 'Poll the provider',
});
const { decidePayment } = localActivities<'decidePayment'>(TRANSACTION);

/** Waits for the checkout, which the workflow opens anyway. */
const openUpdate = defineUpdate<OpenOutcome>(UPDATES.open);

/** Asks the provider now. */
const verifyUpdate = defineUpdate<VerifyOutcome>(UPDATES.verify);

/** @returns the payment's status when nothing more can come, or why none came to be */
export async function paymentWorkflow(input: PaymentInput): Promise<string> {
  const inbox = new PaymentInbox(input);
  let opened: OpenOutcome | null = null;
  setHandler(openUpdate, async (): Promise<OpenOutcome> => {
    await CancellationScope.nonCancellable(() => condition(() => opened !== null));
    return opened ?? { kind: 'abandoned' };
  });
  setHandler(verifyUpdate, async (): Promise<VerifyOutcome> => {
    await CancellationScope.nonCancellable(() => condition(() => opened !== null));
    const { answered } = await CancellationScope.nonCancellable(() =>
      checkPayment(input.paymentId),
    );
    // What it changed is for the main loop to see.
    inbox.noteProviderUpdate();
    return { kind: 'verified', answered };
  });

  // A requested cancellation must not leave money unnoticed.
  return CancellationScope.nonCancellable(async () => {
    opened = await openPayment(input);
    if (opened.kind === 'opened') return run(input, inbox);
    await condition(allHandlersFinished);
    return opened.kind;
  });
}

async function run(input: PaymentInput, inbox: PaymentInbox): Promise<string> {
  for (;;) {
    // The provider may send an update while it is being asked: that answer is too old.
    inbox.forgetProviderUpdate();
    await decide(input.paymentId, inbox);
    inbox.take(await checkPayment(input.paymentId));
    await watch(input, inbox);
    if (inbox.state.wait !== null) continue;
    await condition(allHandlersFinished);
    if (inbox.isIdle()) return inbox.state.status;
  }
}

/** Until something comes in, or nothing is to be waited for. */
async function watch(input: PaymentInput, inbox: PaymentInbox): Promise<void> {
  while (inbox.isIdle() && inbox.state.wait !== null) {
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      if (inbox.isIdle()) await goOnAsNew(input, inbox);
    }
    await inbox.waitForUpdate((seen) => watchPayment(input.paymentId, seen));
  }
}

async function decide(paymentId: string, inbox: PaymentInbox): Promise<void> {
  const decision = inbox.takeDecision();
  if (decision === null) return;
  const { refusal } = await decidePayment(paymentId, decision);
  inbox.noteRefusal(decision, refusal);
}

async function goOnAsNew(input: PaymentInput, { decisionsTaken }: PaymentInbox): Promise<void> {
  await continueAsNew<(input: PaymentInput) => Promise<string>>({ ...input, decisionsTaken });
}
