/**
 * The driver of one chain. Its activity runs the follower and the sender in a wallet process until
 * the pause changes, and for a report every ten minutes; a process that dies is replaced by another
 * one. Whether the chain is paused is a row of the database, which the activity obeys: the signals
 * `pause` and `resume` change that row, and so does `npm run wallet -- chain`.
 *
 * Started by every wallet process that has the chain, unless it runs.
 */
import { CancellationScope, continueAsNew, defineQuery, setHandler } from '@temporalio/workflow';
import { code, OperatorPage, list, plainText, signalLine } from '../operator-page';
import { type Decision } from '../messages';
import { readDecision } from '../operator-input';
import { DRIVING, SHORT, walletActivities } from './activities';
import type { ChainInput, ChainOrder, ChainState, ChainStatus } from './messages';
import { chainWorkflowId } from './names';

/** A run lasts about a day, so that the history stays small. */
const TURNS_MAX = 150;

const { runChain } = walletActivities<'runChain'>({ ...DRIVING, summary: 'Follow and send' });

const statusQuery = defineQuery<ChainStatus>('status');

/** @param before the state that the previous run knew */
export async function walletChainWorkflow(
  input: ChainInput,
  before: ChainState | null = null,
): Promise<void> {
  const page = new ChainPage(input);
  if (before !== null) page.take(before);
  // "Request cancellation" does not stop a chain; `pause` does.
  await CancellationScope.nonCancellable(async () => {
    const turnsMax = input.turnsMax ?? TURNS_MAX;
    for (let turns = 0; turns < turnsMax || page.hasOrder(); turns += 1) await turn(page);
    await continueAsNew<typeof walletChainWorkflow>(input, page.state);
  });
}

async function turn(page: ChainPage): Promise<void> {
  const run = { isOver: false };
  const running = runChain({ ...page.input, pause: page.known?.pause ?? null }).then((state) => {
    run.isOver = true;
    page.take(state);
  });
  while (!run.isOver) {
    await page.waitUntil(() => run.isOver || page.hasOrder());
    const order = page.takeOrder();
    if (order !== null) await changePause(order);
  }
  await running;
}

function changePause(order: ChainOrder): Promise<void> {
  const summary = `${order.kind} by ${order.by}`;
  return walletActivities<'changePause'>({ ...SHORT, summary }).changePause(order);
}

const OPERATOR_SIGNALS = {
  pause: { by: 'you', reason: 'node maintenance' },
  resume: { by: 'you' },
} as const;

class ChainPage extends OperatorPage<ChainState> {
  readonly input: ChainInput;
  #orders: readonly ChainOrder[] = [];

  constructor(input: ChainInput) {
    super(chainWorkflowId(input.chainId), OPERATOR_SIGNALS, 'pause');
    this.input = input;
    this.onOperatorSignal('pause', readPause, (decision) => {
      this.#order(decision);
    });
    this.onOperatorSignal(
      'resume',
      (args) => readDecision('resume', args),
      (decision) => {
        this.#order(decision);
      },
    );
    setHandler(statusQuery, () => this.#status(), { description: 'Works, or paused by whom.' });
    this.show();
  }

  hasOrder(): boolean {
    return this.#orders.length > 0;
  }

  takeOrder(): ChainOrder | null {
    const [first = null, ...rest] = this.#orders;
    this.#orders = rest;
    return first;
  }

  #order({ kind, by, reason }: Decision<'pause' | 'resume'>): void {
    const { chainId } = this.input;
    const order = { chainId, kind, by: by ?? 'not named', reason: reason ?? '' };
    this.#orders = [...this.#orders, order];
  }

  #status(): ChainStatus {
    const { pause, report } = this.known ?? { pause: null, report: null };
    const state = pause !== null ? 'paused' : report === null ? 'starting' : 'working';
    return { ...this.input, state, pause, report };
  }

  protected override describe(state: ChainState | null, remarks: readonly string[]): string {
    return describeChain(this.input, state, remarks);
  }

  protected override attributesOf() {
    return {};
  }
}

function readPause(args: readonly unknown[]): Decision<'pause'> | string {
  const decision = readDecision('pause', args);
  if (typeof decision === 'string' || decision.reason !== null) return decision;
  return '`pause` was ignored: "reason" is required.';
}

/** @returns Markdown: whether the chain is paused, how far it is, and commands */
function describeChain(
  { chainId, network, mode }: ChainInput,
  state: ChainState | null,
  remarks: readonly string[],
): string {
  const name = `${network}, ${mode} mode, chain ${chainId}`;
  const id = chainWorkflowId(chainId);
  const pause = state?.pause ?? null;
  return [
    `**${pause === null ? 'working' : 'paused'}** · ${name}`,
    pause === null
      ? 'Blocks are read and payouts are sent while the activity `runChain` is running.'
      : `Nothing is read, signed or broadcast. Paused by ${plainText(pause.by)} at ${pause.at}: ${plainText(pause.reason)}`,
    ...(state === null ? [] : [describeReport(state)]),
    ...list('Open alarms:', state?.report.alarms.map(plainText) ?? []),
    ...list('Remarks:', remarks),
    code(
      pause === null
        ? signalLine(id, 'pause', OPERATOR_SIGNALS.pause)
        : signalLine(id, 'resume', OPERATOR_SIGNALS.resume),
    ),
  ].join('\n\n');
}

function describeReport({ report }: ChainState): string {
  const { at, head, final, queued, inFlight } = report;
  const blocks = head === null ? 'no block read yet' : `block ${head}, final ${final ?? 0}`;
  return `At ${at}: ${blocks}, ${queued} payouts queued, ${inFlight} in flight. For newer figures: \`npm run wallet -- status\`.`;
}
