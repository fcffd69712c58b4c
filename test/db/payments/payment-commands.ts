/** What can happen to a payment, as commands that fast-check puts into walks. */
import fc from 'fast-check';
import type { PaymentDecisionKind } from '../../../src/domain/payment';

export type Crash = { at: 'before_call' | 'after_call' | 'after_commit'; number: number };

export type Look =
  | 'once'
  | 'twice_at_once'
  /** Neither calls nor reads arrive, or what they are answered does not. */
  | 'no_answer'
  | 'answers_lost'
  /** The same of what it is told, while reads work. */
  | 'call_lost'
  | 'call_answer_lost'
  | Crash;

export type Command =
  | { do: 'pay'; cents: number; then: 'confirmed' | 'seen' }
  | { do: 'provider'; verb: string }
  | { do: 'provider_refund'; cents: number | null }
  | { do: 'decide'; kind: PaymentDecisionKind; cents: number | null; twice: boolean }
  | { do: 'look'; how: Look }
  | { do: 'close_window'; daysAgo: 0 | 31 }
  | { do: 'spend_all' | 'fund' };

const cents = fc.constantFrom(1, 2_500, 5_000, 9_999, 10_000, 10_001, 15_000);
const maybeCents = fc.option(cents, { nil: null });
const crash = fc.record({
  at: fc.constantFrom('before_call' as const, 'after_call' as const, 'after_commit' as const),
  number: fc.integer({ min: 1, max: 3 }),
});
const look = fc.record({
  do: fc.constant('look' as const),
  how: fc.oneof(
    fc.constantFrom(
      ...(['once', 'twice_at_once', 'no_answer', 'answers_lost', 'call_lost'] as const),
      'call_answer_lost' as const,
    ),
    crash,
  ),
});

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pay' as const),
      cents,
      then: fc.constantFrom('confirmed' as const, 'confirmed' as const, 'seen' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('provider' as const),
      verb: fc.constantFrom(
        ...['start', 'confirm', 'drop', 'reorg', 'reorg', 'hold', 'hold', 'release', 'reject'],
        ...['cancel', 'fail'],
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('provider_refund' as const), cents: maybeCents }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      kind: fc.constantFrom(
        ...(['release', 'reject', 'cancel', 'refund', 'refund', 'refund'] as const),
      ),
      cents: maybeCents,
      twice: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: look },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('close_window' as const),
      daysAgo: fc.constantFrom(0 as const, 0 as const, 31 as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('spend_all' as const, 'fund' as const) }),
  },
);

/** Most doubts come after something; few walks would get as far by chance. */
const beginning = fc.constantFrom<Command[]>(
  [],
  [
    { do: 'pay', cents: 10_000, then: 'confirmed' },
    { do: 'look', how: 'once' },
  ],
  [
    { do: 'provider', verb: 'hold' },
    { do: 'pay', cents: 10_000, then: 'confirmed' },
    { do: 'look', how: 'once' },
  ],
);

/** A beginning, and up to 16 commands. */
export const walk: fc.Arbitrary<Command[]> = fc
  .tuple(beginning, fc.array(command, { minLength: 2, maxLength: 16, size: 'max' }))
  .map((both) => both.flat());
