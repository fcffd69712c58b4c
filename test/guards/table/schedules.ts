/** Guards of schedules of payouts. */
import type { Guard } from '../guard';

const E2E = 'test/e2e/payout-schedules.test.ts';
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
    title: 'a run whose key was revoked fails with that reason',
  },
];
