/**
 * What both providers do with a checkout behind their different APIs: open it once per reference,
 * take the steps that are planned or asked for, record them, and announce them by callbacks.
 */
import { randomBytes } from 'node:crypto';
import type { Book } from '../book';
import { newDeposit } from '../chain';
import type { SandboxSettings } from '../config';
import { type ChangesQuery, listChanges, type ReferenceKey } from '../records';
import type { CheckoutCallbacks } from './callbacks';
import { isSameOrder, type Checkout, type CheckoutOrder, type CheckoutStep } from './checkout';
import { planScenario } from './scenarios';
import { refundScenario, takeStep, type StepOutcome } from './steps';
import { wallClockMs } from '../../../platform/lib/wall-clock';

export type Opening =
  { kind: 'checkout'; checkout: Checkout; isNew: boolean } | { kind: 'conflict' };

/** The longest delay that setTimeout supports; a later step is checked again then. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class Checkouts {
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly book: Book,
    private readonly callbacks: CheckoutCallbacks,
    private readonly settings: SandboxSettings,
  ) {}

  /** Continues every checkout where the book left it. */
  resume(): void {
    for (const checkout of this.book.checkouts.list()) {
      this.schedule(checkout);
      this.callbacks.resume(checkout);
    }
  }

  stop(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  /**
   * Decides without a pause between reading and writing the book, so that any number of openings
   * of one reference at the same time make one checkout.
   */
  async open(order: CheckoutOrder): Promise<Opening> {
    const existing = this.book.checkouts.find(order);
    const isConflict = existing !== undefined && !isSameOrder(existing, order);
    const checkout = existing ?? newCheckout(order, this.settings);
    if (existing === undefined) {
      this.book.checkouts.record(checkout);
      this.schedule(checkout);
    }
    await this.book.flushed();
    if (isConflict) return { kind: 'conflict' };
    return { kind: 'checkout', checkout, isNew: existing === undefined };
  }

  async find(key: ReferenceKey): Promise<Checkout | null> {
    const checkout = this.book.checkouts.find(key);
    await this.book.flushed();
    return checkout ?? null;
  }

  async findById(id: string): Promise<Checkout | null> {
    const checkout = this.book.checkouts.findById(id);
    await this.book.flushed();
    return checkout ?? null;
  }

  async list(
    { provider, mode }: Pick<ReferenceKey, 'provider' | 'mode'>,
    query: ChangesQuery,
  ): Promise<Checkout[]> {
    const own = this.book.checkouts
      .list()
      .filter((one) => one.provider === provider && one.mode === mode);
    await this.book.flushed();
    return listChanges(own, query);
  }

  /** Null when there is no such checkout. */
  async act(key: ReferenceKey, step: CheckoutStep): Promise<StepOutcome | null> {
    const before = this.book.checkouts.find(key);
    if (before === undefined) return null;
    const { settleMs, slowMs } = this.settings;
    const time = { now: new Date(), settleMs, slowMs };
    const outcome = takeStep(before, step, time);
    if (outcome.kind === 'refused') {
      await this.book.flushed();
      return outcome;
    }
    const checkout = await this.keep(before, outcome.checkout);
    const isInDoubt = step.do === 'refund' && refundScenario(step.amount) === 'in_doubt';
    if (isInDoubt && outcome.checkout !== before) return { kind: 'refused', reason: 'no_answer' };
    return { kind: 'checkout', checkout };
  }

  /** Records the change, and announces it unless only the plan changed. */
  private async keep(before: Checkout, after: Checkout): Promise<Checkout> {
    if (after === before) {
      await this.book.flushed();
      return before;
    }
    const isUpdate = !isSameButForPlan(before, after);
    const kept = isUpdate
      ? { ...after, version: before.version + 1, updatedAt: new Date().toISOString() }
      : after;
    this.book.checkouts.record(kept);
    this.schedule(kept);
    await this.book.flushed();
    if (isUpdate) this.callbacks.announce(kept, before);
    return kept;
  }

  private schedule(checkout: Checkout): void {
    clearTimeout(this.timers.get(checkout.id));
    this.timers.delete(checkout.id);
    const next = checkout.plan[0];
    if (next === undefined) return;
    const wait = Math.max(0, Date.parse(next.due) - wallClockMs());
    const timer = setTimeout(
      () => {
        void this.takePlannedStep(checkout);
      },
      Math.min(wait, TIMER_MS_MAX),
    );
    this.timers.set(checkout.id, timer);
  }

  /** A planned step that is refused when it is due is removed from the plan all the same. */
  private async takePlannedStep(key: ReferenceKey): Promise<void> {
    const before = this.book.checkouts.find(key);
    const [next, ...plan] = before?.plan ?? [];
    if (before === undefined || next === undefined) return;
    if (Date.parse(next.due) > wallClockMs()) {
      this.schedule(before);
      return;
    }
    const time = {
      now: new Date(),
      due: new Date(next.due),
      settleMs: this.settings.settleMs,
      slowMs: this.settings.slowMs,
    };
    const outcome = takeStep({ ...before, plan }, next.step, time);
    await this.keep(before, outcome.kind === 'checkout' ? outcome.checkout : { ...before, plan });
  }
}

function newCheckout(order: CheckoutOrder, settings: SandboxSettings): Checkout {
  const now = new Date();
  return {
    ...order,
    ...newDeposit(order.network),
    id: randomBytes(16).toString('hex'),
    state: 'open',
    onHold: false,
    holdDecision: null,
    failureCode: null,
    transfers: [],
    refunds: [],
    plan: planScenario(order, now, settings),
    version: 0,
    acknowledgedVersion: 0,
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
  };
}

/** A step keeps what it does not change, so identity is enough. */
function isSameButForPlan(before: Checkout, after: Checkout): boolean {
  return (
    before.state === after.state &&
    before.onHold === after.onHold &&
    before.transfers === after.transfers &&
    before.refunds === after.refunds
  );
}
