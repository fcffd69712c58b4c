/** What counts as a trace, and what becomes of it. The header comes from clients. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { ActivityExecuteInput } from '@temporalio/worker';
import { inSomeTrace, inTrace, traceFields, traceHeaders } from '../../../src/platform/lib/trace';
import { TRACE_OF_ACTIVITIES } from '../../../src/temporal/trace';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${PARENT}-01`;
const NEW = /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/;

const INVALID = [
  ['nothing', ''],
  ['another version', `01-${TRACE}-${PARENT}-01`],
  ['the version that is none', `ff-${TRACE}-${PARENT}-01`],
  ['upper case', VALID.toUpperCase()],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
  ['a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['a part more', `${VALID}-01`],
  ['two of them', `${VALID}, ${VALID}`],
  ['spaces', ` ${VALID} `],
  ['a line break', `${VALID}\n`],
  ['another header', `${VALID}\r\nx-other: 1`],
  ['markup', `00-${TRACE}-<script></script>-01`],
  ['a megabyte', `00-${'a'.repeat(1_000_000)}-${PARENT}-01`],
] as const;

test('a trace goes on as it came', () => {
  expect(inSomeTrace(VALID, traceHeaders)).toEqual({ traceparent: VALID });
  expect(inSomeTrace(VALID, traceFields)).toEqual({ trace_id: TRACE });
});

test.each(INVALID)(
  '%s: a request gets a trace of its own, and nothing of it goes on',
  (_, sent) => {
    const { traceparent = '' } = inSomeTrace(sent, traceHeaders);
    expect(traceparent).toMatch(NEW);
    expect(traceparent).not.toContain(TRACE);
  },
);

test.each(INVALID)('%s: an activity has no trace', (_, sent) => {
  expect(inTrace(sent, traceHeaders)).toEqual({});
  expect(inTrace(sent, traceFields)).toEqual({});
});

const toPayload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const UNREADABLE: Payload = {
  metadata: { encoding: Buffer.from('binary/unheard-of') },
  data: Buffer.from('x'),
};

test.each([
  ['a trace', { traceparent: toPayload(VALID) }, { traceparent: VALID }],
  ['none', {}, {}],
  ['a number', { traceparent: toPayload(7) }, {}],
  ['bytes that nobody can read', { traceparent: UNREADABLE }, {}],
])('an activity whose message has %s runs', async (_, headers, expected) => {
  const { inbound } = TRACE_OF_ACTIVITIES;
  const input: ActivityExecuteInput = { args: [], headers };
  const ran = inbound?.execute?.(input, () => Promise.resolve(traceHeaders()));
  expect(await ran).toEqual(expected);
});
