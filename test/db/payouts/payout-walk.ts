/**
 * A walk of one account: payouts, batches, cancellations, ends at the provider and refunds, each of which
 * may crash before or after a commit and is then run again. A small model says what may come of it.
 */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import fc from 'fast-check';
import { checkPayment } from '../../../activities/payment/check';
import { approvePayout, cancelPayout, rejectPayout } from '../../../activities/payout/decide';
import { applyTransition, type Transition } from '../../../activities/payout/transition';
import { advancePayoutBatch } from '../../../activities/payout-batch/advance';
import { approvePayoutBatch, endPayoutBatch } from '../../../activities/payout-batch/decide';
import type { Deps } from '../../../activities/deps';
import { listBalances } from '../../../src/db/ledger/ledger';
import { findPayoutBatch } from '../../../src/db/payout-batches/payout-batches';
import { returnPosting, settlementPosting } from '../../../src/domain/ledger';
import { amount } from '../../../src/domain/money';
import type { PayoutStatus } from '../../../src/domain/payout';
import { newId } from '../../../src/platform/lib/new-id';
import { addFeeRule } from '../fee-rules';
import { fund } from '../../support/merchant/ledger';
import { atProvider, openPayment, type PaymentWorld, withFaults } from '../payment-world';
import { PayoutModel, type Row } from './payout-model';
import {
  claimBatch,
  claimPayout,
  claimRefund,
  openKey,
  type Requester,
  setDailyLimit,
} from '../reserving-world';

type Crash = 'before_commit' | 'after_commit' | null;

export type Command =
  | { do: 'payout'; by: number; row: Row; crash: Crash }
  | { do: 'two_payouts'; by: number; rows: [Row, Row] }
  | { do: 'batch'; by: number; rows: Row[]; crash: Crash }
  | { do: 'refund'; by: number; units: number | null; crash: Crash }
  | { do: 'look'; crash: Crash }
  | PayoutChange
  | BatchChange
  | { do: 'fund'; currency: Row['currency'] };

const currency = fc.constantFrom('USDT' as const, 'USDC' as const);
const units = fc.constantFrom(1, 40, 60, 99, 100, 150);
const row = fc.record({ units, currency });
const by = fc.nat(1);
/** Few, so that most of them come to an end. */
const which = fc.nat(3);
const crash: fc.Arbitrary<Crash> = fc.constantFrom(null, null, 'before_commit', 'after_commit');
const one = <T extends string>(...names: T[]) => fc.constantFrom(...names);

export const walk: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof<fc.WeightedArbitrary<Command>[]>(
    { weight: 5, arbitrary: fc.record({ do: one('payout'), by, row, crash }) },
    { weight: 2, arbitrary: fc.record({ do: one('two_payouts'), by, rows: fc.tuple(row, row) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        ...{ do: one('batch'), by, crash },
        rows: fc.array(row, { minLength: 1, maxLength: 4 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        ...{ do: one('refund'), by, crash },
        units: fc.option(fc.constantFrom(1, 40, 60, 100), { nil: null }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: one('look'), crash }) },
    {
      weight: 14,
      arbitrary: fc.record({
        do: one('approve', 'approve', 'cancel', 'reject', 'send', 'send', 'fail', 'fail'),
        ...{ which, crash },
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: one('approve_batch', 'advance_batch', 'advance_batch', 'stop_batch'),
        ...{ which, crash },
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: one('fund'), currency }) },
  ),
  { minLength: 8, maxLength: 24, size: 'max' },
);

const small = { units: 1, currency: 'USDC' } as const;
const step = { by: 1, crash: null } as const;

/** Payouts and batches that come to each end, which no random walk has to do. */
export const EVERY_END: Command[] = [
  ...Array.from({ length: 4 }, () => ({ do: 'payout' as const, row: small, ...step })),
  { do: 'approve', which: 0, crash: 'after_commit' },
  { do: 'send', which: 0, crash: 'before_commit' },
  { do: 'approve', which: 1, crash: null },
  { do: 'fail', which: 1, crash: 'after_commit' },
  { do: 'cancel', which: 2, crash: null },
  { do: 'reject', which: 3, crash: null },
  { do: 'batch', rows: [small, small], ...step },
  { do: 'approve_batch', which: 0, crash: null },
  { do: 'advance_batch', which: 0, crash: 'after_commit' },
  { do: 'send', which: 4, crash: null },
  { do: 'fail', which: 5, crash: null },
  { do: 'advance_batch', which: 0, crash: null },
  { do: 'batch', rows: [small], ...step },
  { do: 'stop_batch', which: 1, crash: null },
  { do: 'advance_batch', which: 1, crash: 'before_commit' },
];

/** The daily limit of the first key in USDT, which refunds use up too, and that of the account in USDC. */
const DAY = { key: 200, account: 300 };
const FUNDS = 250;

/** @param check what holds after each command */
export async function play(
  world: PaymentWorld,
  commands: readonly Command[],
  check: () => Promise<void>,
): Promise<PayoutModel> {
  const walker = await begin(world);
  for (const command of commands) {
    await walker.run(command);
    await walker.compare(command);
    await check();
  }
  return walker.model;
}

async function begin(world: PaymentWorld): Promise<Walker> {
  const { db } = world;
  const payment = await openPayment(world);
  const { accountId } = payment;
  const at = new Date().toISOString();
  await atProvider(world, payment.id, 'pay', { amount: '100', at });
  await checkPayment(world, payment.id);
  const model = new PayoutModel(DAY);
  model.add('USDT', 9_900);
  for (const code of ['USDT', 'USDC'] as const) {
    await addFeeRule(db, { accountId, currency: code, percentage: '0' });
    await fund(db, { accountId, mode: 'test', currency: code }, String(FUNDS));
    model.add(code, FUNDS * 100);
  }
  await setDailyLimit(db, accountId, 'USDC', String(DAY.account));
  const keys = [
    await openKey(db, { accountId }, { USDT: { per_day: amount(String(DAY.key)) } }),
    await openKey(db, { accountId }),
  ] as const;
  return new Walker(world, keys, payment.id, model);
}

class Walker {
  constructor(
    readonly world: PaymentWorld,
    readonly keys: readonly [Requester, Requester],
    readonly paymentId: string,
    readonly model: PayoutModel,
  ) {}

  async run(command: Command): Promise<void> {
    const { db } = this.world;
    switch (command.do) {
      case 'payout': {
        const id = newId('payout');
        const reserve = await claimPayout(db, this.#key(command.by), asked(command.row), id);
        const { kind } = await this.#twice(command.crash, reserve);
        expect(kind).toBe(this.model.payout(command.by, id, command.row));
        return;
      }
      case 'two_payouts':
        return this.#twoAtOnce(command.by, command.rows);
      case 'batch': {
        const id = newId('payoutBatch');
        const reserve = await claimBatch(db, this.#key(command.by), command.rows.map(asked), id);
        const { kind } = await this.#twice(command.crash, reserve);
        const expected = this.model.batch(command.by, id, await this.#rowIds(id), command.rows);
        // The refusal of a batch releases its claim, so a repeated step finds that the request has ended.
        const isRepeated = command.crash === 'after_commit' && expected === 'refused';
        expect(isRepeated ? ['refused', 'abandoned'] : [expected]).toContain(kind);
        return;
      }
      case 'refund': {
        const value = command.units === null ? null : String(command.units);
        const request = { paymentId: this.paymentId, amount: value };
        const reserve = await claimRefund(db, this.#key(command.by), request);
        const { kind } = await this.#twice(command.crash, (deps) => reserve(deps));
        expect(kind).toBe(this.model.refund(command.by, command.units));
        return;
      }
      case 'look':
        await this.#twice(command.crash, (deps) => checkPayment(deps, this.paymentId));
        return;
      case 'fund':
        await fund(db, { ...this.#key(0), currency: command.currency }, '100');
        this.model.add(command.currency, 10_000);
        return;
      case 'approve_batch':
      case 'stop_batch':
      case 'advance_batch':
        return this.#changeBatch(command);
      default:
        return this.#changePayout(command);
    }
  }

  /** The gateway and the model agree. */
  async compare(command: Command): Promise<void> {
    const { accountId } = this.#key(0);
    const balances = await listBalances(this.world.db, accountId, 'test');
    const statuses = await this.world.db.query<{ id: string; status: PayoutStatus }>(
      'SELECT id, status FROM payouts WHERE account_id = ?',
      [accountId],
    );
    const [usage] = await this.world.db.query<{ account: string | null; key: string | null }>(
      `SELECT (SELECT used FROM payout_used(?, 'test', 'USDC')) AS account,
              (SELECT used FROM key_used(?, 'test', 'USDT', ?)) AS key`,
      [accountId, accountId, this.#key(0).apiKeyId],
    );
    const found = {
      balances: balances.map(({ currency: code, available, reserved }) => [
        code,
        available,
        reserved,
      ]),
      statuses: Object.fromEntries(statuses.map(({ id, status }) => [id, status])),
      used: { account: Number(usage?.account ?? 0), key: Number(usage?.key ?? 0) },
    };
    expect({ command, ...found }).toEqual({ command, ...this.model.shown() });
  }

  #key(by: number): Requester {
    const key = this.keys[by];
    if (key === undefined) throw new Error(`there is no key ${by}`);
    return key;
  }

  /** Runs a step that crashes, and then the same step again. */
  async #twice<T>(crash: Crash, step: (deps: Deps) => Promise<T>): Promise<T> {
    if (crash === null) return step(this.world);
    // A refusal commits nothing, so that nothing crashes after it.
    const ended = await step(crashing(this.world, crash)).then(
      (result) => ({ result }),
      expectCrash,
    );
    return ended === undefined ? step(this.world) : ended.result;
  }

  /** Their order is not known: the results are those of one of the two. */
  async #twoAtOnce(by: number, rows: readonly [Row, Row]): Promise<void> {
    const ids = [newId('payout'), newId('payout')] as const;
    const reserves = await Promise.all(
      rows.map((one, n) => claimPayout(this.world.db, this.#key(by), asked(one), ids[n])),
    );
    const results = await Promise.all(reserves.map((reserve) => reserve(this.world)));
    const kinds = results.map(({ kind }) => kind);
    const orders = [[0, 1] as const, [1, 0] as const].map((order) => {
      const model = this.model.copy();
      const expected: string[] = [];
      for (const n of order) expected[n] = model.payout(by, ids[n], rows[n]);
      return expected;
    });
    expect(orders).toContainEqual(kinds);
    const first = orders.findIndex((order) => order.join() === kinds.join());
    for (const n of first === 0 ? [0, 1] : [1, 0]) this.model.payout(by, ids[n]!, rows[n]!);
  }

  async #changePayout({ do: verb, which: number, crash }: PayoutChange): Promise<void> {
    const id = this.model.anyPayout(number);
    if (id === undefined) return;
    const steps: Record<PayoutChange['do'], (deps: Deps) => Promise<unknown>> = {
      approve: (deps) => approvePayout(deps, id, null),
      cancel: (deps) => cancelPayout(deps, id, 'the request'),
      reject: (deps) => rejectPayout(deps, id, 'olivia', null),
      send: (deps) => this.#end(deps, id, { trigger: 'complete', posting: settlementPosting }),
      fail: (deps) => this.#end(deps, id, { trigger: 'fail', posting: returnPosting }),
    };
    await this.#twice(crash, steps[verb]);
    this.model.change(verb, id);
  }

  /** What the provider's answer does; its order is approved before, if it waits for that alone. */
  async #end(deps: Deps, id: string, transition: Transition): Promise<void> {
    await approvePayout(deps, id, null);
    await applyTransition(deps, id, { trigger: 'accept', change: { processingSince: new Date() } });
    await applyTransition(deps, id, transition);
  }

  async #changeBatch({ do: verb, which: number, crash }: BatchChange): Promise<void> {
    const id = this.model.anyBatch(number);
    if (id === undefined) return;
    const { db } = this.world;
    const manifest = (await findPayoutBatch(db, id))?.manifestSha256 ?? '';
    const steps: Record<BatchChange['do'], (deps: Deps) => Promise<unknown>> = {
      approve_batch: (deps) => approvePayoutBatch(deps, id, null, manifest),
      stop_batch: (deps) => endPayoutBatch(deps, id, 'stop', 'the request', null),
      advance_batch: (deps) => advance(deps, id, manifest),
    };
    await this.#twice(crash, steps[verb]);
    this.model.changeBatch(verb, id);
  }

  async #rowIds(batchId: string): Promise<string[]> {
    const rows = await this.world.db.query<{ id: string }>(
      'SELECT id FROM payouts WHERE batch_id = ? ORDER BY batch_row',
      [batchId],
    );
    return rows.map(({ id }) => id);
  }
}

interface PayoutChange {
  do: 'approve' | 'cancel' | 'reject' | 'send' | 'fail';
  which: number;
  crash: Crash;
}

interface BatchChange {
  do: 'approve_batch' | 'stop_batch' | 'advance_batch';
  which: number;
  crash: Crash;
}

const asked = ({ units: value, currency: code }: Row) => ({
  amount: String(value),
  currency: code,
});

/** Nobody starts workflows here: what they would do are commands. */
const payoutWorkflows = {
  wake: () => Promise.resolve(),
  ensureRunning: () => Promise.resolve(),
} as never;

export function advance(deps: Deps, id: string, manifest: string): Promise<unknown> {
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  return environment.run(() => advancePayoutBatch({ ...deps, payoutWorkflows }, id, manifest));
}

const CRASH = 'a crash on purpose';

function expectCrash(error: Error): undefined {
  expect(error.message).toBe(CRASH);
}

function crashing(world: PaymentWorld, at: NonNullable<Crash>): Deps {
  return withFaults(world, {
    commit: async (call) => {
      if (at === 'after_commit') await call();
      throw new Error(CRASH);
    },
  });
}
