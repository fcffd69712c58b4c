/** Guards of schedules of payouts. */
import type { Guard } from '../guard';

const E2E = 'test/e2e/payout-schedules.test.ts';
const LATE = 'test/db/late-reservations.test.ts';
const PAGES = 'test/e2e/dashboard-schedules.test.ts';
const RUN = 'activities/payout-schedule/run.ts';

export const SCHEDULE_GUARDS: readonly Guard[] = [
  {
    name: 'schedule-own-times',
    protects: 'A message to Temporal does not make a schedule pay at another time than its own.',
    file: RUN,
    find: 'if (scheduledFor > now || !isTimeOfSchedule(schedule, scheduledFor)) return null;',
    replace: '',
    test: E2E,
    title: 'a time is run once, however often it is started, and no other time is run',
  },
  {
    name: 'batch-permission-at-reservation',
    protects:
      'A batch or a run of a schedule is reserved only while its requester may pay and its account is active.',
    file: 'activities/payout-batch/reserve.ts',
    find: 'if (requesterFault !== null) throw new Refused(requesterFault);',
    replace: 'if (requesterFault === undefined) throw new Refused(requesterFault);',
    test: LATE,
    title: 'reserves no',
  },
  {
    name: 'payout-permission-at-reservation',
    protects: 'A payout is reserved only while its requester may pay and its account is active.',
    file: 'activities/payout/reserve.ts',
    find: 'if (requesterFault !== null) throw new Refused(requesterFault);',
    replace: 'if (requesterFault === undefined) throw new Refused(requesterFault);',
    test: LATE,
    title: 'reserves no payout',
  },
  {
    name: 'schedule-due-at-reservation',
    protects:
      'A run of a schedule that was paused or has ended, or that is too late, is not reserved.',
    file: 'activities/payout-batch/reserve.ts',
    find: 'if (scheduled !== null) await requireDueRun(tx, scheduled);',
    replace: 'if (scheduled === undefined) await requireDueRun(tx, scheduled);',
    test: LATE,
    title: 'a run',
  },
  {
    name: 'schedule-second-person',
    protects:
      'A schedule that a person makes above the amount pays nothing before another person has approved it.',
    file: RUN,
    find: 'if (await isScheduleApproved(tx, schedule)) return;',
    replace: 'if (schedule.id !== null) return;',
    test: PAGES,
    title:
      'above the amount its runs pay nothing until another person approves it, and a batch does not ask again',
  },
];
