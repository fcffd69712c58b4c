/** Schedules of payouts on the wire. Each row is a payout request. */
import { type Static, Type } from 'typebox';
import { parseCron, isTimeZone } from '../../domain/cron';
import { type FieldError, errorEntry, type Refusal } from '../../domain/errors';
import { ISO_TIME_PATTERN, parseIsoTime } from '../../domain/iso-time';
import {
  CHECKED_TIMES,
  INTERVAL_SECONDS_MAX,
  INTERVAL_SECONDS_MIN,
  PAYOUT_SCHEDULE_RUN_STATUSES,
  PAYOUT_SCHEDULE_STATUSES,
  SCHEDULE_REFERENCE_LENGTH_MAX,
  SCHEDULE_ROWS_MAX,
  type PayoutSchedule,
  type PayoutScheduleRun,
} from '../../domain/payout-schedule';
import { compileBody, type Json, RequestDescription } from '../../kit/api/body';
import {
  AmountText,
  AwaitsSecondPerson,
  CurrencyCode,
  Id,
  ModeName,
  OneOf,
  OrNull,
  Shape,
  Timestamp,
} from '../../kit/api/common';
import {
  created,
  CREATION_ERRORS,
  IDEMPOTENCY_KEY,
  idOf,
  listed,
  listQueryOf,
  type Operation,
  shown,
  operations,
} from '../../kit/api/operation';
import {
  CHECK_EXAMPLE as BATCH_CHECK,
  PayoutBatchCheckObject,
  readRows,
  presentBatchCheck,
} from '../payout-batches/payout-batches-contract';
import { readScheduledRow, ScheduledRowBody } from '../payouts/payouts-contract';
import { type Query, readListQuery } from '../../kit/api/query';
import type { BatchTerms } from '../../domain/batch-terms';

const RequestTime = Type.String({
  maxLength: 40,
  pattern: ISO_TIME_PATTERN,
  description: 'A time in ISO 8601 with a zone',
});

const HEAD = {
  reference: Type.String({
    minLength: 1,
    maxLength: SCHEDULE_REFERENCE_LENGTH_MAX,
    pattern: '^[A-Za-z0-9_-]*$',
    description: `Your unique ID: 1 to ${SCHEDULE_REFERENCE_LENGTH_MAX} letters, digits, "_" or "-"`,
  }),
  description: Type.Optional(RequestDescription),
  cron: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'A cron expression of five fields, such as "0 9 1 * *", that restricts the day of month or the day of week, not both. The day of month "L" is the last day of each month',
    }),
  ),
  time_zone: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'The name of the time zone of cron, such as "Europe/Berlin"; UTC by default',
    }),
  ),
  interval_seconds: Type.Optional(
    Type.Integer({
      minimum: INTERVAL_SECONDS_MIN.test,
      maximum: INTERVAL_SECONDS_MAX,
      description: `A whole number of seconds, at least ${INTERVAL_SECONDS_MIN.live} in live mode and ${INTERVAL_SECONDS_MIN.test} in test mode`,
    }),
  ),
  start_at: Type.Optional(RequestTime),
  end_at: Type.Optional(RequestTime),
  dry_run: Type.Optional(
    Type.Boolean({
      description:
        'true checks every row and answers with the faults, fees, totals and next times; nothing is stored',
      default: false,
    }),
  ),
};
const ROWS = { minItems: 1, maxItems: SCHEDULE_ROWS_MAX };
const ROWS_DESCRIPTION = `1 to ${SCHEDULE_ROWS_MAX} payout requests`;
const CLOSED = { additionalProperties: false, description: 'A schedule of payouts' };

/** The body of POST /payout_schedules. */
export const PayoutScheduleBody = Type.Object(
  { ...HEAD, payouts: Type.Array(ScheduledRowBody, { ...ROWS, description: ROWS_DESCRIPTION }) },
  CLOSED,
);

/** The rows are read one by one, so that every faulty row is named. */
const readWhole = compileBody(
  Type.Object(
    { ...HEAD, payouts: Type.Array(Type.Any(), { ...ROWS, description: ROWS_DESCRIPTION }) },
    CLOSED,
  ),
);

const readHead = compileBody(Type.Object(HEAD, CLOSED));

/** @throws ApiError validation_failed about the schedule itself; a faulty row is returned as such */
export function readPayoutScheduleRequest(json: Json) {
  const body = readWhole(json, timeErrors);
  const rows = readRows(json['payouts'] as unknown[], readScheduledRow);
  return { ...headOf(body), rows, isDryRun: body.dry_run ?? false };
}

/** The request without its rows. @throws ApiError validation_failed */
export function readPayoutScheduleHead(json: Json) {
  return headOf(readHead(json, timeErrors));
}

function headOf(body: ReturnType<typeof readHead>) {
  return {
    reference: body.reference,
    description: body.description ?? null,
    cron: body.cron ?? null,
    timeZone: body.cron === undefined ? null : (body.time_zone ?? 'UTC'),
    intervalSeconds: body.interval_seconds ?? null,
    startAt: body.start_at === undefined ? null : parseIsoTime(body.start_at, 'from'),
    endAt: body.end_at === undefined ? null : parseIsoTime(body.end_at, 'from'),
  };
}

function timeErrors(body: Json): FieldError[] {
  const { cron, time_zone: zone, interval_seconds: interval, start_at: from, end_at: to } = body;
  const errors: FieldError[] = [];
  const refuse = (field: string, rule: FieldError['rule'], message: string) => {
    errors.push({ field, rule, message });
  };
  if (cron === undefined && interval === undefined) {
    refuse('cron', 'required', 'Send either cron or interval_seconds.');
  }
  if (cron !== undefined && interval !== undefined) {
    refuse('interval_seconds', 'unsupported', 'Send either cron or interval_seconds.');
  }
  if (typeof cron === 'string' && parseCron(cron) === null) {
    refuse('cron', 'format', 'Send cron as five fields, such as "0 9 1 * *".');
  }
  if (zone !== undefined && cron === undefined) {
    refuse('time_zone', 'unsupported', 'Send time_zone together with cron.');
  }
  if (typeof zone === 'string' && !isTimeZone(zone)) {
    refuse('time_zone', 'format', 'Send time_zone as a name such as "Europe/Berlin".');
  }
  const times = { start_at: from, end_at: to };
  for (const [field, text] of Object.entries(times)) {
    if (typeof text === 'string' && parseIsoTime(text, 'from') === null) {
      refuse(field, 'format', `Send ${field} as a time in ISO 8601 with a zone.`);
    }
  }
  if (errors.length === 0 && typeof to === 'string') {
    const start = typeof from === 'string' ? new Date(from).getTime() : 0;
    if (new Date(to).getTime() <= start) {
      refuse('end_at', 'out_of_range', 'Send end_at as a time after start_at.');
    }
  }
  return errors;
}

/** @throws ApiError validation_failed with every failing parameter */
export function readPayoutScheduleQuery(query: Query) {
  return readListQuery({}, query);
}

/** A run of a schedule. */
export const PayoutScheduleRunObject = Shape(
  {
    id: Id('payoutScheduleRun'),
    object: Type.Literal('payout_schedule_run'),
    schedule_id: Id('payoutSchedule'),
    scheduled_for: Timestamp('The time of the schedule'),
    status: OneOf(PAYOUT_SCHEDULE_RUN_STATUSES, 'pending, created or failed'),
    batch_id: OrNull(Id('payoutBatch'), 'The batch of the run, once it is created'),
    failure: OrNull(
      Shape(
        {
          code: Type.String({ description: 'The error code' }),
          message: Type.String({ description: 'What is wrong and what to do' }),
          details: OrNull(
            Type.Object({}, { additionalProperties: true }),
            'The details of the error code',
          ),
        },
        'Why nothing was paid',
      ),
      'Null unless the run failed',
    ),
    created_at: Timestamp('When the run started'),
    ended_at: OrNull(Timestamp('When the run was created or failed'), 'Null while it is pending'),
  },
  'A run of a schedule',
);
export type PayoutScheduleRunObject = Static<typeof PayoutScheduleRunObject>;

/** A schedule (decisions/payouts#payout-schedules). */
export const PayoutScheduleObject = Shape(
  {
    id: Id('payoutSchedule'),
    object: Type.Literal('payout_schedule'),
    mode: ModeName,
    status: OneOf(PAYOUT_SCHEDULE_STATUSES, 'The status'),
    reference: Type.String({ description: 'Your unique ID' }),
    description: OrNull(Type.String({ maxLength: 255 }), 'Your description'),
    cron: OrNull(Type.String(), 'The cron expression, or null'),
    time_zone: OrNull(Type.String(), 'The time zone of the cron expression'),
    interval_seconds: OrNull(Type.Integer(), 'The seconds between two runs, or null'),
    start_at: Timestamp('No run is earlier; intervals are counted from here'),
    end_at: OrNull(Timestamp('No run is later'), 'Null: no end'),
    rows: Type.Integer({ minimum: 1, description: 'The number of payouts of each run' }),
    totals: Type.Array(
      Shape(
        {
          currency: CurrencyCode,
          rows: Type.Integer({ minimum: 1, description: 'The number of rows in this currency' }),
          amount: AmountText('What the recipients of a run receive'),
        },
        'The sum of one currency',
      ),
      { description: 'The sums of each run, without fees, by currency' },
    ),
    awaits_second_person: AwaitsSecondPerson,
    next_run_at: OrNull(Timestamp('The time of the next run'), 'Null if none is known'),
    last_run: OrNull(PayoutScheduleRunObject, 'The last run that ended'),
    created_at: Timestamp('The time of creation'),
    updated_at: Timestamp('The time of the last change or run'),
    ended_at: OrNull(Timestamp('When it ended'), 'Null until it has ended'),
  },
  'A schedule of payouts',
);
export type PayoutScheduleObject = Static<typeof PayoutScheduleObject>;

/** The answer of a dry run. */
export const PayoutScheduleCheckObject = Shape(
  {
    ...PayoutBatchCheckObject.properties,
    object: Type.Literal('payout_schedule_check'),
    valid: Type.Boolean({
      description: 'Whether the same request without dry_run is accepted now',
    }),
    needs_second_person: Type.Boolean({
      description: 'Whether another person has to approve it before it pays',
    }),
    next_run_times: Type.Array(Timestamp('A time of the schedule'), {
      maxItems: CHECKED_TIMES,
      description: `The first ${CHECKED_TIMES} times of the schedule`,
    }),
  },
  'What a run of the schedule would cost now, and its next times',
);
export type PayoutScheduleCheckObject = Static<typeof PayoutScheduleCheckObject>;

const RUN_EXAMPLE: PayoutScheduleRunObject = {
  id: 'psr_01M7YESA634WQFACSBWYSTKM76',
  object: 'payout_schedule_run',
  schedule_id: 'ps_01M7YESA634WQFACSBWYSTKM76',
  scheduled_for: '2026-12-01T08:00:00.000Z',
  status: 'created',
  batch_id: 'pb_01M7YESA634WQFACSBWYSTKM76',
  failure: null,
  created_at: '2026-12-01T08:00:00.214Z',
  ended_at: '2026-12-01T08:00:00.632Z',
};

const EXAMPLE: PayoutScheduleObject = {
  id: 'ps_01M7YESA634WQFACSBWYSTKM76',
  object: 'payout_schedule',
  mode: 'live',
  status: 'active',
  reference: 'rent',
  description: 'Rent of the offices',
  cron: '0 9 1 * *',
  time_zone: 'Europe/Berlin',
  interval_seconds: null,
  start_at: '2026-11-21T07:05:30.000Z',
  end_at: null,
  rows: 2,
  totals: [{ currency: 'USDT', rows: 2, amount: '650.50000000' }],
  awaits_second_person: false,
  next_run_at: '2027-01-01T08:00:00.000Z',
  last_run: RUN_EXAMPLE,
  created_at: '2026-11-21T07:05:30.632Z',
  updated_at: '2026-12-01T08:00:00.632Z',
  ended_at: null,
};

const CHECK_EXAMPLE: PayoutScheduleCheckObject = {
  ...BATCH_CHECK,
  object: 'payout_schedule_check',
  needs_second_person: false,
  next_run_times: ['2027-01-01T08:00:00.000Z', '2027-02-01T08:00:00.000Z'],
};

const REQUEST_EXAMPLE: Static<typeof PayoutScheduleBody> = {
  reference: 'rent',
  description: 'Rent of the offices',
  cron: '0 9 1 * *',
  time_zone: 'Europe/Berlin',
  payouts: [
    {
      amount: '400',
      currency: 'USDT',
      reference: 'rent-berlin',
      network: 'tron',
      destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
    },
  ],
};

const CHANGE = {
  method: 'post',
  tag: 'Payout schedules',
  scope: 'payouts:write',
  parameters: [idOf('payoutSchedule')],
  success: shown(PayoutScheduleObject, EXAMPLE),
  errors: ['not_found', 'invalid_state'],
} as const satisfies Partial<Operation>;

/** The operations of /payout_schedules. */
export const PAYOUT_SCHEDULE_OPERATIONS = operations([
  {
    id: 'createPayoutSchedule',
    method: 'post',
    path: '/payout_schedules',
    tag: 'Payout schedules',
    summary: 'Create a schedule of payouts',
    description:
      'Pays the same rows at each time of a cron expression or an interval. Each run is a batch, whose references end with the time of the run. A row’s reference is used by one schedule at a time. A run that cannot be reserved in full pays nothing, is an event, and the next one comes at its time. Runs act with the permission and limits of the key that made the schedule. With dry_run, nothing is stored; the answer is then 200 with the faults, fees, totals and next times.',
    scope: 'payouts:write',
    parameters: [IDEMPOTENCY_KEY],
    body: { schema: PayoutScheduleBody, examples: { monthly: REQUEST_EXAMPLE } },
    success: created(PayoutScheduleObject, EXAMPLE),
    answer: shown(PayoutScheduleCheckObject, CHECK_EXAMPLE),
    errors: [...CREATION_ERRORS, 'rows_refused', 'too_many_objects'],
  },
  {
    id: 'listPayoutSchedules',
    method: 'get',
    path: '/payout_schedules',
    tag: 'Payout schedules',
    summary: 'List schedules',
    description: 'Returns schedules, newest first.',
    scope: 'payouts:read',
    parameters: listQueryOf({}),
    success: listed(PayoutScheduleObject, '/payout_schedules', [EXAMPLE]),
    errors: ['validation_failed'],
  },
  {
    id: 'getPayoutSchedule',
    method: 'get',
    path: '/payout_schedules/{id}',
    tag: 'Payout schedules',
    summary: 'Retrieve a schedule',
    description: 'Returns the current state of a schedule with its last run.',
    scope: 'payouts:read',
    parameters: [idOf('payoutSchedule')],
    success: shown(PayoutScheduleObject, EXAMPLE),
    errors: ['not_found'],
  },
  {
    id: 'listPayoutScheduleRuns',
    method: 'get',
    path: '/payout_schedules/{id}/runs',
    tag: 'Payout schedules',
    summary: 'List the runs of a schedule',
    description: 'Returns the runs, newest first, with the batch or the reason of each.',
    scope: 'payouts:read',
    parameters: [idOf('payoutSchedule'), ...listQueryOf({})],
    success: listed(PayoutScheduleRunObject, `/payout_schedules/${EXAMPLE.id}/runs`, [RUN_EXAMPLE]),
    errors: ['not_found', 'validation_failed'],
  },
  {
    ...CHANGE,
    id: 'pausePayoutSchedule',
    path: '/payout_schedules/{id}/pause',
    summary: 'Pause a schedule',
    description: 'Makes no more runs until the schedule is resumed. Times that pass are left out.',
  },
  {
    ...CHANGE,
    id: 'resumePayoutSchedule',
    path: '/payout_schedules/{id}/resume',
    summary: 'Resume a schedule',
    description: 'Makes runs again, from the next time of the schedule on.',
    errors: [...CHANGE.errors, 'too_many_objects'],
  },
  {
    ...CHANGE,
    id: 'endPayoutSchedule',
    path: '/payout_schedules/{id}/end',
    summary: 'End a schedule',
    description:
      'Ends the schedule: it creates no further batches. Batches that were created continue; stop them if you have to.',
  },
]);

/** Schedules of payouts and their runs on the wire. */

export function presentPayoutSchedule(schedule: PayoutSchedule): PayoutScheduleObject {
  return {
    id: schedule.id,
    object: 'payout_schedule',
    mode: schedule.mode,
    status: schedule.status,
    reference: schedule.reference,
    description: schedule.description,
    cron: schedule.cron,
    time_zone: schedule.timeZone,
    interval_seconds: schedule.intervalSeconds,
    start_at: schedule.startAt.toISOString(),
    end_at: schedule.endAt?.toISOString() ?? null,
    rows: schedule.payouts.length,
    totals: schedule.totals,
    awaits_second_person: schedule.awaitsSecondPerson,
    next_run_at: schedule.nextRunAt?.toISOString() ?? null,
    last_run: schedule.lastRun === null ? null : presentScheduleRun(schedule.lastRun),
    created_at: schedule.createdAt.toISOString(),
    updated_at: schedule.updatedAt.toISOString(),
    ended_at: schedule.endedAt?.toISOString() ?? null,
  };
}

export function presentScheduleRun(run: PayoutScheduleRun): PayoutScheduleRunObject {
  return {
    id: run.id,
    object: 'payout_schedule_run',
    schedule_id: run.scheduleId,
    scheduled_for: run.scheduledFor.toISOString(),
    status: run.status,
    batch_id: run.status === 'created' ? run.batchId : null,
    failure: run.failure === null ? null : presentFailure(run.failure),
    created_at: run.createdAt.toISOString(),
    ended_at: run.endedAt?.toISOString() ?? null,
  };
}

/** The result of a dry run. A balance is looked at by each run, so it does not make the request invalid. */
export function presentScheduleCheck(
  check: Pick<
    BatchTerms,
    'faults' | 'totals' | 'shortage' | 'reviewReasons' | 'needsSecondPerson'
  > & {
    nextTimes: Date[];
  },
): PayoutScheduleCheckObject {
  return {
    ...presentBatchCheck(check),
    object: 'payout_schedule_check',
    valid: check.faults.length === 0,
    needs_second_person: check.needsSecondPerson,
    next_run_times: check.nextTimes.map((time) => time.toISOString()),
  };
}

function presentFailure({ code, message, details }: Refusal) {
  return { code, message: message ?? errorEntry(code).message, details: details ?? null };
}
