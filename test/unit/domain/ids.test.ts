import { ID_PREFIXES, type IdKind, isId } from '../../../src/domain/ids';
import { newId } from '../../../src/platform/lib/new-id';

const KINDS = Object.keys(ID_PREFIXES) as IdKind[];

test.each(KINDS)('a new %s id is one of its own kind and of no other', (kind) => {
  const id = newId(kind);
  expect(id).toHaveLength(ID_PREFIXES[kind].length + 26);
  expect(KINDS.filter((other) => isId(other, id))).toEqual([kind]);
});

test('no two kinds share a prefix', () => {
  expect(new Set(Object.values(ID_PREFIXES)).size).toBe(KINDS.length);
});

test('ids sort in the order they were made, also when the clock steps back', () => {
  const now = jest.spyOn(Date, 'now');
  const ids: string[] = [];
  for (const time of [2_000_000_000_000, 2_000_000_000_000, 1_900_000_000_000, 2_000_000_000_001]) {
    now.mockReturnValue(time);
    ids.push(newId('payout'), newId('payout'));
  }
  now.mockRestore();
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  '',
  'po_',
  'po_0123',
  `po_${'0'.repeat(25)}`,
  `po_${'0'.repeat(27)}`,
  `po_8${'0'.repeat(25)}`,
  `po_${'0'.repeat(25)}I`,
  `po_${'0'.repeat(25)}a`,
  `po_${'0'.repeat(25)} `,
  `po_${'0'.repeat(26)}\n`,
  `PO_${'0'.repeat(26)}`,
  `pay_${'0'.repeat(26)}`,
  `po_${'0'.repeat(24)}'--`,
])('%j is no payout id', (text) => {
  expect(isId('payout', text)).toBe(false);
});
