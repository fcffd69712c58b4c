/**
 * Request a payout: the quote while the form is filled in, a review in live mode, and the payout as POST
 * /payouts does.
 */
import { BENEFICIARY_KINDS, BENEFICIARY_TEXT_LENGTH_MAX } from '../../../domain/beneficiary';
import { DESTINATION_TYPES } from '../../../domain/destination';
import type { ApiError } from '../../../domain/errors';
import type { Recipient } from '../../../domain/recipient';
import { readPayoutRequest } from '../payouts-contract';
import type { DashboardServices } from '../../../shell/dashboard/services';
import type { PayoutQuote } from '../../../kit/service/services';
import {
  Card,
  Facts,
  Money,
  PageHead,
  ReviewReasons,
  Status,
  words,
} from '../../../kit/pages/components';
import { Choices, Field, type FormState, Select } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { page, redirect, signInAgain } from '../../../kit/pages/site';
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
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';
import { DestinationFields } from '../../../kit/pages/destination-fields';
import { EDIT, REVIEWED, ReviewPayout, reviewedDigest } from './review-payout';

const NAV = { nav: 'payouts' };
/** The route of a transfer within a provider, which has no network in a request. */
const INTERNAL = 'internal';
const FIELDS = ['amount', 'currency', 'network', 'provider', 'reference', 'description'] as const;
/** Times are entered in UTC, because the server does not know the zone of the browser. */
const RELEASE_TIMES = ['at', 'expires_at'] as const;
const RELEASE = ['after_payment', 'approval_by_key'] as const;
const BENEFICIARY = ['name', 'kind', 'institution'] as const;
const ALL_FIELDS = [
  'key',
  ...FIELDS,
  ...['type', 'value', 'memo', 'noMemo', 'recipient', 'recipient_ready'],
  ...RELEASE_TIMES,
  ...RELEASE,
  ...BENEFICIARY,
];

export function newPayoutPages({
  money,
  recipients,
  approvers,
}: DashboardServices): MerchantRoute[] {
  const show = async (
    visit: MerchantVisit,
    shown: Pick<FormProps, 'formKey' | 'sent' | 'quote'>,
  ) => {
    const routes = await money.routes(personOf(visit), 'payout');
    const id = shown.sent.form.values.get('recipient') ?? '';
    const recipient = id === '' ? null : await recipients.find(visit, id);
    const names = (values: readonly string[]) => [...new Set(values)].sort();
    const body = (
      <NewPayout
        {...shown}
        path={`${visit.base}/payouts`}
        recipient={recipient}
        recipientsPath={`${visit.base}/recipients`}
        isLive={visit.mode === 'live'}
        currencies={names(routes.map(({ currency }) => currency))}
        networks={names(routes.map(({ network }) => network)).filter((name) => name !== INTERNAL)}
        providers={names(routes.map(({ provider }) => provider))}
      />
    );
    return page('Request a payout', body, { ...NAV, status: shown.sent.refusal?.status ?? 200 });
  };

  const quoteOf = (visit: MerchantVisit, values: URLSearchParams) =>
    tryForm(values, () => money.quotePayout(personOf(visit), requestOf(values)));

  /** @returns null when the person has seen exactly this payout */
  const reviewFirst = async (visit: MerchantVisit, key: string) => {
    const quoted = await quoteOf(visit, visit.form);
    const { result: quote, ...refused } = quoted;
    // It was sent already: nothing is created, and a second click gets the answer to the first.
    if (refused.refusal?.code === 'duplicate_reference') return null;
    if (quote === null) {
      return show(visit, { formKey: key, sent: { ...refused, result: null }, quote: quoted });
    }
    const order = requestOf(visit.form);
    const recipient =
      order.recipient === undefined ? null : await recipients.find(visit, order.recipient);
    const reviewed = { order, quote, recipient };
    const seen = visit.form.get(REVIEWED);
    if (seen === reviewedDigest(reviewed)) return null;
    const values = new URLSearchParams(visit.form);
    values.set('key', key);
    const path = `${visit.base}/payouts`;
    const isStale = seen !== null;
    const body = (
      <ReviewPayout
        {...{ path, reviewed, values, isStale, userId: visit.userId }}
        approvers={await approvers(visit)}
        fields={ALL_FIELDS}
      />
    );
    return page('Review the payout', body, { ...NAV, status: isStale ? 409 : 200 });
  };

  return [
    // With the fields of the form: its quote. The script asks for it while somebody types.
    get('/payouts/new', { cost: 'provider', ...MAKE }, async (visit) => {
      const query = visit.draft ?? visit.query;
      const untouched = { form: { values: query, errors: {} }, refusal: null, result: null };
      const quote = query.has('amount') ? await quoteOf(visit, query) : null;
      return show(visit, { formKey: formKey(query), sent: untouched, quote });
    }),
    post('/payouts/new', MAKE, async (visit) => {
      if (visit.form.has(EDIT)) {
        const sent = { form: { values: visit.form, errors: {} }, refusal: null, result: null };
        return show(visit, {
          formKey: formKey(visit.form),
          sent,
          quote: await quoteOf(visit, visit.form),
        });
      }
      const again = visit.mode === 'live' ? signInAgain(visit) : null;
      if (again !== null) return again;
      const key = formKey(visit.form);
      const review = visit.mode === 'live' ? await reviewFirst(visit, key) : null;
      if (review !== null) return review;
      const sent = await tryForm(visit.form, () =>
        money.createPayout(personOf(visit), key, requestOf(visit.form)),
      );
      if (sent.result !== null) return redirect(`${visit.base}/payouts/${sent.result}`);
      const quote = await quoteOf(visit, visit.form);
      return show(visit, { formKey: nextFormKey(key, sent.refusal), sent, quote });
    }),
  ];
}

/** @throws ApiError validation_failed */
function requestOf(values: URLSearchParams) {
  const { recipient } = filledIn(values, ['recipient']);
  if (recipient !== undefined) {
    const { network: _ofRecipient, ...rest } = filledIn(values, FIELDS);
    const ready = values.get('recipient_ready') === 'on' ? { recipient_ready: true as const } : {};
    return readPayoutRequest({ ...rest, recipient, ...partsOf(values, ready) });
  }
  const filled = filledIn(values, ['type', 'value', 'memo']);
  const isWithoutMemo = values.get('noMemo') === 'on' && filled['memo'] === undefined;
  const destination = isWithoutMemo ? { ...filled, memo: null } : filled;
  return readPayoutRequest({ ...filledIn(values, FIELDS), destination, ...partsOf(values) });
}

/** The parts of the request that most payouts do not have: conditions and a beneficiary. */
function partsOf(values: URLSearchParams, ready?: { recipient_ready?: true }) {
  const beneficiary = filledIn(values, BENEFICIARY);
  const isNamed = Object.keys(beneficiary).length > 0;
  return { ...releaseOf(values, ready), ...(isNamed ? { beneficiary } : {}) };
}

/** Empty without a condition. */
function releaseOf(values: URLSearchParams, ready: { recipient_ready?: true } = {}) {
  const times = Object.entries(filledIn(values, RELEASE_TIMES));
  const release = {
    ...filledIn(values, RELEASE),
    ...Object.fromEntries(times.map(([name, time]) => [name, `${time}Z`])),
    ...ready,
  };
  return Object.keys(release).length === 0 ? {} : { release };
}

interface FormProps {
  path: string;
  /** The recipient that the payout names; null if the form asks for a destination. */
  recipient: Recipient | null;
  recipientsPath: string;
  currencies: readonly string[];
  networks: readonly string[];
  providers: readonly string[];
  /** It is reviewed before it is sent. */
  isLive: boolean;
  formKey: string;
  sent: Outcome<string>;
  /** Null before an amount was entered. */
  quote: Outcome<PayoutQuote> | null;
}

function NewPayout({ path, recipient, networks, providers, ...props }: FormProps) {
  const { form, refusal } = props.sent;
  const currencies = recipient === null ? props.currencies : [recipient.currency];
  const named = (names: readonly string[], none: string) => [
    ['', none] as const,
    ...names.map((name) => [name, words(name)] as const),
  ];
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Payouts' }}
        title="Request a payout"
        lead="The amount and the fees are reserved at once."
      >
        <a class="btn" data-variant="outline" href={props.recipientsPath}>
          <Icon name="contact" /> {recipient === null ? 'Pay a saved recipient' : 'Other recipient'}
        </a>
      </PageHead>
      <RefusalAlert refusal={refusal} />
      <div class="split">
        <Card>
          <form method="post" action={`${path}/new`} class="stack" data-live="quote">
            <input type="hidden" name="key" value={props.formKey} />
            <Field
              name="amount"
              label="Amount"
              hint="The recipient gets this amount; the fees are added."
              placeholder="100.00"
              form={form}
              required
              autocomplete="off"
              maxLength={28}
            />
            <Select
              name="currency"
              label="Currency"
              form={form}
              options={currencies.map((currency) => [currency, currency] as const)}
            />
            {recipient === null ? (
              <>
                <Select
                  name="type"
                  label="Destination"
                  form={form}
                  options={DESTINATION_TYPES.map((type) => [type, words(type)] as const)}
                />
                <DestinationFields form={form} />
                <Select
                  name="network"
                  label="Network"
                  form={form}
                  options={named(networks, 'Not needed')}
                />
              </>
            ) : (
              <To recipient={recipient} path={props.recipientsPath} />
            )}
            <Select
              name="provider"
              label="Provider"
              form={form}
              options={named(providers, 'Chosen by the gateway')}
            />
            <Field
              name="reference"
              label="Reference"
              hint="Your own unique ID: letters, digits, “_” and “-”."
              placeholder="invoice-1001"
              form={form}
              required
              autocomplete="off"
              maxLength={64}
            />
            <Field
              name="description"
              label="Description"
              hint="Optional."
              form={form}
              maxLength={255}
            />
            <ReleaseFields form={form} ofRecipient={recipient !== null} />
            <BeneficiaryFields form={form} />
            <div class="actions">
              <button class="btn">{props.isLive ? 'Review payout' : 'Request payout'}</button>
              <button class="btn" data-variant="outline" name={EDIT} value="yes" formNoValidate>
                Show fees
              </button>
            </div>
          </form>
        </Card>
        <Quote quote={props.quote} />
      </div>
    </>
  );
}

function To({ recipient, path }: { recipient: Recipient; path: string }) {
  const { id, name, network, destinationValue, destinationMemo } = recipient;
  return (
    <>
      <input type="hidden" name="recipient" value={id} />
      <Facts
        rows={[
          ['Recipient', <a href={`${path}/${id}`}>{name}</a>],
          ['Network', words(network ?? 'none')],
          ['Destination', <code class="break">{destinationValue}</code>],
          ['Memo', destinationMemo],
        ]}
      />
    </>
  );
}

const isUsed = ({ errors, values }: FormState, names: readonly string[]) =>
  names.some((name) => errors[name] !== undefined || (values.get(name) ?? '') !== '');

/** The fields of the beneficiary, closed until one of them is used. */
function BeneficiaryFields({ form }: { form: FormState }) {
  return (
    <details class="confirm" open={isUsed(form, ['beneficiary', ...BENEFICIARY])}>
      <summary class="btn" data-variant="outline">
        <Icon name="user" /> Beneficiary …
      </summary>
      <div class="confirm-body stack" data-private>
        <p class="muted">
          Who receives the money, where the travel rule asks for it. It is stored encrypted, and
          sent to the provider and the screening.
        </p>
        <Field
          name="name"
          label="Name"
          form={form}
          autocomplete="off"
          maxLength={BENEFICIARY_TEXT_LENGTH_MAX}
        />
        <Select
          name="kind"
          label="Kind"
          form={form}
          options={[
            ['', 'Choose one'],
            ...BENEFICIARY_KINDS.map((kind) => [kind, words(kind)] as const),
          ]}
        />
        <Field
          name="institution"
          label="Institution"
          hint="Optional. The institution that holds the destination."
          form={form}
          autocomplete="off"
          maxLength={BENEFICIARY_TEXT_LENGTH_MAX}
        />
      </div>
    </details>
  );
}

const RELEASE_FIELDS: readonly string[] = [
  'release',
  'recipient_ready',
  ...RELEASE_TIMES,
  ...RELEASE,
];

/** Closed until one of its fields is used, because most payouts are sent at once. */
function ReleaseFields({ form, ofRecipient }: { form: FormState; ofRecipient: boolean }) {
  return (
    <details class="confirm" open={isUsed(form, RELEASE_FIELDS)}>
      <summary class="btn" data-variant="outline">
        <Icon name="clock" /> Send later …
      </summary>
      <div class="confirm-body stack">
        <p class="muted">
          The funds are reserved now. The payout is sent when all conditions are met, and can be
          cancelled until then.
        </p>
        {form.errors['release'] === undefined ? null : <p>{form.errors['release']}</p>}
        {ofRecipient ? (
          <Choices
            name="recipient_ready"
            label="Recipient"
            form={form}
            options={[['on', 'Wait until this recipient may be paid']]}
          />
        ) : null}
        <Field name="at" label="Not before (UTC)" type="datetime-local" form={form} />
        <Field
          name="after_payment"
          label="After the payment"
          hint="The ID of a payment that has to be completed."
          placeholder="pay_…"
          form={form}
          autocomplete="off"
          maxLength={30}
        />
        <Field
          name="approval_by_key"
          label="Approved by the API key"
          hint="The ID of a key that has to release the payout."
          placeholder="key_…"
          form={form}
          autocomplete="off"
          maxLength={30}
        />
        <Field
          name="expires_at"
          label="Cancelled unless sent by (UTC)"
          hint="Optional. The funds return to the balance then."
          type="datetime-local"
          form={form}
        />
      </div>
    </details>
  );
}

/** The script replaces it; its id is in `data-live`. */
function Quote({ quote }: { quote: FormProps['quote'] }) {
  return (
    <div id="quote" aria-live="polite">
      <Card title="Fees">
        <QuoteBody quote={quote} />
      </Card>
    </div>
  );
}

function QuoteBody({ quote }: { quote: FormProps['quote'] }) {
  if (quote === null) {
    return <p class="muted">Enter the amount and the destination to see the fees.</p>;
  }
  const { result, form, refusal } = quote;
  if (result === null) return <Missing errors={form.errors} refusal={refusal} />;
  const currency = form.values.get('currency') ?? '';
  const money = (amount: string) => <Money amount={amount} currency={currency} />;
  const isReviewed = result.reviewReasons.length > 0;
  return (
    <>
      <Facts
        rows={[
          ['Service fee', money(result.serviceFee)],
          ['Network fee', money(result.networkFee)],
          ['Total debit', money(result.totalDebit)],
          ['Available afterwards', money(result.availableAfter)],
          ['Provider', words(result.provider)],
          ['Network', result.network === null ? null : words(result.network)],
        ]}
      />
      <p>
        <Status value={isReviewed ? 'under_review' : 'approved'} />{' '}
        <b>{isReviewed ? 'Will need approval' : 'Will be sent'}</b>
      </p>
      {isReviewed ? (
        <ReviewReasons reasons={result.reviewReasons} requester={null} />
      ) : (
        <p class="muted">It can be cancelled for a few seconds.</p>
      )}
    </>
  );
}

interface MissingProps {
  errors: FormState['errors'];
  refusal: ApiError | null;
}

/** The reason why there is no quote yet; the first fields are empty while somebody types. */
function Missing({ errors, refusal }: MissingProps) {
  const messages = Object.entries(errors);
  if (messages.length === 0) return <RefusalAlert refusal={refusal} />;
  return (
    <ul class="muted">
      {messages.map(([field, message]) => (
        <li>
          {words(field)}: {message}
        </li>
      ))}
    </ul>
  );
}
