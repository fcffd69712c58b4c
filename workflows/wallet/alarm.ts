/**
 * An alarm that a person must end. The row of the database decides whether it is open: the signals
 * `acknowledge` and `resolve` change it, and so does `npm run wallet -- alarms`, after which a wallet
 * process signals `cleared`. Between signals it costs nothing.
 */
import { CancellationScope } from '@temporalio/workflow';
import { code, OperatorPage, list, plainText, signalLine } from '../operator-page';
import { type Decision } from '../messages';
import { readDecision } from '../operator-input';
import { SHORT, walletActivities } from './activities';
import type { AlarmDecision, AlarmInput, AlarmState } from './messages';
import { alarmWorkflowId } from './names';

const { readAlarm } = walletActivities<'readAlarm'>({ ...SHORT, summary: 'Read the alarm' });

/** @returns who ended it and why */
export async function walletAlarmWorkflow(input: AlarmInput): Promise<string> {
  const page = new AlarmPage(input);
  return CancellationScope.nonCancellable(async () => {
    while (page.state.isOpen) {
      await page.waitUntil(() => page.isAsked());
      const decision = page.takeDecision();
      page.take(await (decision === null ? readAlarm(input.alarmId) : decide(decision)));
    }
    return describeEnd(page.state);
  });
}

function decide(decision: AlarmDecision): Promise<AlarmState> {
  const summary = `${decision.kind} by ${decision.by}`;
  return walletActivities<'decideAlarm'>({ ...SHORT, summary }).decideAlarm(decision);
}

const OPERATOR_SIGNALS = {
  acknowledge: { by: 'you' },
  resolve: { by: 'you', reason: 'the cause and what was done' },
} as const;

class AlarmPage extends OperatorPage<AlarmState> {
  readonly #input: AlarmInput;
  #decisions: readonly AlarmDecision[] = [];
  #isCleared = false;

  constructor(input: AlarmInput) {
    super(alarmWorkflowId(input.chainId, input.alarmId), OPERATOR_SIGNALS, 'resolve');
    this.#input = input;
    this.onOperatorSignal(
      'acknowledge',
      (args) => readDecision('acknowledge', args),
      (decision) => {
        this.#decide(decision);
      },
    );
    this.onOperatorSignal('resolve', readResolution, (decision) => {
      this.#decide(decision);
    });
    this.onSignal('cleared', () => {
      this.#isCleared = true;
    });
    const nobody = { acknowledgedBy: null, resolvedBy: null, resolution: null, refusal: null };
    this.take({ detail: input.detail, isOpen: true, ...nobody });
  }

  isAsked(): boolean {
    return this.#isCleared || this.#decisions.length > 0;
  }

  /** Null if the row has changed. */
  takeDecision(): AlarmDecision | null {
    const [first = null, ...rest] = this.#decisions;
    this.#decisions = rest;
    if (first === null) this.#isCleared = false;
    return first;
  }

  override take(state: AlarmState): void {
    super.take(state);
    if (state.refusal !== null) this.remark(`\`resolve\` had no effect: ${state.refusal}`);
  }

  #decide({ kind, by, reason }: Decision<'acknowledge' | 'resolve'>): void {
    const { alarmId } = this.#input;
    this.#decisions = [...this.#decisions, { alarmId, kind, by: by ?? 'not named', reason }];
  }

  protected override describe(state: AlarmState | null, remarks: readonly string[]): string | null {
    return state === null ? null : describeAlarm(this.#input, state, remarks);
  }

  protected override attributesOf() {
    return {};
  }
}

function readResolution(args: readonly unknown[]): Decision<'resolve'> | string {
  const decision = readDecision('resolve', args);
  if (typeof decision === 'string' || decision.reason !== null) return decision;
  return '`resolve` was ignored: "reason" is required.';
}

function describeEnd({ resolvedBy, resolution }: AlarmState): string {
  if (resolvedBy === null) return 'ended by itself';
  return `resolved by ${resolvedBy}: ${resolution ?? ''}`;
}

/** @returns Markdown: what happened, what to do, who is on it, and commands */
function describeAlarm(
  { chainId, network, mode, alarmId, kind, subject, raisedAt, remedy }: AlarmInput,
  state: AlarmState,
  remarks: readonly string[],
): string {
  const id = alarmWorkflowId(chainId, alarmId);
  const { detail, isOpen, acknowledgedBy } = state;
  return [
    `**${kind}** · ${plainText(subject)} on ${network}, ${mode} mode, since ${raisedAt}`,
    plainText(detail),
    isOpen ? remedy : `It is over: ${plainText(describeEnd(state))}.`,
    ...(acknowledgedBy === null ? [] : [`Acknowledged by ${plainText(acknowledgedBy)}.`]),
    ...list('Remarks:', remarks),
    ...(isOpen
      ? [
          code(signalLine(id, 'acknowledge', OPERATOR_SIGNALS.acknowledge)),
          code(signalLine(id, 'resolve', OPERATOR_SIGNALS.resolve)),
        ]
      : []),
  ].join('\n\n');
}
