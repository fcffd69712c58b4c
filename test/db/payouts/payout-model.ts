/** What the walk of an account may come to, in cents and whole units; each payout has a network fee of 1. */
import type { PayoutStatus } from '../../../src/domain/payout';

export interface Row {
  units: number;
  currency: 'USDT' | 'USDC';
}

type Currency = Row['currency'];

interface ModelPayout extends Row {
  status: PayoutStatus;
  by: number;
  /** It waits for its batch to release it. */
  waits: boolean;
}

interface ModelBatch {
  rows: string[];
  status: 'requested' | 'processing' | 'closed';
  isStopped: boolean;
}

const NETWORK_FEE = 1;
const CREDITED = 100;
const RETURNED: readonly PayoutStatus[] = ['rejected', 'failed', 'cancelled'];
const ENDED: readonly PayoutStatus[] = [...RETURNED, 'completed'];
/** All rows of a walk's batch are released together. */
const FROM: Record<'approve' | 'cancel' | 'reject' | 'send' | 'fail', readonly PayoutStatus[]> = {
  approve: ['requested'],
  cancel: ['requested'],
  reject: ['requested', 'approved'],
  // The delay of the approval may have run out before.
  send: ['requested', 'approved'],
  fail: ['requested', 'approved'],
};
const TO = {
  approve: 'approved',
  cancel: 'cancelled',
  reject: 'rejected',
  send: 'completed',
  fail: 'failed',
} as const;

export class PayoutModel {
  readonly payouts = new Map<string, ModelPayout>();
  readonly batches = new Map<string, ModelBatch>();
  readonly #available: Record<Currency, number> = { USDT: 0, USDC: 0 };
  readonly #reserved: Record<Currency, number> = { USDT: 0, USDC: 0 };
  #refunded = 0;
  /** Refunds of the key that has a limit. */
  #refundedByKey = 0;

  constructor(readonly day: { key: number; account: number }) {}

  copy(): PayoutModel {
    const model = new PayoutModel(this.day);
    for (const [id, payout] of this.payouts) model.payouts.set(id, { ...payout });
    Object.assign(model.#available, this.#available);
    Object.assign(model.#reserved, this.#reserved);
    model.#refundedByKey = this.#refundedByKey;
    model.#refunded = this.#refunded;
    return model;
  }

  add(currency: Currency, cents: number): void {
    this.#available[currency] += cents;
  }

  payout(by: number, id: string, row: Row): 'reserved' | 'refused' {
    if (!this.#isWithinLimits(by, row, 0) || !this.#isCovered([row])) return 'refused';
    this.#reserve(by, id, row, false);
    return 'reserved';
  }

  /** Each row is judged as if those before it had been accepted. */
  batch(by: number, id: string, ids: readonly string[], rows: readonly Row[]): string {
    const isWithin = rows.every((row, index) => {
      const before = rows.slice(0, index).filter(({ currency }) => currency === row.currency);
      return this.#isWithinLimits(by, row, sumOf(before));
    });
    if (!isWithin || !this.#isCovered(rows)) return 'refused';
    rows.forEach((row, index) => this.#reserve(by, ids[index] ?? '', row, true));
    this.batches.set(id, { rows: [...ids], status: 'requested', isStopped: false });
    return 'reserved';
  }

  refund(by: number, units: number | null): 'reserved' | 'refused' {
    const left = CREDITED - this.#refunded;
    const value = units ?? left;
    const isOverDay = by === 0 && this.#usedByKey() + value > this.day.key;
    if (left === 0 || value > left || isOverDay) return 'refused';
    // The fee of 1 percent goes back with it.
    if (this.#available.USDT < value * 99) return 'refused';
    this.#available.USDT -= value * 99;
    this.#refunded += value;
    if (by === 0) this.#refundedByKey += value;
    return 'reserved';
  }

  change(verb: keyof typeof FROM, id: string): void {
    const payout = this.payouts.get(id);
    if (payout === undefined || payout.waits || !FROM[verb].includes(payout.status)) return;
    this.#end(payout, TO[verb]);
  }

  changeBatch(verb: 'approve_batch' | 'stop_batch' | 'advance_batch', id: string): void {
    const batch = this.batches.get(id);
    if (batch === undefined || batch.status === 'closed') return;
    if (verb === 'approve_batch' && batch.status === 'requested' && !batch.isStopped) {
      batch.status = 'processing';
    }
    if (verb === 'stop_batch') batch.isStopped = true;
    if (verb === 'advance_batch') this.#advance(batch);
  }

  anyPayout(which: number): string | undefined {
    return [...this.payouts.keys()][which % Math.max(1, this.payouts.size)];
  }

  anyBatch(which: number): string | undefined {
    return [...this.batches.keys()][which % Math.max(1, this.batches.size)];
  }

  shown() {
    const figures = (['USDC', 'USDT'] as const).map((currency) => [
      currency,
      textOf(this.#available[currency]),
      textOf(this.#reserved[currency]),
    ]);
    const statuses = [...this.payouts].map(([id, { status }]) => [id, status] as const);
    return {
      balances: figures,
      statuses: Object.fromEntries(statuses),
      used: { account: this.#usedInUsdc(), key: this.#usedByKey() },
    };
  }

  #advance(batch: ModelBatch): void {
    const rows = batch.rows.map((id) => this.payouts.get(id)!);
    for (const row of rows.filter(({ waits }) => waits)) {
      if (batch.isStopped) this.#end(row, 'cancelled');
      else if (batch.status === 'processing') row.status = 'approved';
      if (batch.isStopped || batch.status === 'processing') row.waits = false;
    }
    if (rows.every(({ status }) => ENDED.includes(status))) batch.status = 'closed';
  }

  #isWithinLimits(by: number, { units, currency }: Row, before: number): boolean {
    if (currency === 'USDC') return this.#usedInUsdc() + before + units <= this.day.account;
    return by !== 0 || this.#usedByKey() + before + units <= this.day.key;
  }

  #isCovered(rows: readonly Row[]): boolean {
    return (['USDT', 'USDC'] as const).every((currency) => {
      const own = rows.filter((row) => row.currency === currency);
      return this.#available[currency] >= debitOf(own);
    });
  }

  #reserve(by: number, id: string, row: Row, waits: boolean): void {
    this.payouts.set(id, { ...row, by, waits, status: 'requested' });
    this.#available[row.currency] -= debitOf([row]);
    this.#reserved[row.currency] += debitOf([row]);
  }

  #end(payout: ModelPayout, status: PayoutStatus): void {
    payout.status = status;
    if (status === 'approved') return;
    this.#reserved[payout.currency] -= debitOf([payout]);
    if (RETURNED.includes(status)) this.#available[payout.currency] += debitOf([payout]);
  }

  #counted(): ModelPayout[] {
    return [...this.payouts.values()].filter(({ status }) => !RETURNED.includes(status));
  }

  #usedInUsdc(): number {
    return sumOf(this.#counted().filter(({ currency }) => currency === 'USDC'));
  }

  #usedByKey(): number {
    const own = this.#counted().filter(({ by, currency }) => by === 0 && currency === 'USDT');
    return sumOf(own) + this.#refundedByKey;
  }
}

const sumOf = (rows: readonly Row[]): number => rows.reduce((sum, { units }) => sum + units, 0);

/** In cents. */
const debitOf = (rows: readonly Row[]): number => (sumOf(rows) + rows.length * NETWORK_FEE) * 100;

const textOf = (cents: number): string => (cents / 100).toFixed(8);
