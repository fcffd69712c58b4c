/** A new payment link. Its fields are those of POST /payments, with as many networks as the merchant allows. */
import { readPaymentRequest } from '../payments-contract';
import { LINK_REFERENCE_MAX, type PaymentLinks } from '../payment-links';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { ApiError, type FieldError } from '../../../domain/errors';
import { ID_PREFIXES } from '../../../domain/ids';
import { amount } from '../../../domain/money';
import { INTERNAL_NETWORK } from '../../../domain/route';
import { Card, PageHead } from '../../../kit/pages/components';
import {
  Choices,
  draftForm,
  Field,
  FormActions,
  type FormState,
  Select,
} from '../../../kit/pages/forms';
import { page, redirect } from '../../../kit/pages/site';
import {
  filledIn,
  formKey,
  newFormKey,
  nextFormKey,
  personOf,
  RefusalAlert,
  tryForm,
} from '../../../kit/pages/creation';
import type { MerchantRoute, MerchantVisit } from '../../../kit/pages/merchant-page';
import { routeText } from '../pages/route-text';

const OPTIONAL = ['description', 'customer_email', 'success_url', 'cancel_url'] as const;
const DAY_S = 86_400;

const WINDOWS = [
  [String(DAY_S), '24 hours'],
  [String(7 * DAY_S), '7 days'],
  [String(30 * DAY_S), '30 days'],
  [String(90 * DAY_S), '90 days'],
  [String(365 * DAY_S), '1 year'],
] as const;

export function newPaymentLinkPages(
  { money }: DashboardServices,
  links: PaymentLinks,
): MerchantRoute[] {
  const show = async (
    visit: MerchantVisit,
    key: string,
    form: FormState,
    refusal: ApiError | null,
  ) => {
    const routes = await money.routes(personOf(visit), 'payin');
    const props = { path: `${visit.base}/payment-links`, routes, formKey: key, form, refusal };
    const status = refusal?.status ?? 200;
    return page('New payment link', <NewPaymentLink {...props} />, {
      nav: 'payment-links',
      status,
    });
  };

  return [
    {
      method: 'get',
      path: '/payment-links/new',
      needs: 'link',
      run: (visit) => show(visit, newFormKey(), draftForm(visit), null),
    },
    {
      method: 'post',
      path: '/payment-links/new',
      needs: 'link',
      cost: 'provider',
      run: async (visit) => {
        const key = formKey(visit.form);
        const { result, form, refusal } = await tryForm(visit.form, () =>
          links.create(termsOf(visit, key), validSeconds(visit.form)),
        );
        if (result !== null) return redirect(`${visit.base}/payment-links/${result}?created`);
        return show(visit, nextFormKey(key, refusal), form, refusal);
      },
    },
  ];
}

function validSeconds(form: URLSearchParams): number {
  const [chosen] = WINDOWS.find(([value]) => value === form.get('valid_for')) ?? WINDOWS[0];
  return Number(chosen);
}

/** @throws ApiError validation_failed */
function termsOf(visit: MerchantVisit, key: string) {
  const { form, mode } = visit;
  const sent = filledIn(form, ['amount', 'reference', ...OPTIONAL]);
  // The currency is chosen with the network; the links check each of them.
  const read = readPaymentRequest({ ...sent, currency: 'USDT' }, mode);
  if (read.reference.length > LINK_REFERENCE_MAX) {
    const message = `Use at most ${LINK_REFERENCE_MAX} characters.`;
    const fields: FieldError[] = [{ field: 'reference', rule: 'too_long', message }];
    throw new ApiError({ code: 'validation_failed', details: { fields } });
  }
  return {
    ...personOf(visit),
    // The form's key makes the ID, so a form that is sent twice makes one link.
    id: ID_PREFIXES.paymentLink + key.slice(-26),
    amount: amount(read.amount),
    routes: form.getAll('route'),
    reference: read.reference,
    request: filledIn(form, OPTIONAL),
  };
}

type Route = Awaited<ReturnType<DashboardServices['money']['routes']>>[number];

/** The choices of a currency and a network, such as `USDT on Tron`, sorted by currency. */
function routeOptions(routes: readonly Route[]): (readonly [string, string])[] {
  const values = routes.map(
    ({ currency, network, provider }) =>
      `${currency} ${network === INTERNAL_NETWORK ? provider : network}`,
  );
  return [...new Set(values)]
    .map((value) => [value, routeText(value)] as const)
    .sort(([, one], [, other]) => one.localeCompare(other));
}

interface NewPaymentLinkProps {
  path: string;
  routes: readonly Route[];
  formKey: string;
  form: FormState;
  refusal: ApiError | null;
}

function NewPaymentLink({ path, routes, formKey: key, form, refusal }: NewPaymentLinkProps) {
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Payment links' }}
        title="New payment link"
        lead="Send the link to a customer, who pays on the checkout page."
      />
      <RefusalAlert refusal={refusal} />
      <Card>
        <form method="post" action={`${path}/new`} class="stack">
          <input type="hidden" name="key" value={key} />
          <Field
            name="amount"
            label="Amount"
            placeholder="25.00"
            form={form}
            required
            autocomplete="off"
            maxLength={28}
          />
          <Choices
            name="route"
            label="Currency and network"
            hint="The customer chooses one of those that you allow."
            form={form}
            options={routeOptions(routes)}
          />
          <Field
            name="reference"
            label="Reference"
            hint="Your own unique ID of the order, without spaces."
            placeholder="order-1001"
            form={form}
            required
            autocomplete="off"
            maxLength={LINK_REFERENCE_MAX}
          />
          <Select name="valid_for" label="The link works for" form={form} options={WINDOWS} />
          <Field
            name="description"
            label="Description"
            hint="Optional. The customer sees it."
            form={form}
            maxLength={255}
          />
          <Field
            name="customer_email"
            label="Email address of the customer"
            hint="Optional."
            type="email"
            form={form}
            autocomplete="off"
            maxLength={254}
          />
          <Field
            name="success_url"
            label="Page after the payment"
            hint="Optional. The customer returns to this URL."
            type="url"
            form={form}
            maxLength={2048}
          />
          <Field
            name="cancel_url"
            label="Page after a cancellation"
            hint="Optional."
            type="url"
            form={form}
            maxLength={2048}
          />
          <FormActions submit="Create payment link" cancel={path} />
        </form>
      </Card>
    </>
  );
}
