/** Create a schedule from a table: every faulty row, the totals and the next runs first, then the schedule. */
import { SCHEDULE_REFERENCE_LENGTH_MAX, SCHEDULE_ROWS_MAX } from '../../../domain/payout-schedule';
import { minuteOf } from '../../../platform/lib/local-time';
import { readPayoutScheduleHead } from '../payout-schedules-contract';
import { createdId } from '../../../shell/dashboard/money';
import type { DashboardServices } from '../../../shell/dashboard/services';
import type { ScheduleCheck } from '../payout-schedules';
import { Alert, Card, PageHead } from '../../../kit/pages/components';
import { Field, type FormState, Select, SentAgain, TableField } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { page, redirect } from '../../../kit/pages/site';
import { Faults, Totals, trySheet } from '../../payout-batches/dashboard/new-batch';
import { readScheduleSheet, SCHEDULE_COLUMNS } from '../../payout-batches/dashboard/sheet';
import { writeSheet } from '../../../kit/pages/sheet';
import {
  filledIn,
  formKey,
  MAKE,
  nextFormKey,
  type Outcome,
  personOf,
  RefusalAlert,
} from '../../../kit/pages/creation';
import type { MerchantRoute, MerchantVisit } from '../../../kit/pages/merchant-page';
import { countText, NextRuns, timesText, UNIT_SECONDS } from '../pages/schedule-times';

const NAV = { nav: 'schedules' };
/** The table of 500 rows is larger than other forms. */
const LARGE = { takesLargeForm: true } as const;

type Input = Awaited<ReturnType<typeof inputOf>>;
type Checked = ScheduleCheck & { input: Input };

export function newSchedulePages({
  money,
  recipients,
  bookkeeping,
}: DashboardServices): MerchantRoute[] {
  const check = async (visit: MerchantVisit, zone: string): Promise<Checked> => {
    const input = await inputOf(visit.form, zone);
    const caller = await money.allowedCaller(personOf(visit));
    return { ...(await money.payoutSchedules.check(caller, input)), input };
  };
  return [
    {
      method: 'get',
      path: '/schedules/new',
      ...MAKE,
      run: async (visit) => {
        const { timeZone } = await bookkeeping(visit);
        const values = visit.draft ?? new URLSearchParams({ time_zone: timeZone });
        const recipientId = visit.query.get('recipient');
        if (recipientId !== null && visit.draft === null) {
          const { id, currency } = await recipients.find(visit, recipientId);
          const columns = ['reference', 'amount', 'currency', 'recipient'];
          values.set('table', writeSheet([columns, ['payment', '', currency, id]]));
        }
        const form = { values, errors: {} };
        const shown = { path: `${visit.base}/schedules`, form, zone: timeZone };
        return page('Create a schedule', <NewSchedule {...shown} refusal={null} />, NAV);
      },
    },
    {
      method: 'post',
      path: '/schedules/new',
      ...MAKE,
      ...LARGE,
      cost: 'export',
      run: async (visit) => {
        const path = `${visit.base}/schedules`;
        const { timeZone: zone } = await bookkeeping(visit);
        const sent = await trySheet(visit.form, () => check(visit, zone));
        if (sent.result === null) {
          const body = <NewSchedule path={path} zone={zone} {...sent} />;
          return page('Create a schedule', body, { ...NAV, status: sent.refusal?.status ?? 422 });
        }
        const shown = { path, zone, values: visit.form, check: sent.result };
        return page('Check the schedule', <Preview {...shown} refusal={null} />, NAV);
      },
    },
    {
      method: 'post',
      path: '/schedules/create',
      ...MAKE,
      ...LARGE,
      liveRecent: ({ base }) => `${base}/schedules/new`,
      run: async (visit) => {
        const path = `${visit.base}/schedules`;
        const { form } = visit;
        const { timeZone: zone } = await bookkeeping(visit);
        const idempotencyKey = formKey(form);
        const sent = await trySheet(form, async () => {
          const caller = await money.allowedCaller(personOf(visit));
          const input = { ...(await inputOf(form, zone)), idempotencyKey };
          return createdId(() => money.payoutSchedules.create(caller, input));
        });
        if (sent.result !== null) return redirect(`${path}/${sent.result}`);
        form.set('key', nextFormKey(idempotencyKey, sent.refusal));
        const checked = await trySheet(form, () => check(visit, zone));
        const shown = { path, zone };
        const body =
          checked.result === null ? (
            <NewSchedule {...shown} {...checked} />
          ) : (
            <Preview {...shown} values={form} check={checked.result} refusal={sent.refusal} />
          );
        return page('Check the schedule', body, { ...NAV, status: sent.refusal?.status ?? 422 });
      },
    },
  ];
}

/** @throws ApiError, SheetFault */
async function inputOf(form: URLSearchParams, zone: string) {
  const { interval, start, end, time_zone, ...head } = filledIn(form, [
    'reference',
    'description',
    'cron',
    'time_zone',
    'interval',
    'start',
    'end',
  ]);
  const request = {
    ...head,
    ...(head['cron'] === undefined ? {} : { time_zone }),
    ...(interval === undefined ? {} : { interval_seconds: secondsOf(interval, form.get('unit')) }),
    ...(start === undefined ? {} : { start_at: momentOf(start, zone) }),
    ...(end === undefined ? {} : { end_at: momentOf(end, zone) }),
  };
  const { rows } = await readScheduleSheet(form.get('table') ?? '');
  return { ...readPayoutScheduleHead(request), rows };
}

/** A text that is no number is refused as it was written. */
function secondsOf(interval: string, unit: string | null): number | string {
  const seconds = Object.entries(UNIT_SECONDS).find(([name]) => name === unit)?.[1];
  if (seconds === undefined || !/^\d{1,6}$/.test(interval)) return interval;
  return Number.parseInt(interval, 10) * seconds;
}

function momentOf(text: string, zone: string): string {
  return minuteOf(text, zone)?.toISOString() ?? text;
}

/** The fields of the API that the form has under other names. */
const FORM_NAMES: Readonly<Record<string, string>> = {
  interval_seconds: 'interval',
  start_at: 'start',
  end_at: 'end',
};

function withFormNames({ values, errors }: FormState): FormState {
  const named = Object.entries(errors).map(([name, text]) => [FORM_NAMES[name] ?? name, text]);
  return { values, errors: Object.fromEntries(named) as Record<string, string> };
}

type NewScheduleProps = Pick<Outcome<unknown>, 'form' | 'refusal'> & { path: string; zone: string };

function NewSchedule({ path, zone, form: sent, refusal }: NewScheduleProps) {
  const form = withFormNames(sent);
  const batches = path.replace(/schedules$/, 'batches');
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Schedules' }}
        title="Create a schedule"
        lead="The same payouts at each of its times. You see every row, the totals and the next runs before it is created."
      >
        <a class="btn" data-variant="outline" href={`${batches}/template.csv`}>
          <Icon name="download" /> Template
        </a>
      </PageHead>
      <RefusalAlert refusal={refusal} />
      <Card>
        <form method="post" action={`${path}/new`} class="stack">
          <Field
            name="reference"
            label="Reference"
            hint="Your own unique ID of the schedule: letters, digits, “_” and “-”."
            placeholder="rent"
            form={form}
            required
            autocomplete="off"
            maxLength={SCHEDULE_REFERENCE_LENGTH_MAX}
          />
          <Field
            name="description"
            label="Description"
            hint="Optional."
            form={form}
            maxLength={255}
          />
          <TimeFields form={form} zone={zone} />
          <TableField
            label="Payouts of each run"
            hint={`At most ${SCHEDULE_ROWS_MAX} rows below the headings ${SCHEDULE_COLUMNS.join(', ')}. Send a recipient or a destination. Each run appends its time to the references.`}
            form={form}
            value={writeSheet([['reference', 'amount', 'currency', 'destination', 'network']])}
          />
          <div class="actions">
            <button class="btn">Check the schedule</button>
          </div>
        </form>
      </Card>
    </>
  );
}

function TimeFields({ form, zone }: { form: FormState; zone: string }) {
  return (
    <>
      <Field
        name="cron"
        label="Times, as a cron expression"
        hint="Minute, hour, day of month, month, day of week. “0 9 1 * *” is 09:00 on the first of each month, “30 8 * * MON-FRI” is 08:30 on weekdays."
        placeholder="0 9 1 * *"
        form={form}
        autocomplete="off"
        maxLength={100}
      />
      <Field
        name="time_zone"
        label="Time zone of the cron expression"
        form={form}
        autocomplete="off"
        maxLength={64}
      />
      <Field
        name="interval"
        label="Or an interval"
        hint="A whole number, instead of a cron expression."
        form={form}
        autocomplete="off"
        maxLength={6}
      />
      <Select
        name="unit"
        label="Unit of the interval"
        form={form}
        options={Object.keys(UNIT_SECONDS)
          .reverse()
          .map((unit) => [unit, unit] as const)}
      />
      <Field
        name="start"
        label={`Not before (${zone})`}
        hint="Optional. Intervals are counted from this time, or from now if it is empty."
        type="datetime-local"
        form={form}
      />
      <Field
        name="end"
        label={`Not after (${zone})`}
        hint="Optional. Without it, the schedule goes on until you end it."
        type="datetime-local"
        form={form}
      />
    </>
  );
}

interface PreviewProps {
  path: string;
  zone: string;
  values: URLSearchParams;
  check: Checked;
  refusal: Outcome<unknown>['refusal'];
}

function Preview({ path, zone, values, check, refusal }: PreviewProps) {
  const { faults, totals, shortage, needsSecondPerson, input } = check;
  const isSound = faults.length === 0;
  return (
    <>
      <PageHead
        back={{ href: `${path}/new`, label: 'Create a schedule' }}
        title={`${countText(input.rows.length)} at each time`}
        lead={`${input.reference}: ${timesText(input)}`}
      />
      <RefusalAlert refusal={refusal?.code === 'rows_refused' ? null : refusal} />
      {isSound ? null : (
        <Alert
          tone="bad"
          title={`${faults.length} of ${input.rows.length} rows must be corrected.`}
        />
      )}
      {shortage?.code === 'insufficient_balance' ? (
        <Alert tone="wait" title="Your balance would not cover a run now.">
          <p>
            A run needs {shortage.details.required} {shortage.details.currency}, and{' '}
            {shortage.details.available} {shortage.details.currency} is available. A run that is not
            covered in full pays nothing.
          </p>
        </Alert>
      ) : null}
      {needsSecondPerson ? (
        <Alert tone="wait" title="Another person has to approve the schedule.">
          <p>Until then its runs pay nothing.</p>
        </Alert>
      ) : null}
      <Faults faults={faults} more="Correct them to see the others." />
      <div class="grid">
        <Card title="Next runs">
          <NextRuns times={check.nextTimes} zone={zone} />
        </Card>
        <Totals
          totals={totals}
          lead={isSound ? 'Of each run, with the fees of today.' : 'The rows that can be paid.'}
        />
      </div>
      <Card>
        <form method="post" action={isSound ? `${path}/create` : `${path}/new`} class="stack">
          <input type="hidden" name="key" value={formKey(values)} />
          <SentAgain values={values} fields={HEAD_FIELDS} table={isSound} />
          {isSound ? null : (
            <TableField label="Payouts of each run" form={{ values, errors: {} }} />
          )}
          <div class="actions">
            <button class="btn">
              {isSound ? (
                <>
                  <Icon name="calendar-clock" /> Create the schedule
                </>
              ) : (
                'Check again'
              )}
            </button>
            <a class="btn" data-variant="outline" href={path}>
              Cancel
            </a>
          </div>
        </form>
      </Card>
    </>
  );
}

const HEAD_FIELDS = [
  'reference',
  'description',
  'cron',
  'time_zone',
  'interval',
  'unit',
  'start',
  'end',
] as const;
