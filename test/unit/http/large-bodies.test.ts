/** The thread that reads large bodies. */
import { ApiError } from '../../../src/domain/errors';
import { createBodyThread } from '../../../src/kit/api/large-bodies/thread';

test('others are answered while a large body is read', async () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => ({
    ...{ reference: `order-${n}`, amount: '10', currency: 'USDT' },
  }));
  const period = { created_from: '2026-01-01', created_to: '2026-01-31' };
  const body = Buffer.from(JSON.stringify({ object: 'payment', ...period, rows }));
  const thread = createBodyThread();
  const first = await thread.read('reconciliation', body, 'test');
  expect(first.rows[9_999]).toEqual({ ...rows[9_999], amount: '10.00000000' });
  let turns = 0;
  const others = setInterval(() => turns++);
  await thread.read('reconciliation', body, 'test');
  clearInterval(others);
  // One turn for the body and one for the answer, if it were read in this thread.
  expect(turns).toBeGreaterThan(5);
});

test('a thread reads any number of bodies, and says what is wrong with one', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const thread = createBodyThread();
  const refused = async (text: string) => {
    const error: unknown = await thread
      .read('payoutBatch', Buffer.from(text), 'live')
      .catch((caught: unknown) => caught);
    return error instanceof ApiError ? error.refusal.code : error;
  };
  for (let n = 0; n < 12; n++) expect(await refused('{"payouts":[]}')).toBe('validation_failed');
  expect(await refused('{')).toBe('invalid_json');
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
