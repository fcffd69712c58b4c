import { SUBSCRIBABLE_EVENTS } from '../../../src/domain/events';
import { sampleData } from '../../../src/features/webhooks/dashboard/samples';
import { Value } from 'typebox/value';
import { webhookBodyOf } from '../../../src/features/webhooks/events-contract';

test.each(SUBSCRIBABLE_EVENTS)('the sample of %s is an object as its webhooks have it', (type) => {
  const data = JSON.parse(sampleData(type)) as { object: string };
  expect(data.object).toBe(type.split('.')[0]);
  const head = { id: 'evt_01M7YESA634WQFACSBWYSTKM76', type, mode: 'test', sequence: 1 };
  const body = { ...head, created_at: '2026-11-21T07:05:30.632Z', data };
  expect([...Value.Errors(webhookBodyOf(type), body)]).toEqual([]);
});
