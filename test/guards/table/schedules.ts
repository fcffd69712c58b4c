/** Guards of schedules of payouts. */
import type { Guard } from '../guard';

const DB = 'test/db/batches/payout-schedules.test.ts';
const LATE = 'test/db/payouts/late-reservations.test.ts';
const PAGES = 'test/e2e/batches/dashboard-schedules.test.ts';
const RUN = 'activities/payout-schedule/run.ts';

export const SCHEDULE_GUARDS: readonly Guard[] = [
  {
    name: 'schedule-own-times',
    protects: 'A message to Temporal does not make a schedule pay at another time than its own.',
    file: 'activities/payout-schedule/run.ts',
    find: "if (run === null) return 'the schedule has no run of this time';",
    replace: 'if (run === null) return scheduleId;',
    test: DB,
    title: 'a message to Temporal about a time that was not opened pays nothing',
  },
  {
    name: 'schedule-next-time',
    protects: 'A time of a schedule is opened once, and the next one follows.',
    file: 'activities/payout-schedule/open.ts',
    find: 'if (nextRunAt > now) return null;',
    replace: '',
    test: DB,
    title: 'a time is opened once by two workers',
  },
  {
    name: 'schedule-one-run-at-a-time',
    protects: 'Each run of a schedule sees the balance that the one before it leaves.',
    file: 'src/db/repositories/payout-schedules.ts',
    find: 'WHERE id NOT IN (SELECT id FROM pending)',
    replace: 'WHERE true',
    test: DB,
    title: 'missed times come one after the other',
  },
  {
    name: 'schedule-turns',
    protects: 'One account does not keep the schedules of others from their turn.',
    file: 'src/db/repositories/payout-schedules.ts',
    find: 'SELECT id FROM due WHERE turn <= ? ORDER BY turn, due_at, id LIMIT ?',
    replace: 'SELECT id FROM due WHERE turn <= ? ORDER BY due_at, id LIMIT ?',
    test: DB,
    title: 'accounts take turns',
  },
  {
    name: 'conditions-in-turns',
    protects: 'The waiting payouts of one account do not keep others from being woken.',
    file: 'src/db/repositories/payout-conditions.ts',
    find: "AND coalesce(looked_at, '-infinity') < now() - ${LOOK_EVERY}",
    replace: '',
    test: 'test/db/payouts/payout-conditions.test.ts',
    title: 'the sweep looks at conditions in turns',
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
    title: 'reserves no',
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
    find: 'if (!awaitsSecondPerson) return;',
    replace: 'return;',
    test: PAGES,
    title:
      'above the amount its runs pay nothing until another person approves it, and a batch does not ask again',
  },
];
