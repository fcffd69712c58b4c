/**
 * The life of one payment: opens the checkout, then looks at the provider whenever it calls, and
 * by itself at growing intervals, at the end of the window and for the late money after it. What
 * happens is decided in the database by the provider's facts; this only waits and looks, and takes
 * operators' decisions down.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { OpenOutcome, PaymentInput, VerifyOutcome } from './messages';
import { checkPayment, decidePayment, openPayment, watchPayment } from './payment-activities';
import { PaymentDesk } from './payment-desk';
import { openUpdate, verifyUpdate } from './payment-messages';

/** @returns the payment's status when nothing more can come, or why none came to be */
export async function paymentWorkflow(input: PaymentInput): Promise<string> {
  const desk = new PaymentDesk(input);
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
    desk.wake();
    return { kind: 'verified', answered };
  });

  // A requested cancellation must not leave money unnoticed.
  return CancellationScope.nonCancellable(async () => {
    opened = await openPayment(input);
    if (opened.kind === 'opened') return drive(input, desk);
    await condition(allHandlersFinished);
    return opened.kind;
  });
}

async function drive(input: PaymentInput, desk: PaymentDesk): Promise<string> {
  for (;;) {
    // The provider may call while it is being asked: that answer is too old.
    desk.forgetUpdate();
    await decide(input.paymentId, desk);
    desk.take(await checkPayment(input.paymentId));
    await watch(input, desk);
    if (desk.state.wait !== null) continue;
    await condition(allHandlersFinished);
    if (desk.isIdle()) return desk.state.status;
  }
}

/** Until somebody calls, or nothing is to be waited for. */
async function watch(input: PaymentInput, desk: PaymentDesk): Promise<void> {
  while (desk.isIdle() && desk.state.wait !== null) {
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      if (desk.isIdle()) await goOnAsNew(input, desk);
    }
    await desk.waitForUpdate((seen) => watchPayment(input.paymentId, seen));
  }
}

async function decide(paymentId: string, desk: PaymentDesk): Promise<void> {
  const decision = desk.takeDecision();
  if (decision === null) return;
  const { refusal } = await decidePayment(paymentId, decision);
  desk.noteRefusal(decision, refusal);
}

async function goOnAsNew(input: PaymentInput, { decisionsTaken }: PaymentDesk): Promise<void> {
  await continueAsNew<(input: PaymentInput) => Promise<string>>({ ...input, decisionsTaken });
}
