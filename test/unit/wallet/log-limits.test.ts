/** The words of providers and clients that refuse a question for logs which is too large. */
import {
  allowedBlocks,
  isTooManyLogs,
  LogRanges,
  WORDINGS,
} from '../../../src/wallet/chain/log-limits';

describe('a refused question for logs', () => {
  const cases = WORDINGS.flatMap(({ codes, ...one }) => codes.map((code) => ({ code, ...one })));

  test.each(cases)('of $whose ($code) is asked about fewer blocks', ({ code, example, allows }) => {
    expect(isTooManyLogs('eth_getLogs', code, example)).toBe(true);
    expect(allowedBlocks(example)).toBe(allows);
  });

  test.each([
    [-32005, 'daily request count exceeded, request rate limited'],
    [-32005, 'rate limit exceeded'],
    [-32600, 'Must be authenticated!'],
    [-32602, 'block range extends beyond current head block'],
    [-32601, 'the method eth_getLogs does not exist'],
  ])('is none when a node refuses something else (%s, %s)', (code, detail) => {
    expect(isTooManyLogs('eth_getLogs', code, detail)).toBe(false);
  });

  it('is none of another method', () => {
    expect(isTooManyLogs('eth_call', -32005, 'query returned more than 10000 results')).toBe(false);
  });

  it('halves the range when it names no number, and takes the number that it names', () => {
    const ranges = new LogRanges(200);
    expect(ranges.refused(0, 200, 'query returned more than 10000 results')).toBe(true);
    expect(ranges.sizeFor(0)).toBe(100);
    expect(ranges.refused(0, 100, 'eth_getLogs is limited to a 10 range')).toBe(true);
    expect(ranges.sizeFor(0)).toBe(10);
    expect(ranges.sizeFor(1)).toBe(200);
  });
});
