/** What the request log keeps of texts with secrets. */
import {
  redactBody,
  redactEncoded,
  redactQuery,
  redactText,
} from '../../../src/services/redaction';

test.each([
  ['{"secret":"cut off', '{"secret":"[redacted]'],
  ['{"api_key" : "x\\"y", "b":"c"}', '{"api_key" : "[redacted]", "b":"c"}'],
  ['a whsec_AbC+/9== b', 'a whsec_[redacted] b'],
  ['\ud800\0', '\ufffd'],
  ['{"a":"Bearer\\nsk_live_abcd"}', '{"a":"Bearer\\nsk_live_[redacted]"}'],
  ['{"a":"\\u0073k_live_abcd","b":1}', '{"a":"sk_live_[redacted]","b":1}'],
  ['{"a":"\\u0073k_live_ab\\u00', '{"a":"sk_live_[redacted]'],
  ['{"\\u0070assword":"x"}', '{"\\u0070assword":"[redacted]"}'],
  ['{"password": 123, "b": 4}', '{"password": "[redacted]", "b": 4}'],
  ['{"tokens":["a",["b"],{"c":"d"}],"e":1}', '{"tokens":"[redacted]","e":1}'],
  ['{"token":{"a":"b', '{"token":"[redacted]"'],
  ["{'password':'x','b':'c'}", "{'password':[redacted],'b':'c'}"],
  ['password="x" b="c"', 'password="[redacted]" b="c"'],
  ['{"beneficiary":{"name":"Ada"},"a":1}', '{"beneficiary":"[redacted]","a":1}'],
  ['{"payouts":[{"beneficiary":{"name":"Ada"}}]}', '{"payouts":[{"beneficiary":"[redacted]"}]}'],
  ['{"password"=>"x","b":1}', '{"password"=>"[redacted]","b":1}'],
  ['{"password"/**/:"x"}', '{"password""[redacted]""[redacted]"}'],
  ['{"a":"{\\"password\\":\\"x\\"}"}', '{"a":"{\\"password\\":\\"[redacted]\\"}"}'],
  ['{"url":"https://a.example/?token=x&b=1"}', '{"url":"https://a.example/?token=[redacted]&b=1"}'],
  ['{"a":"%73k_live_abcd"}', '{"a":"sk_live_[redacted]"}'],
  ['p%61ssword=x&b=1', 'password=[redacted]&b=1'],
  ['<password>x</password>', '<password>[redacted]'],
  ['name="secret"\r\n\r\nx\r\n--', 'name="secret"\r\n\r\n"[redacted]"'],
  [
    '{"pwd":"x","access_key":"y","api key":"z"}',
    `{${['pwd', 'access_key', 'api key'].map((name) => `"${name}":"[redacted]"`).join()}}`,
  ],
  [
    `{"a":"Bearer ${'x'.repeat(20)}","b":"Bearer of this"}`,
    '{"a":"Bearer [redacted]","b":"Bearer of this"}',
  ],
  ['{"a":"100%","b":"\\u0000"}', '{"a":"100%","b":"\\u0000"}'],
  ['{"sk_live_abcd":1}', '{"sk_live_[redacted]":1}'],
  ['{"note":"the token: is kept","amount":"10"}', '{"note":"the token: is kept","amount":"10"}'],
])('the body %s is kept as %s', (text, kept) => {
  expect(redactBody(text)).toBe(kept);
});

test.each([
  ['a=Bearer%20sk_test_abcd&b=%20c', 'a=Bearer sk_test_[redacted]&b=%20c'],
  ['a=api_key_sk_test_abcd', 'a=api_key_sk_test_[redacted]'],
  ['a=%2573k_test_abcd', 'a=sk_test_[redacted]'],
  ['password=x&b=1&b=2', 'password=[redacted]&b=1&b=2'],
  ['p%61ssword=x', 'p%61ssword=[redacted]'],
  ['a[token]=x', 'a[token]=[redacted]'],
  ['a=%7B%22password%22%3A%22x%22%7D', 'a={"password":"[redacted]"}'],
  ['next=/a%3Ftoken%3Dx%26b%3D1', 'next=/a?token=[redacted]&b=1'],
  ['password%3Dx', 'password=[redacted]'],
  ['cursor=abc%2Fd', 'cursor=abc%2Fd'],
  ['a=%00', 'a=%00'],
  ['%ff=%e2%82', '%ff=%e2%82'],
])('the query %s is kept as %s', (text, kept) => {
  expect(redactQuery(text)).toBe(kept);
});

test('a path and a header are kept without secrets', () => {
  expect(redactEncoded('/api/v1/payouts/%73k_live_abcd')).toBe(
    '/api/v1/payouts/sk_live_[redacted]',
  );
  expect(redactEncoded('/api/v1/payouts/a%20b')).toBe('/api/v1/payouts/a%20b');
  expect(redactText('agent_sk_live_abcd')).toBe('agent_sk_live_[redacted]');
});
