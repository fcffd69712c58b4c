/** Refund a payment: the form, then what will be sent, and then the refund as the API makes it. */
import type { Payment } from '../../../domain/payment';
import { readRefundRequest } from '../refunds-contract';
import type { DashboardServices } from '../../../shell/dashboard/services';
import type { RefundChoices, RefundQuote } from '../refunds';
import { Card, Facts, Id, Money, PageHead, words } from '../../../kit/pages/components';
import { draftForm, Field, FormActions, type FormState, Select } from '../../../kit/pages/forms';
import { page, redirect } from '../../../kit/pages/site';
import {
  filledIn,
  formKey,
  MAKE,
  nextFormKey,
  type Outcome,
  personOf,
  RefusalAlert,
  tryForm,
} from '../../../kit/pages/creation';
import type { MerchantRoute, MerchantVisit } from '../../../kit/pages/merchant-page';
import { DestinationFields } from '../../../kit/pages/destination-fields';

const NAV = { nav: 'payments' };
const FIELDS = ['amount', 'reference', 'reason'] as const;
const DESTINATION = ['type', 'value', 'memo', 'noMemo'] as const;

export function newRefundPages({ money }: DashboardServices): MerchantRoute[] {
  const show = async (visit: MerchantVisit, key: string, sent: Outcome<unknown>) => {
    const choices = await money.refundChoices(personOf(visit), paymentOf(visit));
    const body = <NewRefund {...choices} {...sent} formKey={key} path={pathOf(visit)} />;
    return page('Refund', body, { ...NAV, status: sent.refusal?.status ?? 200 });
  };
  const again = (visit: MerchantVisit) => {
    const form = draftForm(visit);
    return show(visit, formKey(form.values), { form, refusal: null, result: null });
  };

  return [
    {
      method: 'get',
      path: '/payments/:id/refund',
      ...MAKE,
      run: again,
    },
    {
      method: 'post',
      path: '/payments/:id/refund',
      ...MAKE,
      liveRecent: pathOf,
      run: async (visit) => {
        const { form } = visit;
        const key = formKey(form);
        if (form.get('step') === 'change') return again({ ...visit, draft: form });
        if (form.get('step') === 'send') {
          const sent = await tryForm(form, () =>
            money.createRefund(personOf(visit), key, requestOf(visit)),
          );
          if (sent.result === null) return show(visit, nextFormKey(key, sent.refusal), sent);
          return redirect(`${visit.base}/refunds/${sent.result}`);
        }
        const quoted = await tryForm(form, () =>
          money.quoteRefund(personOf(visit), requestOf(visit)),
        );
        if (quoted.result === null) return show(visit, key, quoted);
        const choices = await money.refundChoices(personOf(visit), paymentOf(visit));
        const { payment, destinationTypes: types } = choices;
        const review = { payment, types, quote: quoted.result, form: quoted.form, formKey: key };
        return page('Review the refund', <Review {...review} path={pathOf(visit)} />, NAV);
      },
    },
  ];
}

function paymentOf({ params }: MerchantVisit): string {
  return params['id'] ?? '';
}

function pathOf(visit: MerchantVisit): string {
  return `${visit.base}/payments/${paymentOf(visit)}/refund`;
}

/** @throws ApiError validation_failed */
function requestOf(visit: MerchantVisit) {
  const { form } = visit;
  const { value, memo, type } = filledIn(form, ['type', 'value', 'memo']);
  const isWithoutMemo = form.get('noMemo') === 'on' && memo === undefined;
  const named = memo === undefined ? {} : { memo };
  const destination = { type, value, ...(isWithoutMemo ? { memo: null } : named) };
  const body = { ...filledIn(form, FIELDS), ...(value === undefined ? {} : { destination }) };
  return { paymentId: paymentOf(visit), ...readRefundRequest(body) };
}

interface NewRefundProps extends RefundChoices, Omit<Outcome<unknown>, 'result'> {
  formKey: string;
  path: string;
}

function NewRefund({ payment, left, destinationTypes, path, form, ...props }: NewRefundProps) {
  const back = path.slice(0, -'/refund'.length);
  return (
    <>
      <PageHead
        back={{ href: back, label: 'Payment' }}
        title="Refund"
        lead={
          <>
            <Money amount={left} currency={payment.currency} /> of {payment.reference} can be
            refunded.
          </>
        }
      />
      <RefusalAlert refusal={props.refusal} />
      <Card>
        <form method="post" action={path} class="stack">
          <input type="hidden" name="key" value={props.formKey} />
          <Field
            name="amount"
            label={`Amount in ${payment.currency}`}
            hint="What the customer gets back. Leave it empty to refund all that is left."
            placeholder={left}
            form={form}
            autocomplete="off"
            maxLength={28}
          />
          <Field
            name="reference"
            label="Reference"
            hint="Your own unique ID: letters, digits, “_” and “-”."
            placeholder="return-1001"
            form={form}
            required
            autocomplete="off"
            maxLength={64}
          />
          <Field
            name="reason"
            label="Reason"
            hint="Optional. You see it here and in the API; the customer does not."
            form={form}
            maxLength={255}
          />
          <Destination payment={payment} types={destinationTypes} form={form} />
          <FormActions submit="Review the refund" cancel={back} />
        </form>
      </Card>
    </>
  );
}

interface DestinationProps {
  payment: Payment;
  types: RefundChoices['destinationTypes'];
  form: FormState;
}

/** Closed until it is used: in test mode it can stand for the customer's answer. */
function Destination({ payment, types, form }: DestinationProps) {
  if (types.length === 0) {
    return (
      <p class="muted">
        {words(payment.provider)} sends the money to who paid. To pay another address, request a
        payout.
      </p>
    );
  }
  if (payment.mode === 'live') {
    return (
      <p class="muted">
        The customer enters an address on the payment page, with a link that you do not see. A
        payout then sends the money under the rules of your payouts.
      </p>
    );
  }
  const isUsed = DESTINATION.some(
    (name) => form.errors[name] !== undefined || (form.values.get(name) ?? '') !== '',
  );
  return (
    <details class="confirm" open={isUsed}>
      <summary class="btn" data-variant="outline">
        Name the address for the customer …
      </summary>
      <div class="confirm-body stack">
        <Select
          name="type"
          label="Destination"
          form={form}
          options={types.map((type) => [type, words(type)] as const)}
        />
        <DestinationFields form={form} isRequired={false} />
      </div>
    </details>
  );
}

function destinationText(types: DestinationProps['types']): string {
  return types.length === 0 ? 'The account that paid' : 'The customer enters an address on a page';
}

interface ReviewProps {
  types: DestinationProps['types'];
  payment: Payment;
  quote: RefundQuote;
  form: FormState;
  formKey: string;
  path: string;
}

/** The amount is fixed here: "all that is left" may be less a moment later. */
function Review({ payment, types, quote, form, formKey: key, path }: ReviewProps) {
  const { currency } = payment;
  const exact = (amount: string) => <Money amount={amount} currency={currency} />;
  const sent = { ...filledIn(form.values, [...FIELDS, ...DESTINATION]), amount: quote.amount, key };
  const { reference, reason, value, memo } = filledIn(form.values, [...FIELDS, ...DESTINATION]);
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Refund' }}
        title="Review the refund"
        lead="Nothing has been sent yet. A refund cannot be reversed."
      />
      <Card>
        <Facts
          rows={[
            ['To the customer', exact(quote.amount)],
            ['Fee returned', exact(quote.fee)],
            ['From your balance', exact(quote.taken)],
            ['Left to refund', exact(quote.left)],
            ['Payment', <Id value={payment.reference} />],
            ['Reference', reference],
            ['Reason', reason],
            ['Destination', value ?? destinationText(types)],
            ['Memo', memo],
          ]}
        />
        <form method="post" action={path}>
          {Object.entries(sent).map(([name, text]) => (
            <input type="hidden" name={name} value={text} />
          ))}
          <div class="actions">
            <button class="btn" name="step" value="send">
              Refund {quote.amount.replace(/\.?0+$/, '')} {currency}
            </button>
            <button class="btn" data-variant="outline" name="step" value="change">
              Change
            </button>
          </div>
        </form>
      </Card>
    </>
  );
}
