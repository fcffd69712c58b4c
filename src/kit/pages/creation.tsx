/** What the forms share that create a payment or a payout: idempotency, and the API's refusals. */
import { ApiError, type FieldError } from '../../domain/errors';
import { newId } from '../../platform/lib/new-id';
import { Alert, Facts, words } from './components';
import { type FormState, plainNumber } from './forms';
import type { MerchantVisit } from './merchant-page';

/** Who makes payouts, batches, schedules, refunds and recipients: live ones move real money. */
export const MAKE = { needs: 'pay_test', liveNeeds: 'pay' } as const;

export function mayMake({ mode, may }: MerchantVisit): boolean {
  return may(mode === 'live' ? MAKE.liveNeeds : MAKE.needs);
}

/** The form of the pages' idempotency keys, which differs from those that merchants' servers choose. */
const KEY = /^dashboard-req_[0-9A-Z]{26}$/;

export function newFormKey(): string {
  return `dashboard-${newId('request')}`;
}

/** The idempotency key of the form that was sent: a double click or a reload creates nothing twice. */
export function formKey(values: URLSearchParams): string {
  const key = values.get('key') ?? '';
  return KEY.test(key) ? key : newFormKey();
}

/** For the form after a refusal: a key that was used with other values is no longer of use. */
export function nextFormKey(key: string, refusal: ApiError | null): string {
  return refusal?.code === 'idempotency_key_reused' ? newFormKey() : key;
}

/** Only the fields that were filled in, as in a request to the API. */
export function filledIn(values: URLSearchParams, names: readonly string[]) {
  const filled = names.map((name) => {
    const text = (values.get(name) ?? '').trim();
    return [name, name === 'amount' ? plainNumber(text) : text] as const;
  });
  return Object.fromEntries(filled.filter(([, text]) => text !== ''));
}

export function personOf({ accountId, mode, userId }: MerchantVisit) {
  return { accountId, mode, userId };
}

export interface Outcome<Result> {
  result: Result | null;
  form: FormState;
  refusal: ApiError | null;
}

/** Runs a change; what the API would refuse is shown on the form. */
export async function tryForm<Result>(
  values: URLSearchParams,
  change: () => Promise<Result>,
): Promise<Outcome<Result>> {
  try {
    return { result: await change(), form: { values, errors: {} }, refusal: null };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'internal_error') throw error;
    return { result: null, form: { values, errors: fieldErrors(error) }, refusal: error };
  }
}

/** By the last part of the path: `destination.value` is the field `value`. */
function fieldErrors({ code, details }: ApiError): Record<string, string> {
  if (code !== 'validation_failed') return {};
  const fields = (details?.['fields'] ?? []) as FieldError[];
  return Object.fromEntries(
    fields.map((fault) => [fault.field.split('.').at(-1) ?? fault.field, inFormWords(fault)]),
  );
}

const API_WORDS = /^Send [\w.]+ as (.+)$/s;
const NUMBER = 'Write a number such as 12.50, greater than zero, with at most 8 decimals.';

/** What the API says of a member of JSON, for a person who fills in a field. */
function inFormWords({ field, rule, message }: FieldError): string {
  const [, wanted] = API_WORDS.exec(message) ?? [];
  if (wanted === undefined) return message;
  if (field === 'amount') return NUMBER;
  return rule === 'required' ? 'Fill in this field.' : `Write ${wanted}`;
}

export function RefusalAlert({ refusal }: { refusal: ApiError | null }) {
  if (refusal === null) return null;
  if (refusal.code === 'validation_failed') {
    return <Alert tone="bad" title="Correct the fields that are marked." />;
  }
  if (refusal.code === 'idempotency_key_reused') {
    return (
      <Alert tone="bad" title="This form was already sent with other values">
        <p>Check the list before you send it again: this would create another one.</p>
      </Alert>
    );
  }
  const details = Object.entries(refusal.details ?? {}).flatMap(([name, value]) =>
    typeof value === 'string' ? [[words(name), value] as const] : [],
  );
  return (
    <Alert tone="bad" title={refusal.message}>
      {details.length === 0 ? null : <Facts rows={details} />}
    </Alert>
  );
}
