/**
 * The operator's side of a delivery's workflow: takes the signals, keeps the last report, shows it.
 * Details cost no event of the history; that is why the status is no search attribute.
 */
import { condition, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { refuseInput } from './decision';
import type { WebhookDeliveryInput, WebhookDeliveryState } from './messages';
import { Remarks } from './remarks';
import { describeWebhookDelivery, nameAttempt } from './webhook-delivery-details';
import { abandonSignal, retryNowSignal, wakeSignal } from './webhook-delivery-messages';

export class WebhookDesk {
  readonly #input: WebhookDeliveryInput;
  #state: WebhookDeliveryState | null = null;
  #retry = false;
  #abandon = false;
  #wake = false;
  #orders = 0;
  readonly #remarks = new Remarks('`retryNow` and `abandon`', () => {
    this.#show();
  });

  constructor(input: WebhookDeliveryInput) {
    this.#input = input;
    setHandler(retryNowSignal, (...args) => {
      this.#retry = this.#counts('retryNow', args) || this.#retry;
    });
    setHandler(abandonSignal, (...args) => {
      this.#abandon = this.#counts('abandon', args) || this.#abandon;
    });
    setHandler(wakeSignal, () => {
      this.#wake = true;
    });
    this.#remarks.noteCancellationRequests('abandon');
    this.#show();
  }

  get state(): WebhookDeliveryState {
    if (this.#state === null) throw new Error('the delivery has not been reported yet');
    return this.#state;
  }

  take(state: WebhookDeliveryState): void {
    this.#state = state;
    this.#show();
  }

  /** Nothing is to come: it succeeded, or ended and nobody asks for another attempt. */
  isOver(): boolean {
    if (this.state.status === 'succeeded') return true;
    return this.state.next === null && !this.#retry && !this.#wake;
  }

  isAsked(): boolean {
    return this.#retry || this.#abandon || this.#wake;
  }

  /** A delivery that has ended cannot be abandoned any more; the database says so too. */
  takeAbandon(): boolean {
    const asked = this.#abandon;
    this.#abandon = false;
    return asked;
  }

  takeRetry(): boolean {
    const asked = this.#retry;
    this.#retry = false;
    return asked;
  }

  /** @returns whether there was one */
  forgetWake(): boolean {
    const asked = this.#wake;
    this.#wake = false;
    return asked;
  }

  /** Counts this run's orders, from 1. */
  nextOrder(): number {
    this.#orders += 1;
    return this.#orders;
  }

  /** `attempt 3 of 8`. */
  nextAttempt(): string {
    return this.#state === null ? 'attempt' : nameAttempt(this.#state, 1);
  }

  async waitFor(ms: number): Promise<void> {
    const summary = `${this.nextAttempt()}, at ${this.state.next?.at ?? ''}`;
    const asked = () => {
      this.#remarks.noteUnknownSignals();
      return this.isAsked();
    };
    // One more: the row's clock is finer than the timer's.
    await condition(asked, ms + 1, { summary });
  }

  #counts(signal: string, args: readonly unknown[]): boolean {
    const refusal = refuseInput(signal, args);
    if (refusal !== null) this.#remarks.add(`${refusal}. Send it again.`);
    return refusal === null;
  }

  #show(): void {
    setCurrentDetails(describeWebhookDelivery(this.#input, this.#state, this.#remarks.sentences));
  }
}
