/** The sandbox's checkouts below HTTP: deposit addresses, shares, and the scenarios' document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKED_NETWORKS, destinationFault } from '../../../src/adapters/destinations';
import { newDeposit } from '../../../src/rails/sandbox/chain';
import { CHECKOUT_SCENARIO_NAMES } from '../../../src/rails/sandbox/checkouts/checkout';
import {
  CHECKOUT_SCENARIOS,
  planScenario,
  shareOf,
} from '../../../src/rails/sandbox/checkouts/scenarios';
import { fromUnits, toUnits } from '../../../src/rails/sandbox/decimal-text';

const DOCUMENT = readFileSync(join(__dirname, '../../../docs/sandbox.md'), 'utf8').replace(
  / +/g,
  ' ',
);

it.each(CHECKED_NETWORKS)('gives valid addresses on %s, a new one each time', (network) => {
  const deposits = Array.from({ length: 200 }, () => newDeposit(network));
  expect(deposits.map(({ payTo }) => destinationFault(network, payTo))).toEqual(
    deposits.map(() => null),
  );
  expect(new Set(deposits.map(({ payTo }) => payTo)).size).toBe(200);
  expect(deposits.every(({ payToMemo }) => (payToMemo !== null) === (network === 'xrpl'))).toBe(
    true,
  );
});

it('gives a payment code inside the exchange, and nothing on a strange network', () => {
  expect(newDeposit(null).payTo).toMatch(/^EP-\d{4}-\d{4}-\d{4}$/);
  expect(() => newDeposit('dogecoin')).toThrow(/dogecoin/);
});

it.each([
  ['25.00000000', '12.50000000', '37.50000000'],
  ['0.00000001', '0.00000001', '0.00000002'],
  ['0.00000003', '0.00000001', '0.00000004'],
  ['999999999999999999.99999999', '499999999999999999.99999999', '1499999999999999999.99999998'],
])('%s: half is %s, and half more %s', (amount, half, halfMore) => {
  expect(shareOf(amount, 'exact')).toBe(amount);
  expect(shareOf(amount, 'half')).toBe(half);
  expect(shareOf(amount, 'half_more')).toBe(halfMore);
});

it.each(['0.00000000', '0.00000001', '10.50000000', '123456789012345678.12345678'])(
  'reads %s into units and back',
  (amount) => {
    expect(fromUnits(toUnits(amount))).toBe(amount);
  },
);

it.each(CHECKOUT_SCENARIO_NAMES)('%s stands in docs/sandbox.md as it is', (name) => {
  expect(DOCUMENT).toContain(`| \`${name}\` | ${CHECKOUT_SCENARIOS[name].summary} |`);
});

it('plans a late payment after the time limit, however near that is', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const dueOf = (expiresAt: string): string | undefined => {
    const order = { scenario: 'late', amount: '1.00000000', expiresAt } as const;
    return planScenario(order, now, { settleMs: 300, slowMs: 5_000 }).at(-1)?.due;
  };
  expect(dueOf('2026-01-01T01:00:00.000Z')).toBe('2026-01-01T01:00:00.300Z');
  expect(dueOf('2025-12-31T00:00:00.000Z')).toBe('2026-01-01T00:00:00.600Z');
});
