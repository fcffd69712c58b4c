/**
 * What both providers do with an order behind their different APIs: take it once per reference,
 * let it live as its scenario says, and tell the outside by callbacks.
 */
import { randomBytes } from 'node:crypto';
import type { Book } from '../book';
import { newTxHash } from '../chain';
import type { SandboxSettings } from '../config';
import { type ChangesQuery, listChanges, type ReferenceKey } from '../records';
import type { Transfer, TransferChange, TransferOrder } from './book';
import type { TransferCallbacks } from './callbacks';
import { chooseScenario, SCENARIOS, type OutcomeStep, type SubmissionFault } from './scenarios';
import { wallClockMs } from '../../../platform/lib/wall-clock';

export type Submission =
  | { kind: 'transfer'; transfer: Transfer; isNew: boolean }
  | { kind: 'refused' }
  | { kind: 'conflict' }
  | { kind: 'fault'; fault: SubmissionFault['kind'] };

export class Transfers {
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly book: Book,
    private readonly callbacks: TransferCallbacks,
    private readonly settings: SandboxSettings,
  ) {}

  /** Continues every transfer where the book left it. */
  resume(): void {
    for (const transfer of this.book.transfers.list()) {
      this.scheduleNextStep(transfer);
      this.callbacks.resume(transfer);
    }
  }

  stop(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  /**
   * Decides without a pause between reading and writing the book, so that any number of
   * submissions of one reference at the same time make one transfer.
   */
  async submit(order: TransferOrder): Promise<Submission> {
    const submission = this.decide(order, this.book.transfers.recordSubmission(order));
    await this.book.flushed();
    return submission;
  }

  async find(key: ReferenceKey): Promise<Transfer | null> {
    const transfer = this.book.transfers.find(key);
    await this.book.flushed();
    if (transfer !== undefined) this.scheduleStepAfterRead(transfer);
    return transfer === undefined || transfer.status === 'refused' ? null : transfer;
  }

  async list(
    { provider, mode }: Pick<ReferenceKey, 'provider' | 'mode'>,
    query: ChangesQuery,
  ): Promise<Transfer[]> {
    const own = this.book.transfers
      .list()
      .filter((one) => one.provider === provider && one.mode === mode)
      .filter((one) => one.status !== 'refused');
    await this.book.flushed();
    return listChanges(own, query);
  }

  /** Null unless the transfer is pending: what the control endpoints do. */
  async finish(key: ReferenceKey, status: 'sent' | 'failed'): Promise<Transfer | null> {
    const transfer = this.book.transfers.find(key);
    if (transfer?.status !== 'pending') return null;
    clearTimeout(this.timers.get(transfer.id));
    this.timers.delete(transfer.id);
    return this.change(transfer, status, SCENARIOS[transfer.scenario].outcome.length);
  }

  /** What was sent comes back, as after a chain's reorganization; null unless it was sent. */
  async reorganize(key: ReferenceKey): Promise<Transfer | null> {
    const transfer = this.book.transfers.find(key);
    return transfer?.status === 'sent' ? this.change(transfer, 'failed', transfer.stepsDone) : null;
  }

  private decide(order: TransferOrder, submissions: number): Submission {
    const existing = this.book.transfers.find(order);
    if (existing !== undefined && !isSameOrder(existing, order)) return { kind: 'conflict' };

    const name = chooseScenario(order.destination, order.amount);
    const { submission, fault } = SCENARIOS[name];
    const meetsFault = fault !== null && submissions <= this.faultySubmissions(fault);
    if (meetsFault && !fault.recorded) return { kind: 'fault', fault: fault.kind };

    const transfer = existing ?? newTransfer(order, name, submission === 'refuse');
    if (existing === undefined) this.accept(transfer);
    if (meetsFault) return { kind: 'fault', fault: fault.kind };
    if (transfer.status === 'refused') return { kind: 'refused' };
    return { kind: 'transfer', transfer, isNew: existing === undefined };
  }

  private faultySubmissions(fault: SubmissionFault): number {
    return fault.submissions === 'first' ? 1 : this.settings.errorSubmissions;
  }

  private accept(transfer: Transfer): void {
    this.book.transfers.recordTransfer(transfer);
    if (transfer.status === 'refused') return;
    this.scheduleNextStep(transfer);
    this.callbacks.announceAcceptance(transfer);
  }

  private scheduleNextStep(transfer: Transfer): void {
    const step = SCENARIOS[transfer.scenario].outcome[transfer.stepsDone];
    if (step === undefined || step.after === 'slow_after_read') return;
    const wait = step.after === 'slow' ? this.settings.slowMs : this.settings.settleMs;
    this.scheduleStep(transfer, step, Date.parse(transfer.updatedAt) + wait - wallClockMs());
  }

  private scheduleStepAfterRead(transfer: Transfer): void {
    const step = SCENARIOS[transfer.scenario].outcome[transfer.stepsDone];
    if (step?.after !== 'slow_after_read' || this.timers.has(transfer.id)) return;
    this.scheduleStep(transfer, step, this.settings.slowMs);
  }

  private scheduleStep(transfer: Transfer, step: OutcomeStep, waitMs: number): void {
    const timer = setTimeout(
      () => {
        this.timers.delete(transfer.id);
        void this.change(transfer, step.status, transfer.stepsDone + 1);
      },
      Math.max(0, waitMs),
    );
    clearTimeout(this.timers.get(transfer.id));
    this.timers.set(transfer.id, timer);
  }

  private async change(
    transfer: Transfer,
    status: 'sent' | 'failed',
    stepsDone: number,
  ): Promise<Transfer> {
    const changed = this.book.transfers.recordChange(
      transfer,
      changeTo(transfer, status, stepsDone),
    );
    this.scheduleNextStep(changed);
    await this.book.flushed();
    this.callbacks.announce(changed);
    return changed;
  }
}

function newTransfer(
  order: TransferOrder,
  scenario: Transfer['scenario'],
  refused: boolean,
): Transfer {
  const createdAt = new Date().toISOString();
  return {
    ...order,
    id: randomBytes(12).toString('hex'),
    scenario,
    status: refused ? 'refused' : 'pending',
    txHash: null,
    failureCode: null,
    createdAt,
    updatedAt: createdAt,
    stepsDone: 0,
    timesSent: 0,
    acknowledgedStatus: null,
  };
}

function changeTo(
  transfer: Transfer,
  status: 'sent' | 'failed',
  stepsDone: number,
): TransferChange {
  return status === 'sent'
    ? { status, stepsDone, failureCode: null, txHash: newTxHash(transfer.network) }
    : { status, stepsDone, failureCode: 'destination_unreachable', txHash: null };
}

function isSameOrder(transfer: Transfer, order: TransferOrder): boolean {
  return (
    transfer.amount === order.amount &&
    transfer.currency === order.currency &&
    transfer.network === order.network &&
    transfer.destinationType === order.destinationType &&
    transfer.destination === order.destination &&
    transfer.memo === order.memo
  );
}
