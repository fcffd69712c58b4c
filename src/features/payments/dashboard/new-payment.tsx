/** A new payment link: creates a payment as POST /payments does. */
import { readPaymentRequest } from '../payments-contract';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { ApiError, type FieldError } from '../../../domain/errors';
import { PROVIDER_CODES } from '../../../domain/provider-codes';
import { INTERNAL_NETWORK } from '../../../domain/route';
import { Card, PageHead, words } from '../../../kit/pages/components';
import { draftForm, Field, FormActions, type FormState, Select } from '../../../kit/pages/forms';
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

const NAV = { nav: 'payments' };
const FIELDS = [
  'amount',
  'reference',
  'description',
  'customer_email',
  'success_url',
  'cancel_url',
] as const;

/** In seconds. */
const WINDOWS = [
  ['3600', '1 hour'],
  ['900', '15 minutes'],
  ['14400', '4 hours'],
  ['86400', '24 hours'],
] as const;

export function newPaymentPages({ money }: DashboardServices): MerchantRoute[] {
  const show = async (
    visit: MerchantVisit,
    key: string,
    form: FormState,
    refusal: ApiError | null,
  ) => {
    const routes = await money.routes(personOf(visit), 'payin');
    const props = { path: `${visit.base}/payments`, routes, formKey: key, form, refusal };
    const status = refusal?.status ?? 200;
    return page('New payment link', <NewPayment {...props} />, { ...NAV, status });
  };

  return [
    {
      method: 'get',
      path: '/payments/new',
      needs: 'link',
      run: (visit) => show(visit, newFormKey(), draftForm(visit), null),
    },
    {
      method: 'post',
      path: '/payments/new',
      needs: 'link',
      run: async (visit) => {
        const key = formKey(visit.form);
        const { result, form, refusal } = await tryForm(visit.form, () =>
          money.createPayment(personOf(visit), key, requestOf(visit)),
        );
        if (result !== null) return redirect(`${visit.base}/payments/${result}?created`);
        return show(visit, nextFormKey(key, refusal), form, refusal);
      },
    },
  ];
}

/** @throws ApiError validation_failed */
function requestOf({ form, mode }: MerchantVisit) {
  const seconds = WINDOWS.map(([value]) => value).find((value) => value === form.get('expires_in'));
  const expiry = seconds === undefined ? {} : { expires_in: Number(seconds) };
  return readPaymentRequest({ ...filledIn(form, FIELDS), ...routeOf(form), ...expiry }, mode);
}

/** What the customer pays with is chosen as a whole: the gateway picks no network by itself. */
function routeOf(form: URLSearchParams): Record<string, string> {
  const [currency = '', way = ''] = (form.get('route') ?? '').split(' ');
  if (way === '') {
    const message = 'Choose what the customer pays with.';
    const fields: FieldError[] = [{ field: 'route', rule: 'required', message }];
    throw new ApiError({ code: 'validation_failed', details: { fields } });
  }
  return chosenProvider(way) === undefined
    ? { currency, network: way }
    : { currency, provider: way };
}

const chosenProvider = (way: string) => PROVIDER_CODES.find((code) => code === way);

/** The choices of a currency and a network, such as `USDT on Tron`, sorted by currency. */
function routeOptions(routes: readonly Route[]): (readonly [string, string])[] {
  const names = routes.map(({ currency, network, provider }) =>
    network === INTERNAL_NETWORK
      ? ([`${currency} ${provider}`, `${currency} with ${words(provider)}`] as const)
      : ([`${currency} ${network}`, `${currency} on ${words(network)}`] as const),
  );
  return [...new Map(names)].sort(([, one], [, other]) => one.localeCompare(other));
}

type Route = Awaited<ReturnType<DashboardServices['money']['routes']>>[number];

interface NewPaymentProps {
  path: string;
  routes: readonly Route[];
  formKey: string;
  form: FormState;
  refusal: ApiError | null;
}

function NewPayment({ path, routes, formKey: key, form, refusal }: NewPaymentProps) {
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Payments' }}
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
          <Select
            name="route"
            label="Currency and network"
            hint="The customer pays on this network and no other."
            form={form}
            options={[['', 'Choose …'], ...routeOptions(routes)]}
          />
          <Field
            name="reference"
            label="Reference"
            hint="Your own unique ID of the order, without spaces."
            placeholder="order-1001"
            form={form}
            required
            autocomplete="off"
            maxLength={64}
          />
          <Select name="expires_in" label="Payable for" form={form} options={WINDOWS} />
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
