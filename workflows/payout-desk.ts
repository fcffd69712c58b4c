/**
 * The operator's side of a payout's workflow: takes the signals, keeps the newest report of where
 * the payout stands, and shows it as current details and search attributes.
 */
import {
  condition,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { isFinalPayout } from '../src/domain/payout';
import { readDecision, type Decision } from './decision';
import type { PayoutState } from './messages';
import { describePayout } from './payout-details';
import { approveSignal, providerUpdateSignal, rejectSignal } from './payout-messages';
import { Remarks } from './remarks';

export class PayoutDesk {
  readonly #payoutId: string;
  #state: PayoutState | null = null;
  #decision: Decision | null = null;
  #news = false;
  readonly #remarks = new Remarks('`approve` and `reject`', () => {
    this.#show();
  });
  #shown: { PayoutStatus: string[]; NeedsAttention: boolean[] } | null = null;

  constructor(payoutId: string) {
    this.#payoutId = payoutId;
    setHandler(approveSignal, (...args) => {
      this.#decide('approve', args);
    });
    setHandler(rejectSignal, (...args) => {
      this.#decide('reject', args);
    });
    setHandler(providerUpdateSignal, () => {
      this.#news = true;
    });
  }

  get state(): PayoutState {
    if (this.#state === null) throw new Error('the payout is not reserved yet');
    return this.#state;
  }

  /** Takes a report unless a newer one is here already. */
  take(state: PayoutState): void {
    if (this.#state !== null && state.sequence < this.#state.sequence) return;
    this.#state = state;
    if (this.#decision !== null && !this.#mayBeDecided(this.#decision.kind)) {
      this.#noteLateDecision(this.#decision);
      this.#decision = null;
    }
    this.#show();
  }

  note(sentence: string): void {
    this.#remarks.add(sentence);
  }

  hasDecision(): boolean {
    return this.#decision !== null;
  }

  takeDecision(): Decision | null {
    const decision = this.#decision;
    this.#decision = null;
    return decision;
  }

  hasUpdate(): boolean {
    return this.#news;
  }

  forgetUpdate(): void {
    this.#news = false;
  }

  /** Nothing has come in that a new run would not know of. */
  isIdle(): boolean {
    return this.#decision === null && !this.#news;
  }

  /** Waits until `happened`, a status change from elsewhere (a cancel), or the time is over. */
  async waitFor(happened: () => boolean, ms: number | null, summary: string): Promise<void> {
    const { sequence } = this.state;
    const done = () => {
      this.#remarks.noteUnknownSignals();
      return happened() || this.state.sequence !== sequence;
    };
    if (ms === null) await condition(done);
    else await condition(done, ms, { summary });
  }

  noteCancellationRequests(): void {
    this.#remarks.noteCancellationRequests('reject');
  }

  /** The first decision counts. */
  #decide(kind: Decision['kind'], args: readonly unknown[]): void {
    const decision = readDecision(kind, args);
    if (typeof decision === 'string') this.note(`${decision}. Send it again.`);
    else if (this.#decision === null && this.#mayBeDecided(kind)) this.#decision = decision;
    else this.#noteLateDecision(decision);
  }

  /** A payout that is held back before submission can still be rejected (decision O5). */
  #mayBeDecided(kind: Decision['kind']): boolean {
    switch (this.#state?.status) {
      case undefined:
      case 'requested':
      case 'under_review':
        return true;
      case 'approved':
        return kind === 'reject';
      default:
        return false;
    }
  }

  #noteLateDecision({ kind, by }: Decision): void {
    const whose = by === null ? '' : ` by ${by}`;
    this.note(`\`${kind}\`${whose} changed nothing: the payout was decided before.`);
  }

  #show(): void {
    if (this.#state === null) return;
    setCurrentDetails(describePayout(this.#payoutId, this.#state, this.#remarks.sentences));
    const next = {
      PayoutStatus: [this.#state.status],
      NeedsAttention: [this.#state.attentionLevel > 0 && !isFinalPayout(this.#state.status)],
    };
    if (JSON.stringify(next) !== JSON.stringify(this.#shown)) upsertSearchAttributes(next);
    this.#shown = next;
  }
}
