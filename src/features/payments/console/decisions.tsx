/** What an operator decides about a payment: the forms, and what became of each decision. */
import { REASON_LENGTH_MAX } from '../../../kit/service/checks';
import { DECIDABLE, PAYMENT_DECISIONS, type PaymentDecisionKind } from '../../../domain/payment';
import { refundableOf } from '../../../domain/payment-pricing';
import type { PaymentDetail } from '../console-payments';
import { newDecisionId } from '../../payouts/payout-reviews';
import { Alert, Card, Time, words } from '../../../kit/pages/components';
import { Field, type FormState } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';

type Payment = PaymentDetail['payment'];
type Decision = PaymentDetail['decisions'][number];

interface PaymentDecisionsProps extends PaymentDetail {
  path: string;
  asked: URLSearchParams;
  form: FormState;
  mayDecide: boolean;
}

export function PaymentDecisions(props: PaymentDecisionsProps) {
  const { payment, decisions, asked, mayDecide } = props;
  // Another decision is refused until the provider has answered.
  const isPending = decisions.some(({ state }) => state === 'pending');
  const kinds = PAYMENT_DECISIONS.filter((kind) => DECIDABLE[kind].includes(payment.status));
  return (
    <>
      <Result decisions={decisions} asked={asked.get('decision')} />
      {mayDecide && !isPending && kinds.length > 0 ? (
        <Card title="Decision">
          {kinds.map((kind) => (
            <DecisionForm {...props} kind={kind} />
          ))}
        </Card>
      ) : null}
      {decisions.length === 0 ? null : <Decisions decisions={decisions} payment={payment} />}
    </>
  );
}

/** The outcome of the decision that led to this page. */
function Result({ decisions, asked }: { decisions: readonly Decision[]; asked: string | null }) {
  if (asked === null) return null;
  const decision = decisions.find(({ id }) => id === asked);
  if (decision === undefined) {
    return (
      <Alert tone="wait" title="The workflow has not answered yet.">
        <p>The decision may still be carried out. This page updates automatically.</p>
      </Alert>
    );
  }
  switch (decision.state) {
    case 'accepted':
      return <Alert tone="good" title={`${words(decision.kind)}: the provider has accepted it.`} />;
    case 'pending':
      return (
        <Alert tone="wait" title={`${words(decision.kind)}: waiting for the provider.`}>
          <p>This page updates automatically.</p>
        </Alert>
      );
    case 'refused':
      return (
        <Alert tone="bad" title="Your decision had no effect.">
          <p>{plain(decision.refusal)}</p>
        </Alert>
      );
  }
}

/** A refusal is written for the workflow's page, in Markdown. */
function plain(refusal: string | null): string {
  const text = (refusal ?? '').replaceAll('`', '');
  return text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith('.') ? '' : '.');
}

const FORMS: Record<
  PaymentDecisionKind,
  { label: string; icon: string; hint: string; submit: (payment: Payment) => string }
> = {
  release: {
    label: 'Release …',
    icon: 'circle-check',
    hint: 'Recorded in the audit log. The provider’s answer decides what is credited.',
    submit: () => 'Release the hold',
  },
  reject: {
    label: 'Reject …',
    icon: 'ban',
    hint: 'The merchant can read it. The funds go back to the customer.',
    submit: () => 'Reject and return the funds',
  },
  cancel: {
    label: 'Cancel …',
    icon: 'ban',
    hint: 'Recorded in the audit log. Money that arrives later is credited as late.',
    submit: ({ amount, currency }) => `Cancel the payment of ${amount} ${currency}`,
  },
  refund: {
    label: 'Refund …',
    icon: 'undo-2',
    hint: 'Recorded in the audit log. The merchant’s balance pays for it, less the returned fee.',
    submit: () => 'Refund the customer',
  },
};

function DecisionForm({
  kind,
  payment,
  path,
  form,
}: PaymentDecisionsProps & { kind: PaymentDecisionKind }) {
  const { label, icon, hint, submit } = FORMS[kind];
  // The form is open if it has an error, or fields that were typed before signing in again.
  const isOpen = [...Object.keys(form.errors), ...form.values.keys()].some((name) =>
    name.startsWith(`${kind}-`),
  );
  return (
    <details class="confirm" open={isOpen}>
      <summary class="btn" data-variant="outline">
        <Icon name={icon} /> {label}
      </summary>
      <form method="post" action={`${path}/${kind}`} class="confirm-body">
        <input type="hidden" name="decision" value={newDecisionId()} />
        {kind === 'refund' ? (
          <Field
            name="refund-amount"
            label={`Amount in ${payment.currency}`}
            hint={`At most ${refundableOf(payment)}.`}
            form={form}
            value={refundableOf(payment)}
            required
            maxLength={40}
            autocomplete="off"
          />
        ) : null}
        <Field
          name={`${kind}-reason`}
          label="Reason"
          hint={hint}
          form={form}
          required
          maxLength={REASON_LENGTH_MAX}
          autocomplete="off"
        />
        <button class="btn" data-variant={kind === 'release' ? 'primary' : 'destructive'}>
          {submit(payment)}
        </button>
      </form>
    </details>
  );
}

const OUTCOMES = {
  accepted: 'Accepted by the provider',
  pending: 'Waiting for the provider',
} as const;

function Decisions({ decisions, payment }: Pick<PaymentDetail, 'decisions' | 'payment'>) {
  return (
    <Card title="Decisions of operators">
      <ol class="timeline">
        {decisions.map(({ kind, amount, decidedBy, reason, state, refusal, decidedAt }) => (
          <li data-tone={state === 'accepted' ? 'good' : state === 'pending' ? 'wait' : 'quiet'}>
            <div class="line">
              <b>
                {words(kind)}
                {amount === null ? null : ` ${amount} ${payment.currency}`}
              </b>
              <Time at={decidedAt} seconds />
            </div>
            <small>{decidedBy ?? 'A signal without a name'}</small>
            <small>{state === 'refused' ? `No effect: ${plain(refusal)}` : OUTCOMES[state]}</small>
            {reason === null ? null : <small class="break">{reason}</small>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
