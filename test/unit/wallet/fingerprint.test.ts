import {
  hasMark,
  markFees,
  markFeesBelow,
  markGas,
} from '../../../src/rails/wallet/sender/fingerprint';

const GWEI = 10n ** 9n;
const FEES = { maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: GWEI };
const STEP = 1n << 20n;

test('a transaction has the mark of its transfer in the gas limit and in the maximum fee', () => {
  const gas = markGas(65_000n, 'po_a');
  const { maxFeePerGas, maxPriorityFeePerGas } = markFees(FEES, 'po_a');
  expect(gas - 65_000n).toBeLessThan(4_096n);
  expect(maxFeePerGas - FEES.maxFeePerGas).toBeLessThan(STEP);
  expect(maxPriorityFeePerGas).toBe(FEES.maxPriorityFeePerGas);
  expect(hasMark({ gas, maxFeePerGas }, 'po_a')).toBe(true);
  expect(hasMark({ gas: gas + 1n, maxFeePerGas }, 'po_a')).toBe(false);
  expect(hasMark({ gas, maxFeePerGas: maxFeePerGas + 1n }, 'po_a')).toBe(false);
});

test('references with the same mark in the gas limit differ in the fees', () => {
  const gas = markGas(65_000n, 'po_14');
  expect(markGas(65_000n, 'po_22')).toBe(gas);
  const { maxFeePerGas } = markFees(FEES, 'po_14');
  expect(hasMark({ gas, maxFeePerGas }, 'po_22')).toBe(false);
});

test('the mark keeps the maximum fee below the cap, and the tip below the maximum', () => {
  const marked = markFeesBelow({ maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI }, 'po_a', GWEI);
  expect(marked.maxFeePerGas).toBeLessThanOrEqual(GWEI);
  expect(marked.maxPriorityFeePerGas).toBe(marked.maxFeePerGas);
  expect(hasMark({ gas: markGas(21_000n, 'po_a'), ...marked }, 'po_a')).toBe(true);
});

test('a cap without room for the mark leaves the fees as they are', () => {
  const fees = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n };
  expect(markFeesBelow(fees, 'po_a', 10n)).toEqual(fees);
});
