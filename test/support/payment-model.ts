/**
 * What a payment of 100.00 with a fee of 1 percent and its merchant's balance must come to, told
 * once more in other words than the gateway's. Sums are whole cents, so that the fee of every one
 * of them is exact. `look` is the gateway asking a provider that answers.
 */
export interface ModelFacts {
  state: 'open' | 'started' | 'cancelled' | 'failed';
  onHold: boolean;
  transfers: { id: string; cents: number; status: 'seen' | 'confirmed' | 'dropped'; at: number }[];
  refunds: { id: string; reference: string; cents: number }[];
}

const AMOUNT_CENTS = 10_000;
const LATE_MS = 30 * 24 * 3_600_000;
const OPEN = ['created', 'pending', 'processing', 'on_hold'];

export class PaymentModel {
  status = 'created';
  statuses = ['created'];
  /** Of the merchant, in hundredths of a cent: a cent less its fee is 99 of them. */
  available = 0;
  credited = new Map<string, number>();
  reversed = 0;
  refunded = 0;
  expiresAt = Infinity;
  /** An operator's decision that the provider has not been told of. */
  pending: { kind: string; reference: string; cents: number } | null = null;
  #decisions = 0;
  #known = new Set<string>();
  #owed: number[] = [];

  get owes(): boolean {
    return this.#owed.length > 0;
  }

  get #creditedSum(): number {
    return [...this.credited.values()].reduce((sum, cents) => sum + cents, 0);
  }

  get net(): number {
    return (this.#creditedSum - this.reversed) * 99;
  }

  /** @param cents of a refund; null: all that is left. @returns whether it counts */
  decide(id: string, kind: string, cents: number | null): boolean {
    this.#decisions += 1;
    const left = this.#creditedSum - this.reversed;
    const wanted = cents ?? left;
    const allowed: Record<string, string[]> = {
      release: ['on_hold'],
      reject: ['on_hold'],
      cancel: ['created', 'pending'],
      refund: ['completed', 'underpaid'],
    };
    if (this.pending !== null || !allowed[kind]?.includes(this.status)) return false;
    if (kind === 'refund') {
      if (wanted === 0 || wanted > left || wanted * 99 > this.available) return false;
      this.#take(wanted);
    }
    this.pending = { kind, reference: `${id}-${this.#decisions}`, cents: wanted };
    return true;
  }

  look(facts: ModelFacts, now: number): void {
    const order = this.pending;
    this.pending = null;
    if (order?.kind === 'refund') {
      const made = facts.refunds.find(({ reference }) => reference === order.reference);
      if (made === undefined) this.#take(-order.cents);
    }
    while (this.#step(facts, now));
    for (const refund of facts.refunds) this.#refund(refund, order?.reference);
    while (this.#owed[0] !== undefined && this.#takeBack(this.#owed[0])) this.#owed.shift();
  }

  #step(facts: ModelFacts, now: number): boolean {
    const arrived = facts.transfers.filter(({ status }) => status === 'confirmed');
    const counted = arrived.filter(({ at }) => at <= this.expiresAt + LATE_MS);
    const sum = (list: { cents: number }[]) => list.reduce((total, { cents }) => total + cents, 0);
    const isEnough = sum(counted) >= AMOUNT_CENTS;
    const isSentBack = facts.refunds.length > 0 && sum(facts.refunds) >= sum(arrived);
    if (!OPEN.includes(this.status)) {
      const fresh = counted.filter(({ id }) => !this.credited.has(id));
      const isClosed = this.status === 'failed' || this.status === 'refunded';
      if (isClosed || fresh.length === 0 || facts.onHold) return false;
      if (facts.state === 'failed' || isSentBack) return false;
      return this.#credit(counted, isEnough);
    }
    const isOver = now >= this.expiresAt;
    const isSeen = facts.transfers.some(({ status }) => status === 'seen');
    const held = this.status === 'on_hold';
    const going = held || this.status === 'processing';
    if (facts.state === 'failed') return this.#go('failed');
    if (facts.onHold) return !held && this.#go('on_hold');
    if (isSentBack) {
      if (held) this.refunded = sum(facts.refunds);
      return this.#go(held ? 'refunded' : 'on_hold');
    }
    if (isEnough) return this.#credit(counted, true);
    if (isSeen || (counted.length > 0 && !isOver)) return !going && this.#go('processing');
    if (counted.length > 0) return this.#credit(counted, false);
    if (going) return isOver && this.#go(held ? 'failed' : 'expired');
    if (facts.state === 'cancelled') return this.#go('cancelled');
    if (isOver) return this.#go('expired');
    return facts.state === 'started' && this.status === 'created' && this.#go('pending');
  }

  #go(status: string): true {
    if (status !== this.status) this.statuses.push(status);
    this.status = status;
    return true;
  }

  #credit(counted: ModelFacts['transfers'], isEnough: boolean): true {
    for (const { id, cents } of counted) {
      if (!this.credited.has(id)) this.available += cents * 99;
      this.credited.set(id, cents);
    }
    return this.#go(isEnough ? 'completed' : 'underpaid');
  }

  #refund({ id, reference, cents }: ModelFacts['refunds'][number], ordered?: string): void {
    if (this.credited.size === 0 || this.#known.has(id)) return;
    this.#known.add(id);
    this.refunded += cents;
    // What an operator ordered was taken then; what the balance does not cover is owed.
    if (reference !== ordered && !this.#takeBack(cents)) this.#owed.push(cents);
    const isAll = this.refunded >= this.#creditedSum;
    if (isAll && ['completed', 'underpaid'].includes(this.status)) this.#go('refunded');
  }

  #takeBack(cents: number): boolean {
    const part = Math.min(cents, this.#creditedSum - this.reversed);
    if (part * 99 > this.available) return false;
    this.#take(part);
    return true;
  }

  #take(cents: number): void {
    this.reversed += cents;
    this.available -= cents * 99;
  }
}
