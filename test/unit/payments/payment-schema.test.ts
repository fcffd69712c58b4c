import { ApiError, type FieldError } from '../../../src/domain/errors';
import type { Mode } from '../../../src/domain/mode';
import { parseJsonObject } from '../../../src/kit/api/json-text';
import { readPaymentRequest } from '../../../src/features/payments/payments-contract';

const body = { amount: '12.5', currency: 'USDT', reference: 'order#1' };

function read(change: object, mode: Mode = 'test') {
  const text = JSON.stringify({ ...body, ...change });
  return readPaymentRequest(parseJsonObject(Buffer.from(text)), mode);
}

function rules(change: object, mode?: Mode): string[] {
  try {
    read(change, mode);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'validation_failed') throw error;
    return (error.details!['fields'] as FieldError[]).map(({ field, rule }) => `${field} ${rule}`);
  }
  return [];
}

test.each(['anna@shop.example', 'änna+1@büro.example', '💶@shop.example'])(
  'customer_email takes %s',
  (email) => {
    expect(read({ customer_email: email }).customerEmail).toBe(email);
  },
);

test.each([
  ['NUL in its name', 'a\0b@shop.example'],
  ['NUL in its domain', 'anna@sh\0p.example'],
  ['NUL in its ending', 'anna@shop.ex\0mple'],
  ['half a character', '\ud800@shop.example'],
  ['the other half', 'anna@shop.example\udc00'],
  ['two @', 'anna@@shop.example'],
  ['no full stop', 'anna@shop'],
  ['an empty label', 'anna@shop..example'],
  ['a full stop after the @', 'anna@.shop.example'],
  ['a full stop at its end', 'anna@shop.example.'],
  ['a space', 'anna @shop.example'],
])('customer_email does not take %s', (_what, email) => {
  expect(rules({ customer_email: email })).toEqual(['customer_email format']);
});

describe.each(['success_url', 'cancel_url'])('%s', (field) => {
  test.each(['https://shop.example/thanks?a=b#c', 'http://localhost:8080', 'HTTPS://shop.example'])(
    'takes %s',
    (url) => {
      expect(rules({ [field]: url })).toEqual([]);
    },
  );

  test.each([
    ['no slashes', 'https:foo'],
    ['one slash', 'https:/shop.example'],
    ['backslashes', 'https:\\\\shop.example'],
    ['a space before it', ' https://shop.example'],
    ['a line before it', '\nhttps://shop.example'],
    ['a tab in its scheme', 'ht\ttps://shop.example'],
    ['another scheme', 'ftp://shop.example'],
    ['a script', 'javascript:alert(1)'],
    ['no host', 'https://'],
    ['a path alone', '/thanks'],
    ['a line break', 'https://shop.example/\r\nthanks'],
    ['a tab', 'https://shop.example/tha\tnks'],
    ['another control character', 'https://shop.example/tha\u0085nks'],
    ['a space', 'https://shop.example/a b'],
    ['a space after it', 'https://shop.example '],
    ['a backslash', 'https://shop.example\\@evil.example'],
    ['a user name', 'https://shop.example@evil.example/thanks'],
    ['a user name and a password', 'https://shop:secret@shop.example/thanks'],
    ['an empty user name', 'https://@shop.example/'],
  ])('does not take %s', (_what, url) => {
    expect(rules({ [field]: url })).toEqual([`${field} format`]);
  });

  test.each([
    'HTTPS://SHOP.example',
    'https://shop.example:443/a/../b?q=ä#c',
    'https://bücher.example/',
  ])('stores %s as it was sent', (url) => {
    const { successUrl, cancelUrl } = read({ [field]: url });
    expect(field === 'success_url' ? successUrl : cancelUrl).toBe(url);
  });

  test('takes http in test mode alone', () => {
    expect(rules({ [field]: 'http://shop.example' }, 'live')).toEqual([`${field} format`]);
    expect(rules({ [field]: 'https://shop.example' }, 'live')).toEqual([]);
  });
});

test('a text that is too long is not matched with a pattern', () => {
  expect(rules({ customer_email: ' '.repeat(255) })).toEqual(['customer_email too_long']);
  expect(rules({ customer_email: '💶'.repeat(255) })).toEqual(['customer_email too_long']);
  expect(rules({ success_url: '\0'.repeat(2049) })).toEqual(['success_url too_long']);
});

const longUrl = (length: number) => `https://shop.example/`.padEnd(length, 'a');
const longEmail = (length: number) => `${'a'.repeat(length - '@shop.example'.length)}@shop.example`;
const metadata = (members: number, key: number, value: number) =>
  Object.fromEntries(
    Array.from({ length: members }, (_, n) => [`${n}`.padStart(key, 'k'), 'v'.repeat(value)]),
  );

// The largest that is taken, and what is one more (decisions/payments#payment-request).
test.each<[string, object, object, RegExp]>([
  ['reference', { reference: '~'.repeat(64) }, { reference: '~'.repeat(65) }, /^reference /],
  ['reference, characters', { reference: '!#~' }, { reference: 'a b' }, /^reference format$/],
  ['description', { description: 'ä'.repeat(255) }, { description: 'ä'.repeat(256) }, /^descr/],
  ['description', { description: 'a\tb' }, { description: 'a\u202eb' }, /^descr/],
  ['customer_email', { customer_email: longEmail(254) }, { customer_email: longEmail(255) }, /^cu/],
  ['success_url', { success_url: longUrl(2048) }, { success_url: longUrl(2049) }, /^success_url /],
  ['cancel_url', { cancel_url: longUrl(2048) }, { cancel_url: longUrl(2049) }, /^cancel_url /],
  [
    'metadata, members',
    { metadata: metadata(20, 2, 1) },
    { metadata: metadata(21, 2, 1) },
    /^meta/,
  ],
  ['metadata, keys', { metadata: metadata(1, 40, 1) }, { metadata: metadata(1, 41, 1) }, /^meta/],
  ['metadata, values', { metadata: metadata(1, 2, 500) }, { metadata: metadata(1, 2, 501) }, /^me/],
  ['expires_in, at least', { expires_in: 5 }, { expires_in: 4 }, /^expires_in /],
  ['expires_in, at most', { expires_in: 86_400 }, { expires_in: 86_401 }, /^expires_in /],
  ['expires_in, whole seconds', { expires_in: 301 }, { expires_in: 300.5 }, /^expires_in /],
])('the bounds of %s', (_field, taken, refused, rule) => {
  expect(rules(taken)).toEqual([]);
  expect(rules(refused)).toEqual([expect.stringMatching(rule)]);
});

test('a payment without expires_in is open for an hour', () => {
  expect(read({}).expiresInSeconds).toBe(3600);
  expect(read({ expires_in: 300 }).expiresInSeconds).toBe(300);
});

test('in live mode expires_in is at least 300 seconds', () => {
  expect(rules({ expires_in: 300 }, 'live')).toEqual([]);
  expect(rules({ expires_in: 299 }, 'live')).toEqual(['expires_in type']);
});

test.each(['underpaid', 'expired', 'late'])(
  'the scenario %s ends soon in test mode',
  (scenario) => {
    const metadata = { scenario };
    expect(read({ metadata }).expiresInSeconds).toBe(10);
    expect(read({ metadata, expires_in: 900 }).expiresInSeconds).toBe(900);
    expect(read({ metadata }, 'live').expiresInSeconds).toBe(3600);
    expect(read({ metadata: { scenario: 'completed' } }).expiresInSeconds).toBe(3600);
  },
);

test('unknown fields of a payment are refused with the names that exist', () => {
  expect(() => read({ memo: 'x' })).toThrow(
    expect.objectContaining({
      details: {
        fields: [
          {
            field: 'memo',
            rule: 'unsupported',
            message: expect.stringMatching(
              /^Unknown field memo. Remove it, or use one of amount, /,
            ),
          },
        ],
      },
    }),
  );
});
