/** The operator's page of a payout's workflow, with its signals and its search attributes. */
import { isFinalPayout, nextPayoutStatus, type PayoutStatus } from '../src/domain/payout';
import { reviewReasonSentence } from '../src/domain/review';
import { code, DecisionPage, list, signalLine, type Timer } from './operator-page';
import type { PayoutDecision, PayoutState, Waiting } from './messages';
import { readDecision } from './operator-input';

const OPERATOR_SIGNALS = { approve: { by: 'you' }, reject: { by: 'you', reason: 'why' } } as const;

/** The first wait for the provider. The waits after it are longer. */
const BRIEF_MS = 2_000;

export class PayoutPage extends DecisionPage<PayoutState, PayoutDecision> {
  /** Its destination is screened before it is approved. */
  isScreenedFirst = false;
  /** Absent in the histories of earlier workers, which published every wait. */
  skipsBrief = false;
  #consolePage: string | null = null;

  constructor(payoutId: string) {
    super(payoutId, OPERATOR_SIGNALS, 'reject');
    // The pause that held the submission was lifted, or a condition is met.
    this.onSignal('wake', () => {
      this.noteProviderUpdate();
    });
    for (const kind of ['approve', 'reject'] as const) {
      this.onOperatorSignal(
        kind,
        (args) => readDecision(kind, args),
        (decision) => {
          this.decide(decision);
        },
      );
    }
  }

  /** The payout's page in the console. */
  linkTo(consolePage: string | undefined): void {
    this.#consolePage = consolePage ?? null;
  }

  /** Waits for `happened`, another status change (a cancel), or the timer. */
  async waitFor(happened: () => boolean, timer: Timer | undefined): Promise<void> {
    const { sequence } = this.state;
    await this.waitUntil(() => happened() || this.state.sequence !== sequence, timer);
  }

  /** Waits until a condition may be met, and for what `waitFor` waits for. */
  async waitToLook({ lookInMs }: Waiting): Promise<void> {
    const timer =
      lookInMs === null ? undefined : { ms: lookInMs, summary: 'Look at the conditions again' };
    await this.waitFor(() => this.hasDecision() || this.hasProviderUpdate(), timer);
  }

  /** The first decision counts. */
  protected override refusalOf({ kind }: PayoutDecision, waiting?: PayoutDecision): string | null {
    if (waiting !== undefined) return `\`${waiting.kind}\` was received before it`;
    const status = this.known?.status;
    if (kind === 'approve' && status === 'requested' && this.known?.waiting !== undefined) {
      return 'the payout waits for its conditions, which nobody can approve in their place';
    }
    return status === undefined || mayBeDecided(status, kind)
      ? null
      : 'the payout was already decided';
  }

  protected override isInEffect({ kind }: PayoutDecision): boolean {
    const status = this.known?.status;
    if (status === undefined || mayBeDecided(status, kind)) return false;
    return kind === 'reject' ? status === 'rejected' : IS_APPROVED.includes(status);
  }

  protected override describe(state: PayoutState | null, remarks: readonly string[]) {
    return state === null ? null : describePayout(this.id, state, remarks, this.#consolePage);
  }

  protected override attributesOf({ status, attentionLevel }: PayoutState) {
    return {
      PayoutStatus: [status],
      NeedsAttention: [attentionLevel > 0 && !isFinalPayout(status)],
    };
  }

  /** It is about to be approved, or the provider has just accepted it. */
  protected override isBrief({ status, waiting, wait, attentionLevel }: PayoutState): boolean {
    if (!this.skipsBrief || attentionLevel > 0) return false;
    if (status === 'requested') return waiting === undefined;
    return status === 'processing' && wait?.ms != null && wait.ms <= BRIEF_MS;
  }
}

/** A payout that is held back before submission can still be rejected (decisions/payouts#payout-statuses). */
function mayBeDecided(status: PayoutStatus, kind: PayoutDecision['kind']): boolean {
  return nextPayoutStatus(status, kind) !== undefined;
}

/** The statuses of payouts that were approved. */
const IS_APPROVED: readonly PayoutStatus[] = ['approved', 'processing', 'completed', 'failed'];

const MEANING: Record<PayoutStatus, string> = {
  requested: 'The funds are reserved.',
  under_review: 'The funds are reserved. An operator must approve or reject the payout.',
  approved: 'The payout is being submitted to the provider.',
  processing: 'The provider has accepted the payout.',
  completed: 'The payout was sent and the balance was debited.',
  rejected: 'An operator rejected the payout. The funds were returned.',
  failed: 'The payout could not be sent. The funds were returned.',
  cancelled: 'The merchant cancelled the payout. The funds were returned.',
};

/** @returns Markdown: the state, the reason for the wait, and commands */
function describePayout(
  payoutId: string,
  state: PayoutState,
  remarks: readonly string[],
  consolePage: string | null,
): string {
  const { status, amount, currency, attentionLevel, wait, autoApproveInMs, waiting } = state;
  return [
    `**${status.replaceAll('_', ' ')}** · ${amount} ${currency}`,
    MEANING[status],
    ...(waiting === undefined ? [] : conditions(waiting)),
    ...(autoApproveInMs === null || waiting !== undefined
      ? []
      : [automaticApproval(autoApproveInMs)]),
    ...(attentionLevel === 0 ? [] : [`**Needs attention** (level ${attentionLevel} of 3).`]),
    ...(wait === null ? [] : [wait.why]),
    ...fourEyes(state),
    ...list('Remarks:', remarks),
    ...commands(payoutId, state),
    ...reviewReasons(state),
    ...(consolePage === null ? [] : [`[Open in the console](${consolePage})`]),
  ].join('\n\n');
}

function conditions({ for: open, expiresAt }: Waiting): string[] {
  return [
    ...(open.length === 0 ? ['All conditions of the payout are met.'] : list('Waiting for:', open)),
    ...(expiresAt === null
      ? []
      : [`The payout is cancelled if it was not released by ${expiresAt}.`]),
  ];
}

function automaticApproval(inMs: number): string {
  const seconds = Math.ceil(inMs / 1_000);
  return `It will be approved automatically in ${seconds} s. Until then it can be rejected or cancelled.`;
}

function fourEyes({ fourEyes: rule, currency }: PayoutState): string[] {
  if (rule === undefined) return [];
  return [
    `Payouts above ${rule.threshold} ${currency} require the approval of two operators in the ` +
      `console: ${rule.approvals} of 2. The signal \`approve\` has no effect.`,
  ];
}

function commands(
  payoutId: string,
  { status, wait, waiting, fourEyes: rule }: PayoutState,
): string[] {
  const isWaiting = status !== 'approved' || wait !== null;
  return (['approve', 'reject'] as const)
    .filter((kind) => isWaiting && mayBeDecided(status, kind))
    .filter((kind) => kind === 'reject' || rule === undefined)
    .filter((kind) => kind === 'reject' || status !== 'requested' || waiting === undefined)
    .map((kind) => code(signalLine(payoutId, kind, OPERATOR_SIGNALS[kind])));
}

function reviewReasons({ status, reviewReasons: reasons }: PayoutState): string[] {
  if (status !== 'under_review') return [];
  return list(
    'Reasons for the review:',
    reasons.map((reason) => reviewReasonSentence(reason, null)),
  );
}
