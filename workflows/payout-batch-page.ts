/** The operator's page of a batch's workflow, with its signals. */
import { reviewReasonSentence } from '../src/domain/review';
import { isFinalPayoutBatch, type PayoutBatchStatus } from '../src/domain/payout-batch';
import { code, DecisionPage, list, signalLine, type Timer } from './operator-page';
import type { PayoutBatchDecision, PayoutBatchState } from './messages';
import { readBatchDecision } from './operator-input';

const OPERATOR_SIGNALS = {
  approve: { by: 'you', manifest: 'the SHA-256 of the manifest' },
  reject: { by: 'you', reason: 'why' },
  stop: { by: 'you', reason: 'why' },
} as const;

export class PayoutBatchPage extends DecisionPage<PayoutBatchState, PayoutBatchDecision> {
  #consolePage: string | null = null;
  #isWoken = false;

  constructor(batchId: string) {
    super(batchId, OPERATOR_SIGNALS, 'stop');
    this.onSignal('wake', () => {
      this.#isWoken = true;
    });
    for (const kind of ['approve', 'reject', 'stop'] as const) {
      this.onOperatorSignal(
        kind,
        (args) => readBatchDecision(kind, args),
        (decision) => {
          this.decide(decision);
        },
      );
    }
  }

  /** The batch's page in the console. */
  linkTo(consolePage: string | undefined): void {
    this.#consolePage = consolePage ?? null;
  }

  /** Waits for a decision, for a second person, for another change of the batch, or for the timer. */
  async waitForDecision(timer: Timer | undefined): Promise<void> {
    const { sequence, ending } = this.state;
    const changed = () => this.state.sequence !== sequence || this.state.ending !== ending;
    await this.waitUntil(() => this.#isWoken || this.hasDecision() || changed(), timer);
    this.#isWoken = false;
  }

  /** If two reports have the same status, the one with more rows left out is newer. */
  override take(state: PayoutBatchState): void {
    const isOlder =
      state.sequence === this.known?.sequence &&
      state.progress.leftOut < this.known.progress.leftOut;
    if (!isOlder) super.take(state);
  }

  protected override refusalOf({ kind, manifestSha256 }: PayoutBatchDecision): string | null {
    const state = this.known;
    if (state === null) return null;
    if (state.ending !== null || isFinalPayoutBatch(state.status)) return 'the batch has ended';
    if (kind === 'stop') return null;
    if (state.status === 'processing') return 'the batch was already approved';
    if (kind === 'approve' && manifestSha256 !== state.manifestSha256) {
      return 'the batch has another manifest';
    }
    return null;
  }

  protected override describe(state: PayoutBatchState | null, remarks: readonly string[]) {
    return state === null ? null : describeBatch(this.id, state, remarks, this.#consolePage);
  }

  protected override attributesOf() {
    return {};
  }
}

const MEANING: Record<PayoutBatchStatus, string> = {
  requested: 'The funds of all rows are reserved.',
  under_review: 'The funds of all rows are reserved. An operator must approve or reject the batch.',
  processing: 'The rows are sent one after the other.',
  completed: 'Every row was sent.',
  partially_completed: 'Some rows were sent. The funds of the others were returned.',
  stopped: 'The batch was stopped. The funds of the rows that were not sent were returned.',
  rejected: 'An operator rejected the batch. The funds were returned.',
};

const ENDING = {
  stop: 'The batch is being stopped: rows that were not released are returned.',
  reject: 'The batch is being rejected: its rows are returned.',
};

/** @returns Markdown: the state, the progress, and commands */
function describeBatch(
  batchId: string,
  state: PayoutBatchState,
  remarks: readonly string[],
  consolePage: string | null,
): string {
  const { status, ending, rowCount, progress, totals, autoApproveInMs } = state;
  const isEnding = ending !== null && !isFinalPayoutBatch(status);
  const sums = totals.map(({ currency, rows, amount }) => `${amount} ${currency} (${rows} rows)`);
  return [
    `**${status.replaceAll('_', ' ')}** · ${rowCount} rows · ${sums.join(', ')}`,
    isEnding ? ENDING[ending] : MEANING[status],
    ...(autoApproveInMs === null ? [] : [automaticApproval(autoApproveInMs)]),
    ...(state.secondPersonInMs === undefined ? [] : [SECOND_PERSON]),
    `Waiting ${progress.waiting} · processing ${progress.processing} · sent ${progress.sent} · ` +
      `failed ${progress.failed} · returned ${progress.returned} · left out ${progress.leftOut}`,
    `Manifest: \`${state.manifestSha256}\``,
    ...approvals(state),
    ...list('Remarks:', remarks),
    ...commands(batchId, state),
    ...reasons(state),
    ...(consolePage === null ? [] : [`[Open in the console](${consolePage})`]),
  ].join('\n\n');
}

const SECOND_PERSON =
  'Another person of the merchant must approve it first, on the dashboard. Until then `approve` has no effect.';

function automaticApproval(inMs: number): string {
  const seconds = Math.ceil(inMs / 1_000);
  return `It will be approved automatically in ${seconds} s. Until then it can be rejected or stopped.`;
}

function approvals({ approvals: given }: PayoutBatchState): string[] {
  if (given === undefined) return [];
  return [
    `This batch requires the approval of two operators in the console: ${given} of 2. ` +
      'The signal `approve` has no effect.',
  ];
}

function commands(batchId: string, state: PayoutBatchState): string[] {
  if (isFinalPayoutBatch(state.status) || state.ending !== null) return [];
  const isOpen = state.status !== 'processing';
  const approve = { by: 'you', manifest: state.manifestSha256 };
  const { reject, stop } = OPERATOR_SIGNALS;
  return [
    ...(isOpen && state.approvals === undefined && state.secondPersonInMs === undefined
      ? [signalLine(batchId, 'approve', approve)]
      : []),
    ...(isOpen ? [signalLine(batchId, 'reject', reject)] : []),
    signalLine(batchId, 'stop', stop),
  ].map(code);
}

function reasons({ status, reviewReasons }: PayoutBatchState): string[] {
  if (status !== 'under_review') return [];
  const sentences = reviewReasons.map((reason) => reviewReasonSentence(reason, null));
  return list('Reasons for the review, of the batch or of rows:', sentences);
}
