/** Guards of schedules of payouts. */
import type { Guard } from '../guard';

const E2E = 'test/e2e/payout-schedules.test.ts';
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
    name: 'schedule-permission-of-key',
    protects: 'A schedule pays only while the key that made it may.',
    file: RUN,
    find: 'if (fault !== null) return fault;',
    replace: '',
    test: E2E,
    title: 'a run whose key has lost its scope, or was revoked, fails with that reason',
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
  {
    name: 'schedule-permission-of-person',
    protects: 'A schedule pays only while the person who made it may.',
    file: 'src/db/repositories/payout-schedules.ts',
    find: 'return isPerson ? findPersonFault(db, requester) : findKeyFault(db, requester);',
    replace: 'return isPerson ? null : findKeyFault(db, requester);',
    test: PAGES,
    title: 'the runs of a person who may no longer pay fail with that reason',
  },
];
