/** The amounts per currency above which two operators approve a payout, and their proposed changes. */
import { REASON_LENGTH_MAX } from '../../../kit/service/checks';
import type { ConsoleServices } from '../../../shell/console/services';
import {
  confirmThreshold,
  listThresholds,
  proposeThreshold,
  THRESHOLD,
  withdrawThreshold,
} from '../four-eyes-thresholds';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import { Card, Empty, Money, PageHead, Table, Time } from '../../../kit/pages/components';
import { EMPTY_FORM, Field, fieldErrors, type FormState, Select } from '../../../kit/pages/forms';
import { page, redirect, signInAgain } from '../../../kit/pages/site';
import {
  get,
  type OperatorRoute,
  type OperatorVisit,
  post,
  PREFIX,
} from '../../../kit/pages/operator-page';
import { ProposalVerbs, TwoAdmins } from './proposals';

const PATH = `${PREFIX}/four-eyes`;

type Setting = Awaited<ReturnType<typeof listThresholds>>[number];

export function fourEyesPages({ db, proposals }: ConsoleServices): OperatorRoute[] {
  const show = async (visit: OperatorVisit, form: FormState, status = 200) => {
    const [settings, hasSecondAdmin] = await Promise.all([
      listThresholds(db),
      proposals.hasSecondAdmin(),
    ]);
    const mayChange = visit.may('administer');
    const body = (
      <>
        <PageHead
          back={{ href: `${PREFIX}/queue`, label: 'Review queue' }}
          title="Two approvals"
          lead="A payout above the amount of its currency needs two different operators."
        />
        <Thresholds settings={settings} mayChange={mayChange} me={visit.session.email} />
        {mayChange ? (
          <Propose settings={settings} form={form} hasSecondAdmin={hasSecondAdmin} />
        ) : null}
      </>
    );
    return page('Two approvals', body, { nav: 'queue', status });
  };
  const changeOf = ({ form }: OperatorVisit) => ({
    currency: form.get('currency') ?? '',
    ...readFields(THRESHOLD, form),
  });
  return [
    get('/four-eyes', 'read', (visit) =>
      show(visit, { ...EMPTY_FORM, values: visit.draft ?? visit.query }),
    ),
    post('/four-eyes', 'administer', async (visit) => {
      const again = signInAgain(visit);
      if (again !== null) return again;
      const { answer, fields } = await fieldErrors(async () => {
        await proposeThreshold(db, visit.withReason(), changeOf(visit));
        return redirect(PATH);
      });
      return answer ?? show(visit, { values: visit.form, errors: fields }, 422);
    }),
    ...(['confirm', 'withdraw'] as const).map((verb): OperatorRoute =>
      post(`/four-eyes/${verb}`, 'administer', async (visit) => {
        const again = signInAgain(visit, PATH);
        if (again !== null) return again;
        const change = changeOf(visit);
        if (verb === 'confirm') await confirmThreshold(db, visit.by, change);
        else await withdrawThreshold(db, visit.by, change.currency);
        return redirect(PATH);
      }),
    ),
  ];
}

interface ThresholdsProps {
  settings: readonly Setting[];
  mayChange: boolean;
  me: string;
}

function Thresholds({ settings, mayChange, me }: ThresholdsProps) {
  return (
    <Card flush>
      <Table
        caption="Amounts that need two approvals"
        rows={settings}
        empty={<Empty icon="users" title="No supported currencies" />}
        columns={[
          { label: 'Currency', cell: ({ currency }) => currency },
          {
            label: 'Two approvals above',
            right: true,
            cell: ({ threshold, currency }) => <Above amount={threshold} currency={currency} />,
          },
          {
            label: 'Proposed',
            cell: (setting) => <Proposed {...setting} />,
          },
          {
            label: 'Actions',
            right: true,
            cell: (setting) => (mayChange ? <Verbs {...setting} me={me} /> : null),
          },
        ]}
      />
    </Card>
  );
}

function Above({ amount, currency }: { amount: string | null; currency: string }) {
  return amount === null ? (
    <span class="muted">No threshold</span>
  ) : (
    <Money amount={amount} currency={currency} />
  );
}

function Proposed({ proposal, currency }: Setting) {
  if (proposal === null) return null;
  const { amount, proposedBy, reason, createdAt } = proposal;
  return (
    <>
      <Above amount={amount} currency={currency} />
      <small class="break">
        By {proposedBy}, <Time at={createdAt} />
      </small>
      {reason === null ? null : <small class="break">{reason}</small>}
    </>
  );
}

function Verbs({ proposal, currency, me }: Setting & { me: string }) {
  if (proposal === null) return null;
  return (
    <ProposalVerbs
      proposedBy={proposal.proposedBy}
      me={me}
      approve={`${PATH}/confirm`}
      reject={`${PATH}/withdraw`}
      hidden={{ currency, above: proposal.amount ?? 'none' }}
    />
  );
}

interface ProposeProps {
  settings: readonly Setting[];
  form: FormState;
  hasSecondAdmin: boolean;
}

function Propose({ settings, form, hasSecondAdmin }: ProposeProps) {
  return (
    <Card
      title="Propose a change"
      lead="It replaces an earlier proposal for the currency and expires after seven days."
    >
      {hasSecondAdmin ? null : (
        <TwoAdmins hasSecondAdmin={false} commands={['four-eyes confirm --help']} />
      )}
      <form method="post" action={PATH} class="stack">
        <Select
          name="currency"
          label="Currency"
          form={form}
          options={settings.map(({ currency }) => [currency, currency] as const)}
        />
        <ChangeFields change={THRESHOLD} form={form} />
        <Field
          name="reason"
          label="Reason"
          hint="Recorded in the audit log."
          form={form}
          required
          maxLength={REASON_LENGTH_MAX}
          autocomplete="off"
        />
        <div>
          <button class="btn">Propose</button>
        </div>
      </form>
    </Card>
  );
}
