import { justNow, justNowAt, wasJustNow } from '../../../src/kit/pages/just-now';

const asked = (query: string) => wasJustNow(new URLSearchParams(query), 'asked');

test('what a form did is shown for a minute, and not on a page that is opened later', () => {
  expect(asked(justNow('asked'))).toBe(true);
  expect(asked(justNow('asked', Date.now() - 59_000))).toBe(true);
  expect(asked(justNow('asked', Date.now() - 61_000))).toBe(false);
  expect(asked('asked')).toBe(false);
  expect(asked('asked=9'.padEnd(20, '9'))).toBe(false);
  expect(asked(justNow('started'))).toBe(false);
  const at = Date.now() - 5_000;
  expect(justNowAt(new URLSearchParams(justNow('asked', at)), 'asked')).toEqual(new Date(at));
});
