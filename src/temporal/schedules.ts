/**
 * The schedules, which a worker creates or updates when it starts. A schedule that an operator has
 * paused stays paused.
 */
import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { TASK_QUEUES, WORKFLOWS } from '../../workflows/names';
import { wallClockMs } from '../platform/lib/wall-clock';

type Interval = NonNullable<ScheduleOptions['spec']['intervals']>[number];

type Overlap = ScheduleOverlapPolicy;

const { SKIP, BUFFER_ONE } = ScheduleOverlapPolicy;

/** `BUFFER_ONE`: the next one starts as soon as a late one ends. */
const SCHEDULES: readonly [
  id: string,
  workflowType: string,
  interval: Interval,
  overlap?: Overlap,
][] = [
  ['payout-schedules', WORKFLOWS.payoutSchedules, { every: '10 seconds' }, BUFFER_ONE],
  ['restart-missing', WORKFLOWS.restartMissing, { every: '15 seconds' }],
  ['clean-up', WORKFLOWS.cleanUp, { every: '1 minute' }],
  ['reconciliation', WORKFLOWS.reconciliation, { every: '1 hour', offset: '10 minutes' }],
  ['ledger-check', WORKFLOWS.ledgerCheck, { every: '5 minutes' }],
  ['audit-seal', WORKFLOWS.auditSeal, { every: '30 seconds' }],
  ['screen-recipients', WORKFLOWS.screenRecipients, { every: '15 seconds' }],
  ['provider-alarms', WORKFLOWS.providerAlarms, { every: '1 minute' }],
  ['notifications', WORKFLOWS.notifications, { every: '15 seconds' }],
];

export async function ensureSchedules(client: Client): Promise<void> {
  for (const [scheduleId, workflowType, interval, overlap = SKIP] of SCHEDULES) {
    await ensureSchedule(client, scheduleId, {
      spec: { intervals: [interval] },
      policies: { overlap, catchupWindow: '1 minute' },
      action: { type: 'startWorkflow', workflowType, taskQueue: TASK_QUEUES.payouts, args: [] },
    });
  }
}

const TRIGGER_MS = 2_000;

/** The schedules that an operator runs out of turn. A run that is under way is not repeated. */
export const OPERATOR_SCHEDULES = ['ledger-check', 'reconciliation'] as const;
export type OperatorSchedule = (typeof OPERATOR_SCHEDULES)[number];

export async function runNow(client: Client, id: OperatorSchedule): Promise<void> {
  await client.withDeadline(wallClockMs() + TRIGGER_MS, () =>
    client.schedule.getHandle(id).trigger(SKIP),
  );
}

async function ensureSchedule(
  client: Client,
  scheduleId: string,
  options: Omit<ScheduleOptions, 'scheduleId'>,
): Promise<void> {
  try {
    await client.schedule.create({ scheduleId, ...options });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(scheduleId);
    await handle.update(({ state }) => ({ ...options, state }));
  }
}
