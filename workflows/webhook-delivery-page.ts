/**
 * The operator's page of a webhook delivery's workflow, with its signals. Unlike search attributes,
 * details add no history events, so the status is shown only there.
 */
import type { WebhookDeliveryStatus } from '../src/domain/webhook-delivery';
import { code, OperatorPage, list, signalLine } from './operator-page';
import type { WebhookDeliveryInput, WebhookDeliveryState } from './messages';
import { readDecision } from './operator-input';

const OPERATOR_SIGNALS = { retryNow: {}, abandon: { by: 'you' } } as const;

export class WebhookDeliveryPage extends OperatorPage<WebhookDeliveryState> {
  readonly #input: WebhookDeliveryInput;
  #retry = false;
  #abandon = false;
  #wake = false;
  #orders = 0;

  constructor(input: WebhookDeliveryInput) {
    super(input.deliveryId, OPERATOR_SIGNALS, 'abandon');
    this.#input = input;
    const read = (name: string) => (args: readonly unknown[]) => readDecision(name, args);
    this.onOperatorSignal('retryNow', read('retryNow'), () => {
      this.#retry = true;
    });
    this.onOperatorSignal('abandon', read('abandon'), () => {
      this.#abandon = true;
    });
    // The row has changed: an operator requested a retry or ended the delivery.
    this.onSignal('wake', () => {
      this.#wake = true;
    });
    this.show();
  }

  /** Whether the delivery has succeeded, or ended without a request for another attempt. */
  isOver(): boolean {
    if (this.state.status === 'succeeded') return true;
    return this.state.next === null && !this.#retry && !this.#wake;
  }

  isAsked(): boolean {
    return this.#retry || this.#abandon || this.#wake;
  }

  /** An ended delivery cannot be abandoned; the database checks this too. */
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

  takeWake(): boolean {
    const asked = this.#wake;
    this.#wake = false;
    return asked;
  }

  /** Numbers the attempts that this run orders, from 1. */
  nextOrder(): number {
    this.#orders += 1;
    return this.#orders;
  }

  /** `attempt 3 of 8`. */
  nextAttempt(): string {
    return this.known === null ? 'attempt 1' : nameAttempt(this.known, 1);
  }

  async waitForNext({ at, inMs }: { at: string; inMs: number }): Promise<void> {
    const summary = `${this.nextAttempt()}, at ${at}`;
    // One millisecond is added, because the row's time is more precise than the timer's.
    await this.waitUntil(() => this.isAsked(), { ms: inMs + 1, summary });
  }

  protected override describe(state: WebhookDeliveryState | null, remarks: readonly string[]) {
    return describeWebhookDelivery(this.#input, state, remarks);
  }

  protected override attributesOf() {
    return {};
  }
}

const MEANING: Record<WebhookDeliveryStatus, string> = {
  pending: 'It is attempted until the receiver answers with 2xx or the attempts are used up.',
  succeeded: 'The receiver accepted it.',
  failed: 'All attempts failed. To retry it, run `npm run -s admin -- webhooks retry`.',
  skipped: 'Nothing was sent. To resume it, run `npm run -s admin -- webhooks recover`.',
  abandoned: 'An operator ended it.',
};

/** @param later 0: the last attempt; 1: the next one */
function nameAttempt({ attempts, attemptsMax }: WebhookDeliveryState, later: number): string {
  return `attempt ${Math.min(attempts + later, attemptsMax)} of ${attemptsMax}`;
}

/** @returns Markdown: the last result, the next attempt, and commands */
function describeWebhookDelivery(
  { deliveryId, eventType, objectId, endpointId }: WebhookDeliveryInput,
  state: WebhookDeliveryState | null,
  remarks: readonly string[],
): string {
  const status = state?.status ?? 'pending';
  return [
    `**${status}** · ${eventType} of ${objectId} to ${endpointId}`,
    MEANING[status],
    ...(state === null ? ['The first attempt is in progress.'] : progress(state)),
    ...list('Remarks:', remarks),
    ...(status === 'pending' ? commands(deliveryId) : []),
  ].join('\n\n');
}

function progress(state: WebhookDeliveryState): string[] {
  const { attempts, lastError, lastHttpStatus, next } = state;
  const answer = lastHttpStatus === null ? '' : ` (HTTP ${lastHttpStatus})`;
  const last = lastError === null ? 'no error' : `${lastError}${answer}`;
  return [
    ...(attempts === 0 ? [] : [`Last: ${nameAttempt(state, 0)}, ${last}.`]),
    ...(next === null ? [] : [`Next: ${nameAttempt(state, 1)}, at ${next.at}.`]),
  ];
}

function commands(deliveryId: string): string[] {
  return (['retryNow', 'abandon'] as const).map((name) =>
    code(signalLine(deliveryId, name, OPERATOR_SIGNALS[name])),
  );
}
