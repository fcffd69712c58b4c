import { ApiError, type FieldError } from '../../../src/domain/errors';
import { parseJsonObject } from '../../../src/kit/api/json-text';
import { readPayoutRequest } from '../../../src/features/payouts/payouts-contract';

const destination = { type: 'crypto_address', value: 'TXYZabc123' };
const body = { amount: '12.5', currency: 'USDT', reference: 'order_1-A', destination };

function read(value: object) {
  return readPayoutRequest(parseJsonObject(Buffer.from(JSON.stringify(value))));
}

function refusedFields(value: object): FieldError[] {
  try {
    read(value);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'validation_failed') throw error;
    return error.details!['fields'] as FieldError[];
  }
  return [];
}

function rules(value: object): string[] {
  return refusedFields(value).map(({ field, rule }) => `${field} ${rule}`);
}

const to = (change: object) => ({ ...body, destination: { ...destination, ...change } });
const about = (metadata: unknown) => ({ ...body, metadata });
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

describe('a payout request', () => {
  it('needs four members; the others become null and {}, and nobody said whether there is a memo', () => {
    expect(read(body)).toEqual({
      amount: '12.50000000',
      currency: 'USDT',
      reference: 'order_1-A',
      destination: { ...destination, memo: undefined },
      network: null,
      provider: null,
      description: null,
      metadata: {},
    });
  });

  it('keeps every optional member', () => {
    const optional = {
      network: 'tron',
      provider: 'onchain_provider',
      description: 'a 💶 description',
      metadata: { 'a key': '', __proto: 'x' },
    };
    const request = read({ ...to({ memo: '42' }), ...optional });
    expect(request).toMatchObject({ ...optional, destination: { memo: '42' } });
  });

  it('takes null for an optional member, and an empty memo, as absent; a memo of null says that there is none', () => {
    const nulls = { network: null, provider: null, description: null, metadata: null };
    expect(read({ ...body, ...nulls })).toEqual(read(body));
    expect(read(to({ memo: null })).destination!.memo).toBeNull();
    expect(read(to({ memo: '' }))).toEqual(read(body));
  });

  it.each<[string, object, string]>([
    ['amount as text with an exponent', { ...body, amount: '1e2' }, 'amount format'],
    ['amount with a sign', { ...body, amount: '+1' }, 'amount format'],
    ['amount with 9 decimals', { ...body, amount: '1.123456789' }, 'amount format'],
    ['amount with 19 digits', { ...body, amount: '1'.repeat(19) }, 'amount format'],
    ['amount with 40 digits as a number', { ...body, amount: 1e40 }, 'amount format'],
    ['negative amount', { ...body, amount: -5 }, 'amount format'],
    ['amount of zero', { ...body, amount: '0.00' }, 'amount min_amount'],
    ['amount of zero as a number', { ...body, amount: 0 }, 'amount min_amount'],
    ['amount as an array', { ...body, amount: ['1'] }, 'amount type'],
    ['amount null', { ...body, amount: null }, 'amount type'],
    ['currency in small letters', { ...body, currency: 'usdt' }, 'currency format'],
    ['currency as a number', { ...body, currency: 5 }, 'currency type'],
    ['reference empty', { ...body, reference: '' }, 'reference too_short'],
    ['reference of 65', { ...body, reference: 'a'.repeat(65) }, 'reference too_long'],
    ['reference with a space', { ...body, reference: 'a b' }, 'reference format'],
    ['reference with a newline at its end', { ...body, reference: 'a\n' }, 'reference format'],
    ['reference as a number', { ...body, reference: 5 }, 'reference type'],
    ['destination as text', { ...body, destination: 'x' }, 'destination type'],
    ['destination as a number', { ...body, destination: 5 }, 'destination type'],
    ['destination as an array', { ...body, destination: [] }, 'destination type'],
    ['unknown destination type', to({ type: 'iban' }), 'destination.type unsupported'],
    ['empty destination value', to({ value: '' }), 'destination.value too_short'],
    ['long destination value', to({ value: 'a'.repeat(256) }), 'destination.value too_long'],
    ['address with a space', to({ value: 'a b' }), 'destination.value format'],
    ['address with a NUL', to({ value: 'a\0' }), 'destination.value format'],
    ['address with a zero-width space', to({ value: 'a\u200b' }), 'destination.value format'],
    [
      'exchange id of 21 digits',
      to({ type: 'exchange_id', value: '1'.repeat(21) }),
      'destination.value format',
    ],
    [
      'exchange id with a letter',
      to({ type: 'exchange_id', value: '12a' }),
      'destination.value format',
    ],
    ['email without a domain', to({ type: 'email', value: 'a@b' }), 'destination.value format'],
    ['email with two @', to({ type: 'email', value: 'a@b@c.de' }), 'destination.value format'],
    [
      'email of 255',
      to({ type: 'email', value: `a@${'b.'.repeat(125)}com` }),
      'destination.value too_long',
    ],
    ['memo of 65', to({ memo: 'm'.repeat(65) }), 'destination.memo too_long'],
    ['memo with a NUL', to({ memo: '\0' }), 'destination.memo format'],
    ['memo as a number', to({ memo: 42 }), 'destination.memo type'],
    ['mistyped memo', to({ mem0: '42' }), 'destination.mem0 unsupported'],
    ['memo beside the destination', { ...body, memo: '42' }, 'memo unsupported'],
    ['unknown member that is null', { ...body, memo: null }, 'memo unsupported'],
    ['empty network', { ...body, network: '' }, 'network too_short'],
    ['unknown provider', { ...body, provider: 'bank' }, 'provider unknown_provider'],
    ['provider as a number', { ...body, provider: 1 }, 'provider type'],
    ['description of 256', { ...body, description: '💶'.repeat(256) }, 'description too_long'],
    ['description with a NUL', { ...body, description: 'a\0b' }, 'description format'],
    ['description with ESC', { ...body, description: 'a\u001b[2J' }, 'description format'],
    ['description with U+009B', { ...body, description: 'a\u009b2J' }, 'description format'],
    ['description with U+202E', { ...body, description: 'a\u202etxt' }, 'description format'],
    ['description with an isolate', { ...body, description: 'a\u2066b' }, 'description format'],
    ['description with half a character', { ...body, description: '\ud83d' }, 'description format'],
    ['metadata as an array', about(['a']), 'metadata type'],
    ['metadata with 21 members', about(members(21)), 'metadata too_long'],
    ['metadata with a number', about({ a: 1 }), 'metadata.a type'],
    ['metadata with an object', about({ a: {} }), 'metadata.a type'],
    ['metadata with null', about({ a: null }), 'metadata.a type'],
    ['metadata with a long value', about({ a: 'v'.repeat(501) }), 'metadata.a too_long'],
    ['metadata with a NUL', about({ a: '\0' }), 'metadata.a format'],
    ['metadata with an empty name', about({ '': 'v' }), 'metadata. too_short'],
    [
      'metadata with a long name',
      about({ ['k'.repeat(41)]: 'v' }),
      `metadata.${'k'.repeat(41)} too_long`,
    ],
  ])('is refused for: %s', (_, value, expected) => {
    expect(rules(value)).toEqual([expected]);
  });

  it.each<[string, object]>([
    ['reference of 64', { ...body, reference: 'a'.repeat(64) }],
    ['memo of 64 characters outside the basic plane', to({ memo: '💶'.repeat(64) })],
    [
      'description of 255 characters outside the basic plane',
      { ...body, description: '💶'.repeat(255) },
    ],
    ['two lines of a description', { ...body, description: 'شكرا\u200f\n\tاثنان 👩‍💻' }],
    ['20 members of metadata', about(members(20))],
    ['the longest name and value', about({ ['💶'.repeat(40)]: '💶'.repeat(500) })],
    ['exchange id of 20 digits', to({ type: 'exchange_id', value: '1'.repeat(20) })],
    ['email with a tag', to({ type: 'email', value: "o'neil+tag@mail.example.com" })],
    ['the largest amount', { ...body, amount: `${'9'.repeat(18)}.99999999` }],
  ])('is accepted with: %s', (_, value) => {
    expect(rules(value)).toEqual([]);
  });

  it('names every failing field at once, each with a sentence', () => {
    const fields = refusedFields({
      amount: 'x',
      destination: { type: 'email', memo: 5 },
      extra: 1,
    });
    expect(fields.map(({ field, rule }) => `${field} ${rule}`).sort()).toEqual([
      'amount format',
      'currency required',
      'destination.memo type',
      'destination.value required',
      'extra unsupported',
      'reference required',
    ]);
    for (const { message } of fields) expect(message).toMatch(/^[A-Z].*\.$/);
  });

  it('with thousands of unknown members is refused with a bounded answer', () => {
    expect(refusedFields(members(5000)).length).toBeLessThan(200);
  });
});
