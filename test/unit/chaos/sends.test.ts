/** The chaos run counts how often the wallet sent each payout. */
import { countSends } from '../../chaos/chain-rail';

const SHARED = '0x00000000000000000000000000000000000000aa';
const OWN = '0x00000000000000000000000000000000000000bb';

const sent = (reference: string, to: typeof SHARED | typeof OWN, isConfirmed = true) => ({
  ...{ reference, to, units: '10', isConfirmed },
});
const times = (shared: bigint, own: bigint, isConfirmed = true) =>
  countSends(
    [sent('run1', SHARED), sent('run2', SHARED), sent('one', OWN, isConfirmed)],
    new Map([
      [SHARED, shared],
      [OWN, own],
    ]),
  ).map(({ times_sent }) => times_sent);

test.each([
  ['each was sent once', times(20n, 10n), [1, 1, 1]],
  ['a receiver of two payouts got one of them twice', times(30n, 10n), [2, 1, 1]],
  ['a receiver of two payouts did not get one of them', times(10n, 10n), [0, 1, 1]],
  ['the receiver of one payout got it twice', times(20n, 20n), [1, 1, 2]],
  ['a payout that is not confirmed was sent', times(20n, 10n, false), [1, 1, 1]],
  ['a payout that is not confirmed was not sent', times(20n, 0n, false), [1, 1, 0]],
])('%s', (_what, counted, expected) => {
  expect(counted).toEqual(expected);
});
