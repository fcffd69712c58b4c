/** The words of nodes that refuse a transaction, each with what the wallet reads in it. */
import { BROADCAST_WORDINGS, meaningOfRefusal } from '../../../src/wallet/chain/broadcast-refusals';

describe('a refused transaction', () => {
  const cases = BROADCAST_WORDINGS.flatMap(({ means, examples }) =>
    examples.map((detail) => ({ means, detail })),
  );

  test.each(cases)('“$detail” means $means', ({ means, detail }) => {
    expect(meaningOfRefusal(detail)).toBe(means);
  });

  test.each(['gas limit reached', 'sender not an eoa', 'oversized data', 'tx fee exceeds the cap'])(
    '“%s” is for a person',
    (detail) => {
      expect(meaningOfRefusal(detail)).toBeNull();
    },
  );
});
