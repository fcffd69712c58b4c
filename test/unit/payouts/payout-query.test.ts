import { ApiError, type FieldError } from '../../../src/domain/errors';
import { readPayoutQuery } from '../../../src/features/payouts/payouts-contract';

function refused(query: Record<string, string | string[]>): string[] {
  try {
    readPayoutQuery(query);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.details!['fields'] as FieldError[]).map(({ field, rule }) => `${field} ${rule}`);
  }
  return [];
}

describe('the query of the payout list', () => {
  it('asks for 25 without filters when it is empty, and refuses unknown parameters', () => {
    const empty = { limit: 25, cursor: undefined, filters: {}, filterTexts: {} };
    expect(readPayoutQuery({})).toEqual(empty);
    expect(refused({ page: '2', sort: ['a', 'b'] })).toEqual([
      'page unsupported',
      'sort unsupported',
    ]);
  });

  it('reads all filters and keeps their text for the next link', () => {
    const texts = {
      status: 'approved,requested,approved',
      reference: 'order_1',
      currency: 'USDT',
      provider: 'exchange_pay',
      created_from: '2026-01-31',
      created_to: '2026-02-01',
    };
    expect(readPayoutQuery({ ...texts, limit: '100', cursor: 'c' })).toEqual({
      limit: 100,
      cursor: 'c',
      filters: {
        status: ['requested', 'approved'],
        reference: 'order_1',
        currency: 'USDT',
        provider: 'exchange_pay',
        createdFrom: '2026-01-31T00:00:00Z',
        createdTo: '2026-02-01T23:59:59.999999Z',
      },
      filterTexts: texts,
    });
  });

  it.each([
    ['2026-01-31T12:00Z', '2026-01-31T12:00Z'],
    ['2026-01-31T12:00:00.123456+02:00', '2026-01-31T12:00:00.123456+02:00'],
    ['2026-01-31T12:00:00 02:00', '2026-01-31T12:00:00+02:00'],
    ['2024-02-29T23:59:59-11:30', '2024-02-29T23:59:59-11:30'],
  ])('reads the time %s', (text, time) => {
    expect(readPayoutQuery({ created_to: text }).filters).toEqual({ createdTo: time });
  });

  it.each([
    '',
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-01-31T25:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31 12:00:00Z',
    '0000-01-01',
    '2026-01-31T12:00:00+15:00',
    '1767225600',
    '2026-1-1',
  ])('refuses the time "%s"', (text) => {
    expect(refused({ created_from: text })).toEqual(['created_from format']);
    expect(refused({ created_to: text })).toEqual(['created_to format']);
  });

  it.each<[string, Record<string, string | string[]>, string]>([
    ['limit 0', { limit: '0' }, 'limit format'],
    ['limit 101', { limit: '101' }, 'limit format'],
    ['limit with a sign', { limit: '+5' }, 'limit format'],
    ['limit in words', { limit: 'all' }, 'limit format'],
    ['limit empty', { limit: '' }, 'limit format'],
    ['limit twice', { limit: ['1', '2'] }, 'limit format'],
    ['unknown status', { status: 'requested,paid' }, 'status unsupported'],
    ['empty status', { status: '' }, 'status unsupported'],
    ['reference with a space', { reference: 'a b' }, 'reference format'],
    ['small currency', { currency: 'usdt' }, 'currency format'],
    ['unknown provider', { provider: 'bank' }, 'provider unknown_provider'],
    ['cursor twice', { cursor: ['a', 'b'] }, 'cursor format'],
  ])('refuses: %s', (_, query, expected) => {
    expect(refused(query)).toEqual([expected]);
  });

  it('names every bad parameter at once', () => {
    expect(refused({ limit: 'x', status: 'y', currency: 'z' }).sort()).toEqual([
      'currency format',
      'limit format',
      'status unsupported',
    ]);
  });
});
