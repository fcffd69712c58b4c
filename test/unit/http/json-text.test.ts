import fc from 'fast-check';
import { ApiError } from '../../../src/domain/errors';
import { parseJsonObject } from '../../../src/kit/api/json-text';
import { amountAsText } from '../../../src/kit/api/body';
import { scaled } from '../../support/scale';

function refusal(bytes: Buffer): string {
  try {
    parseJsonObject(bytes);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_json') return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a body', () => {
  it.each<[string, string | Buffer, string]>([
    ['empty', '', 'The body is empty'],
    ['cut off', '{"a":"b', 'not valid JSON'],
    ['followed by more', '{"a":1} {}', 'not valid JSON'],
    ['not valid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'not valid UTF-8'],
    ['with half a character at its end', Buffer.from('{"a":"é').subarray(0, 7), 'not valid UTF-8'],
    ['with a raw NUL in a string', '{"a":"\0"}', 'not valid JSON'],
    ['a lone NUL', '\0', 'not valid JSON'],
    ['with a member twice', '{"a":"1","a":"2"}', "Duplicate key 'a'"],
    ['with a member twice with one value', '{"a":"1","a":"1"}', 'duplicate keys'],
    ['with a member twice further down', '{"a":[{"b":{"c":1,"c":1}}]}', 'duplicate keys'],
    ['with a member twice in two spellings', '{"a":1,"\\u0061":1}', 'duplicate keys'],
    ['nested too deep', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`, 'deeper than 32'],
    ['nested to the end', '['.repeat(65_536), 'deeper than 32'],
    ['an array', '[]', 'must be a JSON object'],
    ['a number', '12', 'must be a JSON object'],
    ['null', 'null', 'must be a JSON object'],
    ['with NaN', '{"a":NaN}', 'not valid JSON'],
    ['with a leading zero', '{"a":01}', 'not valid JSON'],
    ['with a comment', '{/* */}', 'not valid JSON'],
    ['with a comma too many', '{"a":1,}', 'not valid JSON'],
  ])('%s is refused with a sentence', (_, body, sentence) => {
    const message = refusal(Buffer.from(body));
    expect(message).toContain(sentence);
    expect(message).toContain('Send a JSON object');
    expect(message.length).toBeLessThan(400);
  });

  it('may nest as deep as the limit, and hold brackets, colons and escapes in strings', () => {
    const deep = `{"a":${'['.repeat(31)}${']'.repeat(31)}}`;
    expect(parseJsonObject(Buffer.from(deep))).toHaveProperty('a');
    const odd = { 'a:"\\': '[{:"\\', b: { c: [{ d: '}}]]::' }] } };
    expect(parseJsonObject(Buffer.from(JSON.stringify(odd)))).toEqual(odd);
  });

  it('keeps a member named __proto__ as a member', () => {
    const value = parseJsonObject(Buffer.from('{"__proto__":{"admin":true}}'));
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(value['admin']).toBeUndefined();
  });

  it('made of any bytes is read or refused, never a fault', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(refusal(Buffer.from(bytes))).toContain('Send a JSON object');
      }),
      { numRuns: scaled(500, 20_000) },
    );
  });

  it('made of any JSON object without numbers reads as JSON.parse reads it', () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(value, (object) => {
        const text = JSON.stringify(object, (_, member: unknown) =>
          typeof member === 'number' ? String(member) : member,
        );
        expect(parseJsonObject(Buffer.from(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: scaled(200, 10_000) },
    );
  });
});

describe('a JSON number for the amount becomes text with the same digits', () => {
  it.each([
    ['0.1', '0.1'],
    ['100', '100'],
    ['1e2', '100'],
    ['1.5E+3', '1500'],
    ['1e-8', '0.00000001'],
    ['12345678901234567.12345678', '12345678901234567.12345678'],
    ['1234567890123456789012345678901234567890', '1234567890123456789012345678901234567890'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['-1', '-1'],
    ['1e999999999', '1e999999999'],
  ])('%s', (number, text) => {
    const body = parseJsonObject(Buffer.from(`{"amount":${number}}`));
    expect(amountAsText(body)).toEqual({ amount: text });
  });

  it('and no other number does', () => {
    const body = parseJsonObject(
      Buffer.from('{"amount":"1","reference":5,"metadata":{"amount":1}}'),
    );
    expect(amountAsText(body)).toEqual({ amount: '1', reference: NaN, metadata: { amount: NaN } });
  });
});
