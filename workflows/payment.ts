/**
 * The life of one payment: opens the checkout, then looks at the provider whenever it calls, and
 * by itself at growing intervals, at the end of the window and for the late money after it. What
 * happens is decided in the database by the provider's facts; this only waits and looks.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { OpenOutcome, PaymentInput, PaymentState } from './messages';
import { checkPayment, openPayment } from './payment-activities';
import { openUpdate, paymentNewsSignal, verifyUpdate } from './payment-messages';

/** @returns the payment's status when nothing more can come, or why none came to be */
export async function paymentWorkflow(input: PaymentInput): Promise<string> {
  let opened: OpenOutcome | null = null;
  let newsCount = 0;
  setHandler(openUpdate, async (): Promise<OpenOutcome> => {
    await CancellationScope.nonCancellable(() => condition(() => opened !== null));
    return opened ?? { kind: 'abandoned' };
  });
  setHandler(verifyUpdate, async () => {
    await CancellationScope.nonCancellable(() => condition(() => opened !== null));
    const { answered } = await CancellationScope.nonCancellable(() =>
      checkPayment(input.paymentId),
    );
    // What it changed is for the main loop to see.
    newsCount += 1;
    return { answered };
  });
  setHandler(paymentNewsSignal, () => {
    newsCount += 1;
  });

  // A requested cancellation must not leave money unnoticed.
  return CancellationScope.nonCancellable(async () => {
    opened = await openPayment(input);
    if (opened.kind !== 'opened') {
      await condition(allHandlersFinished);
      return opened.kind;
    }
    let shown: string | null = null;
    for (;;) {
      const heard = newsCount;
      const state = await checkPayment(input.paymentId);
      setCurrentDetails(describePayment(state));
      if (state.status !== shown) upsertSearchAttributes({ PaymentStatus: [state.status] });
      shown = state.status;
      if (state.wait === null) {
        await condition(allHandlersFinished);
        // The provider may have called while it was being asked: that answer is too old.
        if (newsCount === heard) return state.status;
        continue;
      }
      if (workflowInfo().continueAsNewSuggested) {
        await condition(allHandlersFinished);
        await continueAsNew<(input: PaymentInput) => Promise<string>>(input);
      }
      await condition(() => newsCount > heard, state.wait.ms, { summary: 'looks at the provider' });
    }
  });
}

/** @returns Markdown */
function describePayment({ status, amount, currency, wait }: PaymentState): string {
  const head = `**${status.replaceAll('_', ' ')}** · ${amount} ${currency}`;
  return wait === null ? head : `${head}\n\nIt ${wait.why}.`;
}
