import { ApiError } from '../../../src/domain/errors';
import { type ListRequest, createPagination } from '../../../src/kit/api/pagination';

const pagination = createPagination('https://pay.example.com/', 'a secret');
const next = { createdAt: '2026-01-02T03:04:05.678901Z', id: 'po_1' };
const list: ListRequest = {
  caller: { apiKeyId: 'key_1', accountId: 'acc_1', mode: 'test', scopes: [] },
  path: '/api/v1/payouts',
  filters: { status: 'requested,approved', created_from: '2026-01-01T00:00:00+02:00' },
  limit: 10,
};

interface Page {
  links: Record<string, string | null>;
  meta: Record<string, string | number | null>;
}

function present(place: typeof next | null): Page {
  return pagination.present(list, [], place) as Page;
}

function cursorOf(page: Page): string {
  return String(page.meta['next_cursor']);
}

describe('the list envelope', () => {
  it('links to the next page with all filters, the limit and the cursor', () => {
    const page = present(next);
    const url = new URL(String(page.links['next']));
    expect(url.origin + url.pathname).toBe('https://pay.example.com/api/v1/payouts');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      ...list.filters,
      limit: '10',
      cursor: cursorOf(page),
    });
  });

  it('has nulls on the last page and where the contract has no value', () => {
    expect(present(null)).toEqual({
      data: [],
      links: { first: null, last: null, prev: null, next: null },
      meta: {
        path: 'https://pay.example.com/api/v1/payouts',
        per_page: 10,
        next_cursor: null,
        prev_cursor: null,
      },
    });
  });
});

describe('a cursor', () => {
  const cursor = cursorOf(present(next));

  it('leads back to its place, also with another limit', () => {
    expect(pagination.readCursor(list, cursor)).toEqual(next);
    expect(pagination.readCursor({ ...list, limit: 100 }, cursor)).toEqual(next);
  });

  it('is not needed for the first page', () => {
    expect(pagination.readCursor(list, undefined)).toBeNull();
  });

  const asked = (change: Partial<ListRequest>) => ({ ...list, ...change });
  const calling = (change: object) => asked({ caller: { ...list.caller, ...change } });
  it.each<[string, ListRequest, string]>([
    ['of another account', calling({ accountId: 'acc_2' }), cursor],
    ['of the other mode', calling({ mode: 'live' }), cursor],
    ['of other filters', asked({ filters: { status: 'requested' } }), cursor],
    ['of no filters', asked({ filters: {} }), cursor],
    ['of another list', asked({ path: '/api/v1/payments' }), cursor],
    [
      'with a changed character',
      list,
      `${cursor.slice(0, -3)}${cursor.endsWith('A') ? 'B' : 'A'}x`,
    ],
    ['cut short', list, cursor.slice(0, 20)],
    ['with an addition', list, `${cursor}!`],
    ['that is empty', list, ''],
    ['that is rubbish', list, '€'.repeat(1000)],
  ])('%s is refused', (_, request, text) => {
    expect(() => pagination.readCursor(request, text)).toThrow(ApiError);
    try {
      pagination.readCursor(request, text);
    } catch (error) {
      expect(error).toMatchObject({
        code: 'validation_failed',
        details: { fields: [{ field: 'cursor', rule: 'format' }] },
      });
    }
  });

  it('is refused when another secret signed it', () => {
    const other = createPagination('https://pay.example.com', 'another secret');
    expect(() => other.readCursor(list, cursor)).toThrow(ApiError);
  });
});
