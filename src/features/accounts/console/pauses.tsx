/** Pauses of payouts: all of them, those of one provider, or those of one account. */
import { REASON_LENGTH_MAX } from '../../../kit/service/checks';
import { MODES } from '../../../domain/mode';
import { PROVIDER_CODES } from '../../../domain/provider-codes';
import { InvalidInput } from '../../../kit/service/refusal';
import type { ConsoleServices } from '../../../shell/console/services';
import { listShownPauses, type PausedPayouts, pausePayouts, resumePayouts } from '../payout-pauses';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import { Card, Empty, PageHead, Table, Time, words } from '../../../kit/pages/components';
import { EMPTY_FORM, Field, fieldErrors, type FormState, Select } from '../../../kit/pages/forms';
import { page, redirect, signInAgain } from '../../../kit/pages/site';
import {
  get,
  type OperatorRoute,
  type OperatorVisit,
  post,
  PREFIX,
} from '../../../kit/pages/operator-page';

const PATH = `${PREFIX}/pauses`;
const NAV = { nav: 'pauses' };

type Pause = Awaited<ReturnType<typeof listShownPauses>>[number];

export function pausePages({ db, wakeHeld }: ConsoleServices): OperatorRoute[] {
  const show = async (visit: OperatorVisit, form: FormState, status: number) => {
    const held = await listShownPauses(db);
    const body = <Pauses held={held} form={form} mayChange={visit.may('administer')} />;
    return page('Pauses', body, { ...NAV, status });
  };
  const change = async (visit: OperatorVisit, work: () => Promise<unknown>) => {
    const { answer, fields } = await fieldErrors(async () => {
      await work();
      return redirect(PATH);
    }, 'target');
    return answer ?? show(visit, { values: visit.form, errors: fields }, 422);
  };
  return [
    get('/pauses', 'read', (visit) => show(visit, EMPTY_FORM, 200)),
    post('/pauses', pausePayouts.access, (visit) =>
      change(visit, async () => {
        const input = readFields(pausePayouts, visit.form);
        return pausePayouts.make(db, visit.withReason(), pausedOf(visit.form), input);
      }),
    ),
    // Lifting a pause lets money go, so it needs a recent sign-in; a pause stops harm and needs none.
    post(
      '/pauses/resume',
      resumePayouts.access,
      (visit) =>
        signInAgain(visit, PATH) ??
        change(visit, async () => {
          const id = visit.form.get('id') ?? '';
          return resumePayouts.make(db, visit.withReason(), { id, wakeHeld }, {});
        }),
    ),
  ];
}

/** @throws InvalidInput */
function pausedOf(form: URLSearchParams): PausedPayouts {
  const scope = form.get('scope') ?? '';
  const mode = MODES.find((one) => one === form.get('mode')) ?? null;
  if (scope === 'global') return { scope, target: '', mode };
  const provider = PROVIDER_CODES.find((code) => code === scope);
  if (provider !== undefined) return { scope: 'provider', target: provider, mode };
  if (scope !== 'account') {
    throw new InvalidInput('scopes', { code: 'none_chosen' });
  }
  return { scope, target: (form.get('target') ?? '').trim(), mode };
}

interface PausesProps {
  held: readonly Pause[];
  form: FormState;
  mayChange: boolean;
}

function Pauses({ held, form, mayChange }: PausesProps) {
  return (
    <>
      <PageHead
        title="Pauses"
        lead="While paused, new payouts are refused and approved ones wait. Submitted payouts continue."
      />
      <Card flush>
        <Table
          caption="Pauses"
          rows={held}
          empty={<Empty icon="circle-play" title="Nothing is paused" />}
          columns={[
            { label: 'Paused', cell: (pause) => <PausedName pause={pause} /> },
            { label: 'Mode', cell: ({ mode }) => (mode === null ? 'Live and test' : words(mode)) },
            { label: 'Reason', cell: ({ reason }) => reason },
            { label: 'By', cell: ({ createdBy }) => createdBy ?? 'Unknown' },
            { label: 'Since', cell: ({ createdAt }) => <Time at={createdAt} seconds /> },
            {
              label: 'Actions',
              right: true,
              cell: (pause) => (mayChange ? <Resume pause={pause} /> : null),
            },
          ]}
        />
      </Card>
      {mayChange ? <NewPause form={form} /> : null}
    </>
  );
}

function PausedName({ pause: { scope, target } }: { pause: Pause }) {
  if (scope === 'global') return <b>All payouts</b>;
  if (scope === 'provider') return <>{words(target)}</>;
  return (
    <>
      Account <a href={`${PREFIX}/accounts/${target}`}>{target}</a>
    </>
  );
}

function Resume({ pause }: { pause: Pause }) {
  const id = `reason-${pause.id}`;
  return (
    <details class="confirm">
      <summary class="btn" data-variant="outline" data-size="sm">
        Resume
      </summary>
      <form method="post" action={`${PATH}/resume`} class="confirm-body">
        <input type="hidden" name="id" value={pause.id} />
        <p>
          Lifts the pause of {pause.createdBy ?? 'an unknown author'}: <b>{pause.reason}</b>
        </p>
        <p class="hint">Payouts that another pause holds stay held.</p>
        <label class="label" for={id}>
          Reason
        </label>
        <input class="input" id={id} name="reason" required maxLength={REASON_LENGTH_MAX} />
        <button class="btn">Lift this pause</button>
      </form>
    </details>
  );
}

function NewPause({ form }: { form: FormState }) {
  return (
    <Card title="Pause payouts" lead="It applies at once. Merchants do not see the reason.">
      <form method="post" action={PATH} class="stack">
        <Select
          name="scope"
          label="Payouts"
          form={form}
          options={[
            ['global', 'All payouts'],
            ...PROVIDER_CODES.map((code) => [code, words(code)] as const),
            ['account', 'One account'],
          ]}
        />
        <Select
          name="mode"
          label="Mode"
          form={form}
          options={[
            ['', 'Live and test'],
            ['live', 'Live only'],
            ['test', 'Test only'],
          ]}
        />
        <Field
          name="target"
          label="Account ID"
          hint="Fill this in only to pause one account."
          form={form}
          maxLength={40}
        />
        <ChangeFields change={pausePayouts} form={form} />
        <div>
          <button class="btn" data-variant="destructive">
            Pause payouts
          </button>
        </div>
      </form>
    </Card>
  );
}
