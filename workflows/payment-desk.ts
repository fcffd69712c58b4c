/**
 * The operator's side of a payment's workflow: takes the signals, keeps the newest report of where
 * the payment stands, and shows it as current details and search attributes.
 */
import {
  CancellationScope,
  condition,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { PaymentDecisionKind } from '../src/domain/payment';
import { readPaymentDecision } from './decision';
import { signalLine } from './details';
import type { PaymentDecision, PaymentInput, PaymentState } from './messages';
import { describePayment } from './payment-details';
import { decisionSignals, providerUpdateSignal } from './payment-messages';
import { Remarks } from './remarks';

/** What to type, for a remark about what was typed instead. */
const EXAMPLES: Record<PaymentDecisionKind, object> = {
  release: { by: 'you' },
  reject: { by: 'you', reason: 'why' },
  cancel: { by: 'you', reason: 'why' },
  refund: { by: 'you', amount: '12.50', reason: 'why' },
};

export class PaymentDesk {
  readonly #paymentId: string;
  readonly #remarks = new Remarks('`cancel`, `release`, `reject` and `refund`', () => {
    this.#show();
  });
  #decisionsTaken: number;
  #state: PaymentState | null = null;
  #decision: PaymentDecision | null = null;
  #news = false;
  #shown: { PaymentStatus: string[]; NeedsAttention: boolean[] } | null = null;

  constructor({ paymentId, decisionsTaken = 0 }: PaymentInput) {
    this.#paymentId = paymentId;
    this.#decisionsTaken = decisionsTaken;
    for (const { kind, signal } of decisionSignals) {
      setHandler(signal, (...args) => {
        this.#decide(kind, args);
      });
    }
    setHandler(providerUpdateSignal, () => {
      this.#news = true;
    });
    this.#remarks.noteCancellationRequests('cancel');
  }

  get state(): PaymentState {
    if (this.#state === null) throw new Error('the payment is not open yet');
    return this.#state;
  }

  /** For the run that goes on after this one. */
  get decisionsTaken(): number {
    return this.#decisionsTaken;
  }

  /** Takes a report unless a newer one is here already. */
  take(state: PaymentState): void {
    if (this.#state !== null && state.sequence < this.#state.sequence) return;
    this.#state = state;
    this.#show();
  }

  takeDecision(): PaymentDecision | null {
    const decision = this.#decision;
    this.#decision = null;
    return decision;
  }

  noteRefusal({ kind, by }: PaymentDecision, refusal: string | null): void {
    if (refusal !== null) this.#noteUnchanged(kind, by, refusal);
  }

  wake(): void {
    this.#news = true;
  }

  /** The provider is asked now: what comes from here on is news again. */
  forgetUpdate(): void {
    this.#news = false;
  }

  /** Nothing has come in that was not looked at. */
  isIdle(): boolean {
    return this.#decision === null && !this.#news;
  }

  /**
   * Waits until something comes in.
   * @param watch looks at the provider meanwhile, and is called off when something comes in
   */
  async waitForUpdate(watch: (seen: PaymentState) => Promise<PaymentState>): Promise<void> {
    const hasUpdate = () => {
      this.#remarks.noteUnknownSignals();
      return !this.isIdle();
    };
    const scope = new CancellationScope();
    await scope.run(() =>
      Promise.race([
        condition(hasUpdate),
        watch(this.state).then((state) => {
          this.take(state);
        }),
      ]),
    );
    scope.cancel();
  }

  #decide(kind: PaymentDecisionKind, args: readonly unknown[]): void {
    const decision = readPaymentDecision(kind, args, () => this.#nextId());
    if (typeof decision === 'string') {
      const line = signalLine(this.#paymentId, kind, EXAMPLES[kind]);
      this.#remarks.add(`${decision}. Type: \`${line}\``);
    } else if (this.#decision === null) this.#decision = decision;
    else this.#noteUnchanged(kind, decision.by, `a \`${this.#decision.kind}\` came before it`);
  }

  /** The same again when the run is reset or its task is run once more. */
  #nextId(): string {
    this.#decisionsTaken += 1;
    return `${workflowInfo().firstExecutionRunId}:${this.#decisionsTaken}`;
  }

  #noteUnchanged(kind: PaymentDecisionKind, by: string | null, why: string): void {
    const whose = by === null ? '' : ` by ${by}`;
    this.#remarks.add(`\`${kind}\`${whose} changed nothing: ${why}.`);
  }

  #show(): void {
    if (this.#state === null) return;
    setCurrentDetails(describePayment(this.#paymentId, this.#state, this.#remarks.sentences));
    const { status, needsAttention } = this.#state;
    const next = { PaymentStatus: [status], NeedsAttention: [needsAttention] };
    if (JSON.stringify(next) !== JSON.stringify(this.#shown)) upsertSearchAttributes(next);
    this.#shown = next;
  }
}
