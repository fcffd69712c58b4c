/** What a workflow did, from histories that the engine has written. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { stepsOf } from '../../../src/temporal/steps';

function stepsIn(name: string) {
  const file = join(__dirname, '../../fixtures/histories', `${name}.json`);
  const { events } = historyFromJSON(JSON.parse(readFileSync(file, 'utf8')));
  // gRPC gives the seconds as a Long, and JSON as a text.
  const received = (events ?? []).map(({ eventTime, ...event }) => ({
    ...event,
    eventTime: { nanos: eventTime?.nanos, seconds: { toNumber: () => Number(eventTime?.seconds) } },
  }));
  return stepsOf(received.reverse() as unknown as Parameters<typeof stepsOf>[0]);
}

test('the steps of a payout are named by their summaries and signals, newest first', () => {
  expect(stepsIn('escalated').map(({ title, times }) => [title, times])).toEqual([
    ['Workflow completed', 1],
    ['Check with the provider', 1],
    ['Submit to the provider', 1],
    ['Approve the payout', 1],
    ['An operator’s approval arrived', 1],
    ['Reserve the funds', 1],
    ['Workflow started', 1],
  ]);
  const [completed] = stepsIn('escalated');
  expect(completed).toMatchObject({ at: new Date('2026-11-22T19:25:20.227Z'), failure: null });
});

test('steps in a row are one, and a failure has its reason', () => {
  const [later, first] = [at(20, 'Check'), at(10, 'Check')];
  const failed = {
    eventTime: later.eventTime,
    activityTaskFailedEventAttributes: {
      failure: { message: 'Activity', cause: { message: 'no answer' } },
    },
  };
  const steps = stepsOf([failed, later, first] as unknown as Parameters<typeof stepsOf>[0]);
  expect(steps.map(({ title, times, failure }) => [title, times, failure])).toEqual([
    ['An attempt failed', 1, 'no answer'],
    ['Check', 2, null],
  ]);
  expect(steps[1]!.at).toEqual(new Date(20_000));
});

function at(seconds: number, summary: string) {
  return {
    eventTime: { seconds: { toNumber: () => seconds }, nanos: 0 },
    activityTaskScheduledEventAttributes: {},
    userMetadata: { summary: { data: Buffer.from(JSON.stringify(summary)) } },
  };
}
