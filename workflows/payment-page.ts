/** The operator's page of a payment's workflow, with its signals and its search attributes. */
import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import {
  PAYMENT_DECISIONS,
  type PaymentDecisionKind,
  type PaymentStatus,
} from '../src/domain/payment';
import { code, DecisionPage, list, plainText, signalLine } from './operator-page';
import type { PaymentDecision, PaymentInput, PaymentState } from './messages';
import { readPaymentDecision } from './operator-input';

const OPERATOR_SIGNALS: Record<PaymentDecisionKind, object> = {
  release: { by: 'you' },
  reject: { by: 'you', reason: 'why' },
  cancel: { by: 'you', reason: 'why' },
  refund: { by: 'you', amount: '12.50', reason: 'why' },
};

export class PaymentPage extends DecisionPage<PaymentState, PaymentDecision> {
  #decisionsTaken: number;

  constructor({ paymentId, decisionsTaken = 0 }: PaymentInput) {
    super(paymentId, OPERATOR_SIGNALS, 'cancel');
    this.#decisionsTaken = decisionsTaken;
    for (const kind of PAYMENT_DECISIONS) {
      this.onOperatorSignal(
        kind,
        (args) => readPaymentDecision(kind, args, () => this.#nextId()),
        (decision) => {
          this.decide(decision);
        },
      );
    }
  }

  /** The number for the next run, after continue-as-new. */
  get decisionsTaken(): number {
    return this.#decisionsTaken;
  }

  noteRefusal(decision: PaymentDecision, refusal: string | null): void {
    if (refusal !== null) this.remarkUnchanged(decision, refusal);
  }

  /**
   * Waits for a signal or a new state.
   * @param watch polls the provider meanwhile; cancelled when a signal arrives
   */
  async waitForUpdate(watch: (seen: PaymentState) => Promise<PaymentState>): Promise<void> {
    const scope = new CancellationScope();
    const before = this.state;
    await scope.run(() =>
      Promise.race([
        this.waitUntil(() => !this.isIdle()),
        watch(before).then((state) => {
          this.takeStep(before, state);
        }),
      ]),
    );
    scope.cancel();
  }

  /** The database decides, and records refusals: the operator's command waits for the record. */
  protected override refusalOf(): string | null {
    return null;
  }

  protected override describe(state: PaymentState | null, remarks: readonly string[]) {
    return state === null ? null : describePayment(this.id, state, remarks);
  }

  protected override attributesOf({ status, needsAttention }: PaymentState) {
    return { PaymentStatus: [status], NeedsAttention: [needsAttention] };
  }

  /** Deterministic: a reset or a replay creates the same id. */
  #nextId(): string {
    this.#decisionsTaken += 1;
    return `${workflowInfo().firstExecutionRunId}:${this.#decisionsTaken}`;
  }
}

const MEANING: Record<PaymentStatus, string> = {
  created: 'The checkout is open. The customer has not started to pay.',
  pending: 'The customer has started to pay.',
  processing: 'Funds were received and are not fully confirmed.',
  on_hold: 'The provider holds the funds for compliance. Nothing is credited.',
  completed: 'The payment is paid and credited.',
  underpaid: 'The payment window closed before the full amount arrived. What arrived is credited.',
  failed: 'The payment failed. Nothing is credited.',
  expired: 'The payment window closed without funds. Late funds are still credited.',
  cancelled: 'The payment was cancelled. Late funds are still credited.',
  refunded: 'The customer was refunded.',
};

const OUTCOMES = {
  pending: 'waiting for the provider',
  accepted: 'done',
  refused: 'refused',
} as const;

/** @returns Markdown: the state, the reason for the wait, and commands */
function describePayment(
  paymentId: string,
  state: PaymentState,
  remarks: readonly string[],
): string {
  const { status, amount, currency, received, needsAttention, wait, consolePage } = state;
  return [
    `**${status.replaceAll('_', ' ')}** · ${amount} ${currency}`,
    `${MEANING[status]} Received: ${received} ${currency}.`,
    ...(needsAttention ? ['**Needs attention.**'] : []),
    ...(wait === null ? [] : [wait.why]),
    ...describeDecision(state),
    ...list('Remarks:', remarks),
    ...commands(paymentId, state),
    ...(consolePage === undefined ? [] : [`[Open in the console](${consolePage})`]),
  ].join('\n\n');
}

function describeDecision({ decision, currency }: PaymentState): string[] {
  if (decision === null) return [];
  const what = decision.amount === null ? '' : ` of ${decision.amount} ${currency}`;
  const whose = decision.by === null ? '' : ` by ${plainText(decision.by)}`;
  const why = decision.refusal === null ? '' : `: ${decision.refusal}`;
  const end = why.endsWith('.') ? '' : '.';
  return [
    `Last decision: \`${decision.kind}\`${what}${whose}, ${OUTCOMES[decision.state]}${why}${end}`,
  ];
}

function commands(paymentId: string, { status, decision, refundable, wait }: PaymentState) {
  if (decision?.state === 'pending') return [];
  const line = (name: PaymentDecisionKind, input = OPERATOR_SIGNALS[name]) =>
    code(signalLine(paymentId, name, input));
  switch (status) {
    case 'created':
    case 'pending':
      return [line('cancel')];
    case 'on_hold':
      return [line('release'), line('reject', { by: 'you', reason: 'why (the merchant sees it)' })];
    case 'completed':
    case 'underpaid':
      // A completed workflow receives no signals; the admin command starts it again.
      return wait === null
        ? [code(`npm run -s admin -- payments refund ${paymentId} --reason 'why'`)]
        : [line('refund', { by: 'you', amount: refundable, reason: 'why' })];
    case 'processing':
    case 'failed':
    case 'expired':
    case 'cancelled':
    case 'refunded':
      return [];
  }
}
