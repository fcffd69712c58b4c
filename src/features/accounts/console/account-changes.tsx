/**
 * The changes of an account: each is a form with a reason. Some apply at once; limits, fees and review are
 * proposed, and another admin approves them.
 */
import { REASON_LENGTH_MAX } from '../../../kit/service/checks';
import type { ComponentChildren } from 'preact';
import { PROVIDER_CODES } from '../../../domain/provider-codes';
import { type AccountDetail, readAccountDetail } from '../account-detail';
import { reinstateAccount, suspendAccount, verifyAccount } from '../accounts';
import { InvalidInput } from '../../../kit/service/refusal';
import type { ConsoleServices } from '../../../shell/console/services';
import { setFee } from '../fees';
import { setLimits } from '../limits';
import type { AccountWish } from '../policy-proposals';
import { setReviewMaxima, switchReview } from '../review';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import { Card, PageHead } from '../../../kit/pages/components';
import { operatorForm } from '../../../kit/pages/form-pages';
import { Field, FormActions, type FormState, Select } from '../../../kit/pages/forms';
import { page, redirect } from '../../../kit/pages/site';
import { TwoAdmins } from './proposals';
import { type OperatorRoute, type OperatorVisit, PREFIX } from '../../../kit/pages/operator-page';

const DIRECTIONS = ['payin', 'payout'] as const;

interface AccountChange {
  title: string;
  effect: string;
}

type ChangeAtOnce = typeof verifyAccount;

/** A change that needs a recent sign-in and the approval of another admin. */
interface ProposedChange extends AccountChange {
  /** The verb of the admin command that does the same. */
  command: string;
  fields: (detail: AccountDetail, form: FormState) => ComponentChildren;
  wish: (form: URLSearchParams) => AccountWish;
}

const MAXIMA = { fields: { ...setLimits.fields, ...setReviewMaxima.fields } };

const CHANGES: Record<string, ChangeAtOnce | ProposedChange> = {
  verify: verifyAccount,
  suspend: suspendAccount,
  reinstate: reinstateAccount,
  review: {
    title: 'Change review',
    effect: 'It applies to payouts that are created after the approval.',
    command: 'review set',
    fields: ({ review }, form) => {
      const inForce = {
        reviewAll: review.reviewAll === true ? 'on' : 'off',
        rehearse: review.rehearse === true ? 'on' : 'off',
      };
      return <ChangeFields change={switchReview} form={preset(form, inForce)} />;
    },
    wish: (form) => {
      const { reviewAll, rehearse } = readFields(switchReview, form);
      return { kind: 'review', reviewAll: reviewAll === 'on', rehearse: rehearse === 'on' };
    },
  },
  limits: {
    title: 'Change limits',
    effect: 'The limits of one currency apply to payouts that are created after the approval.',
    command: 'limits set',
    fields: Limits,
    wish: (form) => {
      const { perTransaction, daily, ...maxima } = readFields(MAXIMA, form);
      return {
        kind: 'limits',
        currency: textIn(form, 'currency').toUpperCase(),
        maxima: { perTransactionMax: perTransaction, dailyMax: daily, ...maxima },
      };
    },
  },
  fees: {
    title: 'Set a fee',
    effect:
      'The rule starts when it is approved and takes the place of the one in force. Existing objects keep their fee.',
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
  { db, proposals }: ConsoleServices,
  change: ChangeAtOnce | ProposedChange,
  visit: OperatorVisit,
): Promise<unknown> {
  const by = visit.withReason();
  const { id } = visit;
  if ('wish' in change) return proposals.propose(by, id, change.wish(visit.form));
  return change.make(db, by, { id }, {});
}

export function accountChangePages(services: ConsoleServices): OperatorRoute[] {
  return Object.entries(CHANGES).flatMap(([name, change]) =>
    operatorForm({
      path: `/accounts/:id/${name}`,
      needs: 'administer',
      ...('wish' in change ? { recent: true } : {}),
      values: ({ query }) => query,
      show: async (visit, form) => {
        const detail = await readAccountDetail(services.db, visit.id);
        const body = <ChangePage name={name} change={change} detail={detail} form={form} />;
        return page(change.title, body, { nav: 'accounts' });
      },
      send: async (visit) => {
        await makeAccountChange(services, change, visit);
        return redirect(`${PREFIX}/accounts/${visit.id}`);
      },
    }),
  );
}

interface ChangePageProps {
  name: string;
  change: ChangeAtOnce | ProposedChange;
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
          {'wish' in change ? change.fields(detail, form) : null}
          <Reason form={form} />
          <FormActions submit={'wish' in change ? 'Propose' : change.title} cancel={path} />
        </form>
      </Card>
    </>
  );
}

/** Why the operator changes it. */
export function Reason({ form }: { form: FormState }) {
  return (
    <Field
      name="reason"
      label="Reason"
      hint="Recorded in the audit log. Merchants do not see it."
      form={form}
      required
      maxLength={REASON_LENGTH_MAX}
      autocomplete="off"
    />
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
      <ChangeFields change={MAXIMA} form={filled} />
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
