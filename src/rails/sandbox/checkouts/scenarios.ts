/**
 * What a test-mode checkout plays by itself when its order names a scenario, as data. The same
 * table stands in docs/sandbox.md, and a test compares the two.
 */
import { fromUnits, toUnits } from '../decimal-text';
import type { SandboxSettings } from '../config';
import type { CheckoutOrder, CheckoutScenario, CheckoutStep, PlannedStep } from './checkout';

/** How much of the order's amount; half is never less than the smallest amount there is. */
export type Share = 'exact' | 'half' | 'half_more';

interface ScenarioStep {
  /** The waits since the step before, or `expiry`: the order's time limit. */
  after: readonly ('settle' | 'slow' | 'expiry')[];
  step: CheckoutStep | { do: 'pay'; share: Share };
}

interface CheckoutScenarioEntry {
  /** One line for people. */
  summary: string;
  steps: readonly ScenarioStep[];
  callbacks: 'once' | 'none' | 'twice' | 'out_of_order';
}

const START: ScenarioStep = { after: ['settle'], step: { do: 'start' } };
const payShare = (share: Share): ScenarioStep => ({
  after: ['settle'],
  step: { do: 'pay', share },
});
const PAID = [START, payShare('exact')] as const;

export const CHECKOUT_SCENARIOS: Record<CheckoutScenario, CheckoutScenarioEntry> = {
  completed: {
    summary: 'The customer starts, pays the exact amount, and the transfer is confirmed.',
    steps: PAID,
    callbacks: 'once',
  },
  underpaid: {
    summary: 'The customer pays half of the amount and no more.',
    steps: [START, payShare('half')],
    callbacks: 'once',
  },
  overpaid: {
    summary: 'The customer pays one and a half times the amount.',
    steps: [START, payShare('half_more')],
    callbacks: 'once',
  },
  paid_again: {
    summary:
      'Paid exactly; SANDBOX_SLOW_MS after the confirmation the customer pays half of it again.',
    steps: [...PAID, { after: ['settle', 'slow'], step: { do: 'pay', share: 'half' } }],
    callbacks: 'once',
  },
  late: {
    summary: 'The exact amount is seen and confirmed soon after the time limit.',
    steps: [START, { after: ['expiry', 'settle'], step: { do: 'pay', share: 'exact' } }],
    callbacks: 'once',
  },
  on_hold: {
    summary:
      'The customer pays the exact amount, which is held for compliance until somebody decides.',
    steps: [...PAID, { after: [], step: { do: 'hold' } }],
    callbacks: 'once',
  },
  refunded: {
    summary: 'Paid exactly; SANDBOX_SLOW_MS after the confirmation all of it is refunded.',
    steps: [
      ...PAID,
      {
        after: ['settle', 'slow'],
        step: { do: 'refund', refundReference: null, amount: null },
      },
    ],
    callbacks: 'once',
  },
  failed: {
    summary: 'The customer starts, then the provider fails.',
    steps: [START, { after: ['settle'], step: { do: 'fail' } }],
    callbacks: 'once',
  },
  expired: {
    summary: 'The customer never starts.',
    steps: [],
    callbacks: 'once',
  },
  cancelled: {
    summary: 'The customer starts, then cancels.',
    steps: [START, { after: ['settle'], step: { do: 'cancel' } }],
    callbacks: 'once',
  },
  callback_lost: {
    summary: 'As `completed`, without any callback.',
    steps: PAID,
    callbacks: 'none',
  },
  callback_twice: {
    summary: 'As `completed`; each callback is delivered twice at the same time, then once more.',
    steps: PAID,
    callbacks: 'twice',
  },
  out_of_order: {
    summary: 'As `completed`; each callback is followed by the one of the state before.',
    steps: PAID,
    callbacks: 'out_of_order',
  },
};

export function shareOf(amount: string, share: Share): string {
  const units = toUnits(amount);
  const half = units > 1n ? units / 2n : 1n;
  if (share === 'exact') return amount;
  return fromUnits(share === 'half' ? half : units + half);
}

/** The scenario's steps with the times at which they come. */
export function planScenario(
  { scenario, amount, expiresAt }: Pick<CheckoutOrder, 'scenario' | 'amount' | 'expiresAt'>,
  now: Date,
  settings: Pick<SandboxSettings, 'settleMs' | 'slowMs'>,
): PlannedStep[] {
  let dueMs = now.getTime();
  const steps = scenario === null ? [] : CHECKOUT_SCENARIOS[scenario].steps;
  return steps.map(({ after, step }) => {
    for (const wait of after) {
      if (wait === 'expiry') dueMs = Math.max(dueMs, Date.parse(expiresAt));
      else dueMs += wait === 'slow' ? settings.slowMs : settings.settleMs;
    }
    const due = new Date(dueMs).toISOString();
    if (!('share' in step)) return { due, step };
    const paid = {
      do: 'pay',
      amount: shareOf(amount, step.share),
      at: null,
      then: 'confirm',
    } as const;
    return { due, step: paid };
  });
}
