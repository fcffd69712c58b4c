import { amount } from '../../../src/domain/money';
import { needsSecondPerson, secondPersonUntil } from '../../../src/domain/second-person';

test('an amount above what the person may still move alone needs a second person, and one that meets it does not', () => {
  const asked = amount('100');
  expect(needsSecondPerson(amount('99.99999999'), asked)).toBe(true);
  expect(needsSecondPerson(asked, asked)).toBe(false);
  expect(needsSecondPerson(null, asked)).toBe(false);
});

test('a second person has seven days', () => {
  expect(secondPersonUntil(new Date('2026-01-28T12:00:00Z'))).toEqual(
    new Date('2026-02-04T12:00:00Z'),
  );
});
