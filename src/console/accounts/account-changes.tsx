/** The changes of an account: each is a form with a reason, and one entry of the audit log. */
import type { ComponentChildren } from 'preact';
import { PROVIDER_CODES } from '../../domain/provider-codes';
import { InvalidInput } from '../../services/admin/refusal';
import type { AccountDetail, ConsoleAccounts } from '../../services/console-accounts';
import { Card, PageHead, SignedInAgain } from '../../web/components';
import { EMPTY_FORM, Field, FormActions, type FormState, Select } from '../../web/forms';
import { fieldErrors } from '../../web/refusals';
import { page, redirect, signInAgain } from '../../web/site';
import {
  type OperatorRoute,
  type OperatorVisit,
  PREFIX,
  REASON_LENGTH_MAX,
} from '../operator-page';

const DIRECTIONS = ['payin', 'payout'] as const;

interface AccountChange {
  title: string;
  effect: string;
  submit: string;
  /** Only after a recent sign-in. */
  recent?: true;
  fields?: (detail: AccountDetail, form: FormState) => ComponentChildren;
  run: (accounts: ConsoleAccounts, visit: OperatorVisit, id: string) => Promise<unknown>;
}

const CHANGES: Record<string, AccountChange> = {
  verify: {
    title: 'Verify account',
    effect: 'The account can have live keys from now on.',
    submit: 'Verify account',
    run: (accounts, visit, id) => accounts.verify(visit.withReason(), id),
  },
  suspend: {
    title: 'Suspend account',
    effect:
      'Its keys get 403 from the next request on. Payouts in progress continue; a pause of the account holds them too.',
    submit: 'Suspend account',
    run: (accounts, visit, id) => accounts.suspend(visit.withReason(), id),
  },
  reinstate: {
    title: 'Reinstate account',
    effect: 'Its keys work again at once.',
    submit: 'Reinstate account',
    run: (accounts, visit, id) => accounts.reinstate(visit.withReason(), id),
  },
  review: {
    title: 'Change review',
    effect: 'It applies to payouts that are created from now on.',
    submit: 'Save review',
    recent: true,
    fields: ({ review }, form) => (
      <>
        <Select
          name="reviewAll"
          label="Live payouts"
          form={preset(form, { reviewAll: review.reviewAll === true ? 'on' : 'off' })}
          options={[
            ['on', 'All wait for review'],
            ['off', 'By the rules'],
          ]}
        />
        <Select
          name="rehearse"
          label="Test payouts"
          form={preset(form, { rehearse: review.rehearse === true ? 'on' : 'off' })}
          options={[
            ['off', 'No review'],
            ['on', 'All wait for review'],
          ]}
        />
      </>
    ),
    run: (accounts, visit, id) =>
      accounts.setReview(visit.withReason(), id, {
        reviewAll: visit.form.get('reviewAll') === 'on',
        rehearse: visit.form.get('rehearse') === 'on',
        maxima: null,
      }),
  },
  limits: {
    title: 'Change limits',
    effect: 'An amount, “none” for no limit, or “default” to follow the default.',
    submit: 'Save limits',
    recent: true,
    fields: Limits,
    run: async (accounts, visit, id) => {
      const { form } = visit;
      const by = visit.withReason();
      const currency = form.get('currency') ?? '';
      const text = (name: string) => form.get(name)?.trim() ?? '';
      await accounts.setPolicy(by, id, currency, {
        perTransaction: text('perTransaction'),
        daily: text('daily'),
        autoApproveMax: text('autoApproveMax'),
        autoApproveDailyMax: text('autoApproveDailyMax'),
      });
    },
  },
  fees: {
    title: 'Set a fee',
    effect:
      'The rule starts now and takes the place of the one in force. Existing objects keep their fee.',
    submit: 'Set fee',
    recent: true,
    fields: (_, form) => (
      <>
        <Select
          name="direction"
          label="Direction"
          form={form}
          options={[
            ['payin', 'Payments'],
            ['payout', 'Payouts'],
          ]}
        />
        <Select
          name="provider"
          label="Provider"
          form={form}
          options={PROVIDER_CODES.map((code) => [code, code] as const)}
        />
        <Field name="currency" label="Currency" form={form} required maxLength={10} />
        <Field name="percentage" label="Percentage" form={form} required maxLength={8} />
        <Field name="fixed" label="Fixed part" hint="Empty: none." form={form} maxLength={40} />
        <Field name="minFee" label="Minimum fee" hint="Empty: none." form={form} maxLength={40} />
        <Field name="maxFee" label="Maximum fee" hint="Empty: none." form={form} maxLength={40} />
      </>
    ),
    run: (accounts, visit, id) => {
      const text = (name: string) => visit.form.get(name)?.trim() ?? '';
      const optional = (name: string) => (text(name) === '' ? undefined : text(name));
      const rule = [text('direction'), text('provider'), text('currency').toUpperCase()];
      return accounts.setFee(visit.withReason(), id, feeScope(rule), {
        percentage: text('percentage'),
        fixed: optional('fixed'),
        minFee: optional('minFee'),
        maxFee: optional('maxFee'),
      });
    },
  },
  'fees-end': {
    title: 'End the account’s own fee',
    effect: 'From now on the default applies.',
    submit: 'End fee',
    recent: true,
    fields: (_, form) => (
      <>
        <input type="hidden" name="rule" value={form.values.get('rule') ?? ''} />
        <p>{(form.values.get('rule') ?? '').split('~').join(', ')}</p>
      </>
    ),
    run: (accounts, visit, id) => {
      const rule = (visit.form.get('rule') ?? '').split('~');
      return accounts.endFee(visit.withReason(), id, feeScope(rule));
    },
  },
};

export function accountChangePages(accounts: ConsoleAccounts): OperatorRoute[] {
  return Object.entries(CHANGES).flatMap(([name, change]) => {
    const route = { path: `/accounts/:id/${name}`, needs: 'administer' } as const;
    const show = async (visit: OperatorVisit, form: FormState, status: number) => {
      const detail = await accounts.get(visit.params['id'] ?? '');
      const body = (
        <>
          {visit.draft === null ? null : <SignedInAgain />}
          <ChangePage name={name} change={change} detail={detail} form={form} />
        </>
      );
      return page(change.title, body, { nav: 'accounts', status });
    };
    return [
      {
        ...route,
        method: 'get',
        run: (visit) => {
          const again = change.recent === true ? signInAgain(visit) : null;
          return again ?? show(visit, { ...EMPTY_FORM, values: visit.draft ?? visit.query }, 200);
        },
      },
      {
        ...route,
        method: 'post',
        run: async (visit) => {
          const again = change.recent === true ? signInAgain(visit) : null;
          if (again !== null) return again;
          const id = visit.params['id'] ?? '';
          const { answer, fields } = await fieldErrors(async () => {
            await change.run(accounts, visit, id);
            return redirect(`${PREFIX}/accounts/${id}`);
          });
          return answer ?? show(visit, { values: visit.form, errors: fields }, 422);
        },
      },
    ] satisfies OperatorRoute[];
  });
}

interface ChangePageProps {
  name: string;
  change: AccountChange;
  detail: AccountDetail;
  form: FormState;
}

function ChangePage({ name, change, detail, form }: ChangePageProps) {
  const { account } = detail;
  const path = `${PREFIX}/accounts/${account.id}`;
  return (
    <>
      <PageHead
        back={{ href: path, label: account.name }}
        title={change.title}
        lead={change.effect}
      />
      <Card>
        <form method="post" action={`${path}/${name}`} class="stack">
          {change.fields?.(detail, form)}
          <Field
            name="reason"
            label="Reason"
            hint="It is kept in the audit log. Merchants do not see it."
            form={form}
            required
            maxLength={REASON_LENGTH_MAX}
            autocomplete="off"
          />
          <FormActions submit={change.submit} cancel={path} />
        </form>
      </Card>
    </>
  );
}

/** What is in force, unless the form was sent. */
function preset(form: FormState, values: Record<string, string>): FormState {
  const all = new URLSearchParams({ ...values, ...Object.fromEntries(form.values) });
  return { ...form, values: all };
}

function Limits({ limits, review }: AccountDetail, form: FormState) {
  const currency = form.values.get('currency') ?? '';
  const own = limits.find((one) => one.currency === currency);
  const maxima = review.maxima.find((one) => one.currency === currency);
  const textOf = (maximum: { value: string | null; from: string } | undefined) =>
    maximum === undefined || maximum.from === 'default' ? 'default' : (maximum.value ?? 'none');
  const filled = preset(form, {
    perTransaction: textOf(own?.perTransaction),
    daily: textOf(own?.daily),
    autoApproveMax: textOf(maxima?.autoApprove),
    autoApproveDailyMax: textOf(maxima?.autoApproveDaily),
  });
  return (
    <>
      <Field name="currency" label="Currency" form={filled} required maxLength={10} />
      <Field name="perTransaction" label="Per payout" form={filled} required maxLength={40} />
      <Field name="daily" label="Per 24 hours" form={filled} required maxLength={40} />
      <Field
        name="autoApproveMax"
        label="Without review, per payout"
        form={filled}
        required
        maxLength={40}
      />
      <Field
        name="autoApproveDailyMax"
        label="Without review, per 24 hours"
        form={filled}
        required
        maxLength={40}
      />
    </>
  );
}

/** @throws InvalidInput */
function feeScope([direction = '', provider = '', currency = '']: readonly string[]) {
  const way = DIRECTIONS.find((one) => one === direction);
  const code = PROVIDER_CODES.find((one) => one === provider);
  if (way === undefined || code === undefined) {
    throw new InvalidInput('currency', { code: 'unknown_name', value: provider, known: [] });
  }
  return { direction: way, provider: code, currency };
}
