/** The words of nodes that refuse an estimate or a transaction, each with what the wallet reads in it. */
import { BROADCAST_WORDINGS, meaningOfRefusal } from '../../../src/wallet/chain/broadcast-refusals';
import { causeOf, WORDINGS } from '../../../src/wallet/sender/refusals';

const SERVER_ERROR = -32000;
const INTERNAL_ERROR = -32603;

describe('a refused estimate', () => {
  const cases = WORDINGS.flatMap(({ cause, examples }) =>
    examples.map((detail) => ({ cause, detail })),
  );

  test.each(cases)('“$detail” is $cause', ({ cause, detail }) => {
    for (const code of [SERVER_ERROR, INTERNAL_ERROR]) {
      expect(causeOf({ code, detail })).toBe(cause);
    }
  });

  test.each([
    [3, 'whatever a contract says', 'refused'],
    [-32005, 'daily request count exceeded', 'node_trouble'],
    [INTERNAL_ERROR, 'the database is on fire', 'node_trouble'],
    [SERVER_ERROR, 'the database is on fire', 'unknown'],
  ])('with code %s, “%s” is %s', (code, detail, cause) => {
    expect(causeOf({ code, detail })).toBe(cause);
  });
});

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
