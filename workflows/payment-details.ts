/** What an operator reads on a payment's page: the state, why it waits, what to type. */
import type { PaymentStatus } from '../src/domain/payment';
import { code, list, signalLine } from './details';
import type { PaymentState } from './messages';

const MEANING: Record<PaymentStatus, string> = {
  created: 'The checkout is open. Nobody has begun to pay.',
  pending: 'The customer has begun to pay.',
  processing: 'Money was seen and is not all confirmed.',
  on_hold: 'The provider holds the money for compliance. Nothing is credited.',
  completed: 'Paid and credited.',
  underpaid: 'The window closed on too little. What came is credited.',
  failed: 'It came to nothing, and nothing is credited.',
  expired: 'The window closed and nothing had come. Late money is credited still.',
  cancelled: 'It was cancelled. Late money is credited still.',
  refunded: 'The customer has the money back.',
};

const OUTCOMES = {
  pending: 'the provider has not answered yet',
  accepted: 'done',
  refused: 'refused',
} as const;

/** @returns Markdown */
export function describePayment(
  paymentId: string,
  state: PaymentState,
  notes: readonly string[],
): string {
  const { status, amount, currency, received, needsAttention, wait } = state;
  return [
    `**${status.replaceAll('_', ' ')}** · ${amount} ${currency}`,
    `${MEANING[status]} Seen so far: ${received} ${currency}.`,
    ...(needsAttention ? ['**Needs attention.**'] : []),
    ...(wait === null ? [] : [`It ${wait.why}.`]),
    ...describeDecision(state),
    ...list('Remarks:', notes),
    ...commands(paymentId, state),
  ].join('\n\n');
}

function describeDecision({ decision, currency }: PaymentState): string[] {
  if (decision === null) return [];
  const what = decision.amount === null ? '' : ` of ${decision.amount} ${currency}`;
  const whose = decision.by === null ? '' : ` by ${decision.by}`;
  const why = decision.refusal === null ? '' : `: ${decision.refusal}`;
  const end = why.endsWith('.') ? '' : '.';
  return [
    `Last decision: \`${decision.kind}\`${what}${whose}, ${OUTCOMES[decision.state]}${why}${end}`,
  ];
}

function commands(paymentId: string, { status, decision, refundable, wait }: PaymentState) {
  if (decision?.state === 'pending') return [];
  const line = (name: string, input: object) => code(signalLine(paymentId, name, input));
  switch (status) {
    case 'created':
    case 'pending':
      return [line('cancel', { by: 'you', reason: 'why' })];
    case 'on_hold':
      return [
        line('release', { by: 'you' }),
        line('reject', { by: 'you', reason: 'why, the merchant reads it' }),
      ];
    case 'completed':
    case 'underpaid':
      // A workflow that has ended takes no signal; the admin command starts it again.
      return wait === null
        ? [code(`npm run -s admin -- payments refund ${paymentId} --reason 'why'`)]
        : [line('refund', { by: 'you', amount: refundable, reason: 'why' })];
    default:
      return [];
  }
}
