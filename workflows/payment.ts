/**
 * One payment: opens the checkout, then asks the provider after each update, at growing intervals,
 * and at the end of the payment window. What reports late money starts it again. The database decides by the
 * provider's facts; the workflow waits, asks, and records operators' decisions.
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
import {
  activities,
  LOCAL_PROVIDER_CALL,
  localActivities,
  localFirst,
  PRIORITY,
  PROVIDER_CALL,
  TRANSACTION,
} from './activities';
import type {
  OpenOutcome,
  OpenReport,
  PaymentDecision,
  PaymentInput,
  PaymentState,
  ReserveOutcome,
  VerifyOutcome,
} from './messages';
import { providerQueue, UPDATES } from './names';
import { PaymentPage } from './payment-page';

/** Calls to the payment's provider, in its task queue. */
function atProvider(input: PaymentInput) {
  const call = { ...PROVIDER_CALL, taskQueue: providerQueue(input) };
  const { cancelUnusedCheckout } = activities<'cancelUnusedCheckout'>({
    ...call,
    scheduleToCloseTimeout: '1 hour',
    retry: { initialInterval: '2 seconds', maximumInterval: '1 minute' },
    priority: PRIORITY.poll,
    summary: 'Cancel the checkout that has no payment',
  });
  /** Fails while nothing has changed; each failure contains the delay until the next call. */
  const { watchPayment } = activities<'watchPayment'>({
    ...call,
    // The workflow continues at once after a cancellation: one more query does no harm.
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    priority: PRIORITY.poll,
    summary: 'Poll the provider',
  });
  return { cancelUnusedCheckout, watchPayment };
}

function openPayment(input: PaymentInput) {
  const regular = () => ({
    taskQueue: providerQueue(input),
    // A merchant is waiting: the provider call times out before the API request does.
    startToCloseTimeout: '10 seconds',
    retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
    priority: PRIORITY.aMerchantWaits,
  });
  return localFirst<OpenReport>((steps) => steps.openPayment(input), {
    summary: 'Open the checkout',
    local: LOCAL_PROVIDER_CALL,
    regular,
  });
}

/** @param mayBeFast otherwise the call is made in the provider's task queue */
function checkPayment(input: PaymentInput, mayBeFast: boolean) {
  return localFirst<PaymentState>((steps) => steps.checkPayment(input.paymentId), {
    summary: 'Check with the provider',
    local: mayBeFast ? LOCAL_PROVIDER_CALL : null,
    regular: () => ({ ...PROVIDER_CALL, taskQueue: providerQueue(input) }),
  });
}

const { decidePayment, reserveRefund, withdrawRefund, payRefund } = localActivities<
  'decidePayment' | 'reserveRefund' | 'withdrawRefund' | 'payRefund'
>(TRANSACTION);

/** Waits for the checkout that the workflow opens. */
const openUpdate = defineUpdate<OpenOutcome>(UPDATES.open);

/** Asks the provider now. */
const verifyUpdate = defineUpdate<VerifyOutcome>(UPDATES.verify);

/** Asks the provider to close the checkout, for a merchant's request. */
const cancelUpdate = defineUpdate<VerifyOutcome, [string]>(UPDATES.cancel);

/** Waits for the reservation of a refund. */
const refundUpdate = defineUpdate<ReserveOutcome, [string]>(UPDATES.refund);

/** Makes the payout of a refund whose address was named. */
const payRefundUpdate = defineUpdate<ReserveOutcome, [string]>(UPDATES.payRefund);

/** Returns the money of a refund that waits for a person or an address. @returns whether it still waited */
const withdrawUpdate = defineUpdate<boolean, [string]>(UPDATES.withdraw);

/** @returns the final status, or why no payment was created */
export async function paymentWorkflow(input: PaymentInput): Promise<string> {
  const page = new PaymentPage(input);
  const { cancelUnusedCheckout } = atProvider(input);
  let opened: OpenOutcome | null = null;
  const whenOpened = () => condition(() => opened !== null);
  /** Asks the provider now. The main loop records what has changed. */
  const ask = async (): Promise<VerifyOutcome> => {
    const { answered, wait } = await checkPayment(input, false);
    page.noteProviderUpdate();
    const { retryAfterMs } = wait ?? {};
    return { kind: 'verified', answered, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  };
  setHandler(openUpdate, () =>
    CancellationScope.nonCancellable(async (): Promise<OpenOutcome> => {
      await whenOpened();
      return opened ?? { kind: 'abandoned', unusedCheckout: true };
    }),
  );
  setHandler(verifyUpdate, () =>
    CancellationScope.nonCancellable(async () => {
      await whenOpened();
      return ask();
    }),
  );
  setHandler(cancelUpdate, (requestId) =>
    CancellationScope.nonCancellable(async () => {
      await whenOpened();
      await decidePayment(input.paymentId, cancellation(requestId));
      return ask();
    }),
  );
  setHandler(refundUpdate, (refundId) =>
    CancellationScope.nonCancellable(async (): Promise<ReserveOutcome> => {
      await whenOpened();
      const outcome = await reserveRefund(input.paymentId, refundId);
      if (outcome.kind === 'reserved') page.noteProviderUpdate();
      return outcome;
    }),
  );
  setHandler(payRefundUpdate, (refundId) =>
    CancellationScope.nonCancellable(async (): Promise<ReserveOutcome> => {
      await whenOpened();
      const outcome = await payRefund(input.paymentId, refundId);
      page.noteProviderUpdate();
      return outcome;
    }),
  );
  setHandler(withdrawUpdate, (refundId) =>
    CancellationScope.nonCancellable(async () => {
      await whenOpened();
      const isWithdrawn = await withdrawRefund(input.paymentId, refundId);
      page.noteProviderUpdate();
      return isWithdrawn;
    }),
  );

  // A cancellation request must not stop the workflow: money would go unnoticed.
  return CancellationScope.nonCancellable(async () => {
    const report = await openPayment(input);
    if (report.kind === 'opened') {
      opened = { kind: 'opened' };
      return run(input, page, report.state ?? null);
    }
    opened = report;
    // After an hour without an answer, the reconciliation watches the checkout.
    if (opened.unusedCheckout) await cancelUnusedCheckout(input).catch(() => undefined);
    await condition(allHandlersFinished);
    return opened.kind;
  });
}

/** A merchant's request to cancel. The same request is one decision. */
function cancellation(requestId: string): PaymentDecision {
  const what = { kind: 'cancel', id: requestId, amount: null, by: null, reason: null } as const;
  return { ...what, isMerchants: true };
}

/** @param opened the state of a payment that this run has opened */
async function run(
  input: PaymentInput,
  page: PaymentPage,
  opened: PaymentState | null,
): Promise<string> {
  if (opened === null) await check(input, page);
  else page.take(opened);
  for (;;) {
    await watch(input, page);
    if (page.state.wait === null) {
      await condition(allHandlersFinished);
      if (page.isIdle()) {
        page.publish();
        return page.state.status;
      }
    }
    await check(input, page);
  }
}

/** Carries out decisions, and asks the provider. */
async function check(input: PaymentInput, page: PaymentPage): Promise<void> {
  // An update that arrives during the query needs another query.
  page.forgetProviderUpdate();
  await decide(input.paymentId, page);
  const before = page.known;
  // The first check would delay the answer to the merchant, and a limited provider has a queue of its
  // own.
  const mayBeFast = before !== null && before.wait?.retryAfterMs === undefined;
  const report = await checkPayment(input, mayBeFast);
  page.takeStep(before ?? report, report);
}

/** Watches the payment until a signal arrives or nothing more can happen. */
async function watch(input: PaymentInput, page: PaymentPage): Promise<void> {
  while (page.isIdle() && page.state.wait !== null) {
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      if (page.isIdle()) await continueRun(input, page);
    }
    await page.waitForUpdate((seen) => atProvider(input).watchPayment(input.paymentId, seen));
  }
}

async function decide(paymentId: string, page: PaymentPage): Promise<void> {
  let decision = page.takeDecision();
  while (decision !== null) {
    const { refusal } = await decidePayment(paymentId, decision);
    page.noteRefusal(decision, refusal);
    decision = page.takeDecision();
  }
}

async function continueRun(input: PaymentInput, { decisionsTaken }: PaymentPage): Promise<void> {
  await continueAsNew<(input: PaymentInput) => Promise<string>>({ ...input, decisionsTaken });
}
