/** Create a schedule from a table: every faulty row, the totals and the next runs first, then the schedule. */
import { SCHEDULE_REFERENCE_LENGTH_MAX, SCHEDULE_ROWS_MAX } from '../../../domain/payout-schedule';
import type { Approver } from '../../../domain/second-person';
import { minuteOf } from '../../../platform/lib/local-time';
import { readPayoutScheduleHead } from '../payout-schedules-contract';
import { createdId } from '../../../shell/dashboard/money';
import type { DashboardServices } from '../../../shell/dashboard/services';
import type { ScheduleCheck } from '../payout-schedules';
import { Alert, Card, PageHead } from '../../../kit/pages/components';
import { Field, type FormState, Select, TableField } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { page, redirect } from '../../../kit/pages/site';
import { Approvals } from '../../approvals/dashboard/who-approves';
import { checkedRows, shownColumns } from '../../payout-batches/dashboard/checked-rows';
import { Totals, trySheet } from '../../payout-batches/dashboard/new-batch';
import { readScheduleSheet, SCHEDULE_COLUMNS } from '../../payout-batches/dashboard/sheet';
import { takeCorrections, writeSheet } from '../../../kit/pages/sheet';
import { SheetReview } from '../../../kit/pages/sheet-review';
import {
  filledIn,
  formKey,
  MAKE,
  nextFormKey,
  type Outcome,
  personOf,
  RefusalAlert,
} from '../../../kit/pages/creation';
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';
import {
  countText,
  cronOf,
  NextRuns,
  REPEATS,
  timesText,
  UNIT_SECONDS,
  WEEKDAYS,
} from '../pages/schedule-times';

const NAV = { nav: 'schedules' };
/** The table of 500 rows is larger than other forms. */
const LARGE = { takesLargeForm: true } as const;

type Input = Omit<Awaited<ReturnType<typeof inputOf>>, 'lines'>;
type Checked = ScheduleCheck & {
  input: Input;
  lines: Record<string, string>[];
  approvers: Approver[];
  userId: string;
};

export function newSchedulePages({
  money,
  recipients,
  bookkeeping,
  approvers,
}: DashboardServices): MerchantRoute[] {
  const check = async (visit: MerchantVisit, zone: string): Promise<Checked> => {
    takeCorrections(visit.form);
    const { lines, ...input } = await inputOf(visit.form, zone);
    const caller = await money.allowedCaller(personOf(visit));
    const checked = await money.payoutSchedules.check(caller, input);
    const { userId } = visit;
    return { ...checked, input, lines, approvers: await approvers(visit), userId };
  };
  /** The table as it was understood, or the form again. */
  const review = async (visit: MerchantVisit, refusal: Outcome<unknown>['refusal']) => {
    const { timeZone: zone } = await bookkeeping(visit);
    const shown = { path: `${visit.base}/schedules`, zone };
    const { result, ...sent } = await trySheet(visit.form, () => check(visit, zone));
    if (result === null) {
      const body = <NewSchedule {...shown} {...sent} />;
      return page('Create a schedule', body, { ...NAV, status: sent.refusal?.status ?? 422 });
    }
    const body = <Preview {...shown} values={visit.form} check={result} refusal={refusal} />;
    return page('Check the schedule', body, { ...NAV, status: refusal?.status ?? 200 });
  };
  return [
    get('/schedules/new', MAKE, async (visit) => {
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
    }),
    post('/schedules/new', { ...MAKE, ...LARGE, cost: 'export' }, (visit) => review(visit, null)),
    post(
      '/schedules/create',
      { ...MAKE, ...LARGE, liveRecent: ({ base }) => `${base}/schedules/new` },
      async (visit) => {
        const path = `${visit.base}/schedules`;
        const { form } = visit;
        const { timeZone: zone } = await bookkeeping(visit);
        const idempotencyKey = formKey(form);
        // What was corrected a moment ago has been seen by nobody.
        if (takeCorrections(form)) return review(visit, null);
        const sent = await trySheet(form, async () => {
          const caller = await money.allowedCaller(personOf(visit));
          const { lines: _, ...input } = await inputOf(form, zone);
          return createdId(() =>
            money.payoutSchedules.create(caller, { ...input, idempotencyKey }),
          );
        });
        if (sent.result !== null) return redirect(`${path}/${sent.result}`);
        form.set('key', nextFormKey(idempotencyKey, sent.refusal));
        return review(visit, sent.refusal);
      },
    ),
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
  const isByInterval = form.get('repeats') === 'interval';
  const cron = isByInterval ? undefined : (cronOf(form) ?? head['cron']);
  const { cron: _, ...named } = head;
  const request = {
    ...named,
    ...(cron === undefined ? {} : { cron, time_zone }),
    ...(interval === undefined || isCronOnly(form)
      ? {}
      : { interval_seconds: secondsOf(interval, form.get('unit')) }),
    ...(start === undefined ? {} : { start_at: momentOf(start, zone) }),
    ...(end === undefined ? {} : { end_at: momentOf(end, zone) }),
  };
  return {
    ...readPayoutScheduleHead(request),
    ...(await readScheduleSheet(form.get('table') ?? '')),
  };
}

/** Whether the person has chosen times, so that an interval of before does not count. */
function isCronOnly(form: URLSearchParams): boolean {
  return !['interval', null].includes(form.get('repeats'));
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
  const isMade = cronOf(values) !== null;
  const named = Object.entries(errors).map(([name, text]) => [
    name === 'cron' && isMade ? 'time' : (FORM_NAMES[name] ?? name),
    text,
  ]);
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
  const numbered = (count: number, from: number) =>
    Array.from({ length: count }, (_, index) => String(index + from));
  return (
    <>
      <div class="times stack">
        <Select name="repeats" label="Repeats" form={form} options={REPEATS} />
        <div class="for-week">
          <Select
            name="weekday"
            label="Day of the week"
            form={form}
            options={[1, 2, 3, 4, 5, 6, 0].map(
              (day) => [String(day), WEEKDAYS[day] ?? ''] as const,
            )}
          />
        </div>
        <div class="for-month">
          <Select
            name="day"
            label="Day of the month"
            hint="A month without this day has no run."
            form={form}
            options={numbered(31, 1).map((day) => [day, day] as const)}
          />
        </div>
        <div class="for-time">
          <Field name="time" label="Time" type="time" value="09:00" form={form} />
        </div>
        <div class="for-zone">
          <Select
            name="time_zone"
            label="Time zone"
            form={form}
            options={zonesWith(form.values.get('time_zone') ?? zone)}
          />
        </div>
        <div class="for-interval stack">
          <Field
            name="interval"
            label="Interval"
            hint="A whole number."
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
        </div>
        <div class="for-cron">
          <Field
            name="cron"
            label="Cron expression"
            hint="Minute, hour, day of month, month, day of week. “30 8 * * MON-FRI” is 08:30 on weekdays, “0 9 L * *” 09:00 on the last day of each month."
            placeholder="0 9 1 * *"
            form={form}
            autocomplete="off"
            maxLength={100}
          />
        </div>
      </div>
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

/** All zones, the chosen one too if it has another name there. */
function zonesWith(chosen: string): (readonly [string, string])[] {
  const zones = new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), chosen]);
  return [...zones].sort().map((zone) => [zone, zone] as const);
}

interface PreviewProps {
  path: string;
  zone: string;
  values: URLSearchParams;
  check: Checked;
  refusal: Outcome<unknown>['refusal'];
}

function Preview({ path, zone, values, check, refusal }: PreviewProps) {
  const { faults, totals, shortage, input, lines } = check;
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
      <div class="grid">
        <Card title="Next runs">
          <NextRuns times={check.nextTimes} zone={input.timeZone ?? zone} />
        </Card>
        <Totals
          totals={totals}
          lead={isSound ? 'Of each run, with the fees of today.' : 'The rows that can be paid.'}
        />
        <Approvals
          {...check}
          reviewReasons={[]}
          otherwise="Nobody approves the schedule. Each run follows the rules of payouts."
        />
      </div>
      <SheetReview
        rows={checkedRows(lines, check)}
        columns={shownColumns(lines, SCHEDULE_COLUMNS)}
        values={values}
        fields={HEAD_FIELDS}
        check={`${path}/new`}
        create={isSound ? { action: `${path}/create`, label: 'Create the schedule' } : null}
        download={null}
        cancel={path}
      />
    </>
  );
}

const HEAD_FIELDS = [
  'reference',
  'description',
  'repeats',
  'weekday',
  'day',
  'time',
  'cron',
  'time_zone',
  'interval',
  'unit',
  'start',
  'end',
] as const;
