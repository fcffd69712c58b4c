/**
 * What a payment of 100.00 with a fee of 1 percent and its merchant's balance must come to, told
 * once more in other words than the gateway's. Sums are whole cents, so that the fee of every one
 * of them is exact. `look` is the gateway asking a provider whose reads answer.
 */
const AMOUNT_CENTS = 10_000;
const LATE_MS = 30 * 24 * 3_600_000;
const OPEN = ['created', 'pending', 'processing', 'on_hold'];
const DECIDABLE: Record<string, string[]> = {
  release: ['on_hold'],
  reject: ['on_hold'],
  cancel: ['created', 'pending'],
  refund: ['completed', 'underpaid'],
};

/** What the model is told of the provider. */
export interface ModelFacts {
  state: 'open' | 'started' | 'cancelled' | 'failed';
  onHold: boolean;
  transfers: { id: string; cents: number; status: 'seen' | 'confirmed' | 'dropped'; at: number }[];
  refunds: { id: string; reference: string; cents: number }[];
}

/** What the provider answered to the decision that it was told of. */
export type Answer = 'found' | 'refused' | 'unknown';

export class PaymentModel {
  status = 'created';
  /** Its statuses, and `received` where more money was credited without another one. */
  events = ['created'];
  /** The merchant's money in hundredths of a cent: a cent less its fee is 99 of them. */
  available = 0;
  credited = new Map<string, number>();
  reversed = 0;
  refunded = 0;
  expiresAt = Infinity;
  /** An operator's decision to which the provider has not clearly answered. */
  pending: { kind: string; reference: string; cents: number } | null = null;
  #decisions = 0;
  #known = new Set<string>();
  #owed: number[] = [];

  get #creditedSum(): number {
    return sum([...this.credited.values()].map((cents) => ({ cents })));
  }

  get net(): number {
    return (this.#creditedSum - this.reversed) * 99;
  }

  /** @param cents of a refund; null: all that is left. @returns whether it counts */
  decide(id: string, kind: string, cents: number | null): boolean {
    this.#decisions += 1;
    const owed = sum(this.#owed.map((one) => ({ cents: one })));
    const left = Math.max(0, this.#creditedSum - this.reversed - owed);
    const wanted = cents ?? left;
    if (this.pending !== null || !DECIDABLE[kind]?.includes(this.status)) return false;
    if (kind === 'refund') {
      if (wanted === 0 || wanted > left || wanted * 99 > this.available) return false;
      this.#take(wanted);
    }
    this.pending = { kind, reference: `${id}-${this.#decisions}`, cents: wanted };
    return true;
  }

  /** What was decided about another status is not told any more. A refund always is. */
  ask(): void {
    const kind = this.pending?.kind ?? 'refund';
    if (kind !== 'refund' && !DECIDABLE[kind]?.includes(this.status)) this.pending = null;
  }

  look(facts: ModelFacts, now: number, answer: Answer): void {
    this.ask();
    const order = this.pending;
    const made = facts.refunds.find(({ reference }) => reference === order?.reference);
    if (answer !== 'unknown' || made !== undefined) this.pending = null;
    const isOff = order?.kind === 'refund' && this.pending === null && made === undefined;
    if (isOff) this.#take(-order.cents);
    const isRejected = order?.kind === 'reject' && answer !== 'refused';
    while (this.#step(facts, now, isRejected));
    if (made !== undefined) this.#refund(made, order?.reference);
    for (const refund of facts.refunds) this.#refund(refund, order?.reference);
    while (this.#owed[0] !== undefined && this.#takeBack(this.#owed[0])) this.#owed.shift();
    if (this.status !== 'refunded' || this.credited.size > 0) return;
    this.refunded = Math.max(this.refunded, sum(facts.refunds));
  }

  #step(facts: ModelFacts, now: number, isRejected: boolean): boolean {
    const arrived = facts.transfers.filter(({ status }) => status === 'confirmed');
    const counted = arrived.filter(({ at }) => at <= this.expiresAt + LATE_MS);
    const gone = this.credited.size === 0 ? sum(facts.refunds) : 0;
    const isEnough = sum(counted) - gone >= AMOUNT_CENTS;
    const isSentBack = facts.refunds.length > 0 && sum(facts.refunds) >= sum(arrived);
    if (!OPEN.includes(this.status)) {
      if (['failed', 'refunded'].includes(this.status)) return false;
      if (facts.onHold || facts.state === 'failed' || isSentBack) return false;
      const isKnown = ({ id }: { id: string }) => this.credited.has(id);
      const isGone = arrived.filter(isKnown).length < this.credited.size;
      return !isGone && !counted.every(isKnown) && this.#credit(counted, isEnough);
    }
    const isOver = now >= this.expiresAt;
    const isSeen = facts.transfers.some(({ status }) => status === 'seen');
    const held = this.status === 'on_hold';
    const going = held || this.status === 'processing';
    if (facts.state === 'failed') return this.#go('failed');
    if (facts.onHold) return !held && this.#go('on_hold');
    if (isSentBack || (held && isRejected && this.pending === null && facts.refunds.length > 0)) {
      if (held) this.refunded = sum(facts.refunds);
      return this.#go(held ? 'refunded' : 'on_hold');
    }
    if (held && isRejected && counted.length > 0) return false;
    if (isEnough) return this.#credit(counted, true);
    if (isSeen || (counted.length > 0 && !isOver)) return !going && this.#go('processing');
    if (counted.length > 0) return this.#credit(counted, false);
    if (going) return isOver && this.#go(held ? 'failed' : 'expired');
    if (facts.state === 'cancelled') return this.#go('cancelled');
    if (isOver) return this.#go('expired');
    return facts.state === 'started' && this.status === 'created' && this.#go('pending');
  }

  #go(status: string): true {
    if (status !== this.status) this.events.push(status);
    this.status = status;
    return true;
  }

  #credit(counted: ModelFacts['transfers'], isEnough: boolean): true {
    const status = isEnough ? 'completed' : 'underpaid';
    if (status === this.status) this.events.push('received');
    for (const { id, cents } of counted) {
      if (!this.credited.has(id)) this.available += cents * 99;
      this.credited.set(id, cents);
    }
    return this.#go(status);
  }

  #refund({ id, reference, cents }: ModelFacts['refunds'][number], ordered?: string): void {
    if (this.credited.size === 0 || this.#known.has(id)) return;
    if (reference !== ordered && this.#hasToWait(cents)) return;
    this.#known.add(id);
    this.refunded += cents;
    // What an operator ordered was taken then; what the balance does not cover is owed.
    if (reference !== ordered && !this.#takeBack(cents)) this.#owed.push(cents);
    if (this.refunded >= this.#creditedSum) this.#go('refunded');
  }

  /** The order took so much that this would not find all that it is to take. */
  #hasToWait(cents: number): boolean {
    return this.pending?.kind === 'refund' && cents > this.#creditedSum - this.reversed;
  }

  #takeBack(cents: number): boolean {
    const part = Math.min(cents, this.#creditedSum - this.reversed);
    if (this.#hasToWait(cents) || part * 99 > this.available) return false;
    this.#take(part);
    return true;
  }

  #take(cents: number): void {
    this.reversed += cents;
    this.available -= cents * 99;
  }
}

function sum(list: readonly { cents: number }[]): number {
  return list.reduce((total, { cents }) => total + cents, 0);
}
