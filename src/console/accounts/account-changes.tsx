/**
 * The changes of an account: each is a form with a reason. Some apply at once; limits, fees and review are
 * proposed, and another admin approves them.
 */
import type { ComponentChildren } from 'preact';
import { PROVIDER_CODES } from '../../domain/provider-codes';
import { InvalidInput } from '../../services/admin/refusal';
import { setFee } from '../../services/fees';
import type { ConsoleServices } from '../../services/console';
import type { AccountDetail } from '../../services/console-accounts';
import type { AccountWish } from '../../services/policy-proposals';
import { ChangeFields, readFields } from '../../web/change-form';
import { Card, PageHead } from '../../web/components';
import {
  EMPTY_FORM,
  Field,
  fieldErrors,
  FormActions,
  type FormState,
  Select,
} from '../../web/forms';
import { page, redirect, signInAgain } from '../../web/site';
import { TwoAdmins } from '../proposals/proposals';
import {
  type OperatorRoute,
  type OperatorVisit,
  PREFIX,
  REASON_LENGTH_MAX,
} from '../operator-page';

const DIRECTIONS = ['payin', 'payout'] as const;

type AccountChange = {
  title: string;
  effect: string;
  submit: string;
} & (
  | { apply: 'verify' | 'suspend' | 'reinstate' }
  /** The change needs a recent sign-in, and another admin approves it. */
  | {
      /** The noun of the admin command that does the same. */
      command: string;
      fields: (detail: AccountDetail, form: FormState) => ComponentChildren;
      wish: (form: URLSearchParams) => AccountWish;
    }
);

const CHANGES: Record<string, AccountChange> = {
  verify: {
    title: 'Verify account',
    effect: 'The account can have live keys from now on.',
    submit: 'Verify account',
    apply: 'verify',
  },
  suspend: {
    title: 'Suspend account',
    effect:
      'Its keys get 403 from the next request on. Payouts in progress continue; a pause of the account holds them too.',
    submit: 'Suspend account',
    apply: 'suspend',
  },
  reinstate: {
    title: 'Reinstate account',
    effect: 'Its keys work again at once.',
    submit: 'Reinstate account',
    apply: 'reinstate',
  },
  review: {
    title: 'Change review',
    effect: 'It applies to payouts that are created after the approval.',
    submit: 'Propose',
    command: 'review set',
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
    wish: (form) => ({
      kind: 'review',
      reviewAll: form.get('reviewAll') === 'on',
      rehearse: form.get('rehearse') === 'on',
    }),
  },
  limits: {
    title: 'Change limits',
    effect: 'An amount, “none” for no limit, or “default” to follow the default.',
    submit: 'Propose',
    command: 'limits set',
    fields: Limits,
    wish: (form) => ({
      kind: 'limits',
      currency: textIn(form, 'currency').toUpperCase(),
      maxima: {
        perTransactionMax: textIn(form, 'perTransaction'),
        dailyMax: textIn(form, 'daily'),
        autoApproveMax: textIn(form, 'autoApproveMax'),
        autoApproveDailyMax: textIn(form, 'autoApproveDailyMax'),
      },
    }),
  },
  fees: {
    title: 'Set a fee',
    effect:
      'The rule starts when it is approved and takes the place of the one in force. Existing objects keep their fee.',
    submit: 'Propose',
    command: 'fees set',
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
        <ChangeFields change={setFee} form={form} />
      </>
    ),
    wish: (form) => ({
      kind: 'fee',
      scope: feeScope([
        textIn(form, 'direction'),
        textIn(form, 'provider'),
        textIn(form, 'currency').toUpperCase(),
      ]),
      terms: readFields(setFee, form),
    }),
  },
  'fees-end': {
    title: 'End the account’s own fee',
    effect: 'The default applies once it is approved.',
    submit: 'Propose',
    command: 'fees end',
    fields: (_, form) => (
      <>
        <input type="hidden" name="rule" value={form.values.get('rule') ?? ''} />
        <p>{(form.values.get('rule') ?? '').split('~').join(', ')}</p>
      </>
    ),
    wish: (form) => ({ kind: 'fee_end', scope: feeScope(textIn(form, 'rule').split('~')) }),
  },
};

function textIn(form: URLSearchParams, name: string): string {
  return form.get(name)?.trim() ?? '';
}

/** @throws AdminRefusal, InvalidInput */
async function makeAccountChange(
  { accounts, proposals }: ConsoleServices,
  change: AccountChange,
  visit: OperatorVisit,
): Promise<unknown> {
  const by = visit.withReason();
  const id = visit.params['id'] ?? '';
  if ('wish' in change) return proposals.propose(by, id, change.wish(visit.form));
  switch (change.apply) {
    case 'verify':
      return accounts.verify(by, id);
    case 'suspend':
      return accounts.suspend(by, id);
    case 'reinstate':
      return accounts.reinstate(by, id);
  }
}

export function accountChangePages(services: ConsoleServices): OperatorRoute[] {
  return Object.entries(CHANGES).flatMap(([name, change]) => {
    const route = { path: `/accounts/:id/${name}`, needs: 'administer' } as const;
    const show = async (visit: OperatorVisit, form: FormState, status: number) => {
      const detail = await services.accounts.get(visit.params['id'] ?? '');
      const body = (
        <>
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
          const again = 'wish' in change ? signInAgain(visit) : null;
          return again ?? show(visit, { ...EMPTY_FORM, values: visit.draft ?? visit.query }, 200);
        },
      },
      {
        ...route,
        method: 'post',
        run: async (visit) => {
          const again = 'wish' in change ? signInAgain(visit) : null;
          if (again !== null) return again;
          const id = visit.params['id'] ?? '';
          const { answer, fields } = await fieldErrors(async () => {
            await makeAccountChange(services, change, visit);
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
      {'wish' in change ? (
        <TwoAdmins
          hasSecondAdmin={detail.hasSecondAdmin}
          commands={[`${change.command} --account ${account.id} --help`]}
        />
      ) : null}
      <Card>
        <form method="post" action={`${path}/${name}`} class="stack">
          {'fields' in change ? change.fields(detail, form) : null}
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

/** A form that was not sent shows the values in force. */
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
    throw new InvalidInput('currency', { code: 'none_chosen' });
  }
  return { direction: way, provider: code, currency };
}
