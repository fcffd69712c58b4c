/** The form of a recipient, for a new one and for a change. */
import { DESTINATION_TYPES } from '../../../domain/destination';
import type { Recipient } from '../../../domain/recipient';
import { Alert, Card, PageHead, words } from '../../../kit/pages/components';
import { Field, FormActions, Select } from '../../../kit/pages/forms';
import { filledIn, type Outcome, RefusalAlert } from '../../../kit/pages/creation';
import { DestinationFields } from '../../../kit/pages/destination-fields';

/** Returns the fields in the form of a body of the API. */
export function requestOf(values: URLSearchParams): Record<string, unknown> {
  const filled = filledIn(values, ['type', 'value', 'memo']);
  const isWithoutMemo = values.get('noMemo') === 'on' && filled['memo'] === undefined;
  const tags = (values.get('tags') ?? '').split(/[\s,;]+/).filter((tag) => tag !== '');
  return {
    ...filledIn(values, ['name', 'currency', 'network']),
    destination: isWithoutMemo ? { ...filled, memo: null } : filled,
    ...(tags.length === 0 ? {} : { tags }),
  };
}

export function formOf(recipient: Recipient): URLSearchParams {
  return new URLSearchParams({
    name: recipient.name,
    currency: recipient.currency,
    network: recipient.network ?? '',
    type: recipient.destinationType,
    value: recipient.destinationValue,
    memo: recipient.destinationMemo ?? '',
    noMemo: recipient.destinationMemo === null ? 'on' : '',
    tags: recipient.tags.join(', '),
  });
}

type FormProps = Pick<Outcome<unknown>, 'form' | 'refusal'> & {
  /** The page that the form leads back to. */
  path: string;
  routes: readonly { currency: string; network: string }[];
  /** For a new recipient. */
  formKey?: string;
  recipient?: Recipient;
};

/** The route of a transfer within a provider, which has no network in a request. */
const INTERNAL = 'internal';

export function RecipientForm({ form, refusal, path, routes, formKey, recipient }: FormProps) {
  const names = (values: readonly string[]) => [...new Set(values)].sort();
  const networks = names(routes.map(({ network }) => network)).filter((name) => name !== INTERNAL);
  return (
    <>
      <PageHead
        back={{ href: path, label: recipient?.name ?? 'Recipients' }}
        title={recipient === undefined ? 'Add a recipient' : 'Change the recipient'}
      />
      <RefusalAlert refusal={refusal} />
      {recipient?.mode === 'live' ? (
        <Alert tone="wait" title="A new currency, network or destination waits again." />
      ) : null}
      <Card>
        <form
          method="post"
          action={recipient === undefined ? `${path}/new` : `${path}/edit`}
          class="stack"
        >
          {formKey === undefined ? null : <input type="hidden" name="key" value={formKey} />}
          <Field name="name" label="Name" form={form} required maxLength={100} />
          <Select
            name="currency"
            label="Currency"
            form={form}
            options={names(routes.map(({ currency }) => currency)).map(
              (one) => [one, one] as const,
            )}
          />
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
            options={[
              ['', 'Not needed'] as const,
              ...networks.map((name) => [name, words(name)] as const),
            ]}
          />
          <Field
            name="tags"
            label="Tags"
            hint="Optional. Separated by commas."
            placeholder="payroll, london"
            form={form}
            autocomplete="off"
            maxLength={1000}
          />
          <FormActions
            submit={recipient === undefined ? 'Add recipient' : 'Save recipient'}
            cancel={path}
          />
        </form>
      </Card>
    </>
  );
}
