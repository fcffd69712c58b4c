/** What the request log keeps of texts with secrets. */
import {
  redactBody,
  redactEncoded,
  redactQuery,
  redactText,
} from '../../../src/features/request-log/redaction';

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

/** Each with the part that may not be kept. */
const PLANTED: Record<string, [text: string, hidden: string]> = {
  'a key of the gateway': ['sk_live_Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a webhook secret': ['whsec_Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a bearer token': ['Bearer Qx7Rt2Vb9Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a basic credential': ['Basic c2hvcDpodW50ZXIy', 'c2hvcDpodW50ZXIy'],
  'a password in a URL': ['postgres://shop:Qx7Rt2Vb9@db.example/shop', 'Qx7Rt2Vb9'],
  'a password with @ in a URL': ['https://u:Qx7@Rt2Vb9@shop.example', 'Rt2Vb9'],
  'a JSON web token': ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a private key': [
    '-----BEGIN EC PRIVATE KEY-----\nQx7Rt2Vb9\n-----END EC PRIVATE KEY-----',
    'Qx7Rt2Vb9',
  ],
  'a private key that is cut off': ['-----BEGIN PRIVATE KEY-----\nQx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a token after =': ['use refresh_token=Qx7Rt2Vb9 now', 'Qx7Rt2Vb9'],
  'a password after a colon': ['my password: Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a key of two words': ['the api key:Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a parameter of a URL': ['https://shop.example/?a=1&client_secret=Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a parameter in another': ['/?next=b?token=Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a webhook of Slack': ['https://hooks.slack.com/services/T0/B0/Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a webhook of Discord': ['https://discord.com/api/webhooks/17/Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a bot of Telegram': ['https://api.telegram.org/bot17:Qx7Rt2Vb9/sendMessage', 'Qx7Rt2Vb9'],
  'a webhook of Teams': ['https://a.webhook.office.com/webhookb2/Qx7Rt2Vb9', 'Qx7Rt2Vb9'],
  'a webhook of Google Chat': [
    'https://chat.googleapis.com/v1/spaces/A/m?key=Qx7Rt2Vb9',
    'Qx7Rt2Vb9',
  ],
};
const PLACES: Record<string, (planted: string) => string> = {
  'a field': (planted) => redactBody(JSON.stringify({ note: planted, amount: '10' })),
  'the midst of a sentence': (planted) =>
    redactBody(JSON.stringify({ note: `See ${planted} here` })),
  'JSON inside a text': (planted) =>
    redactBody(JSON.stringify({ note: JSON.stringify({ a: [planted] }) })),
  'a list of metadata': (planted) => redactBody(JSON.stringify({ metadata: { a: [1, planted] } })),
  'a body that is cut off': (planted) =>
    redactBody(`{"a":1,"note":${JSON.stringify(planted).slice(0, -1)}`),
  'a body that is no JSON': (planted) => redactBody(planted),
  'a query': (planted) => redactQuery(`note=${encodeURIComponent(planted)}&a=1`),
  'a path or a header': (planted) => redactEncoded(`/a/${encodeURIComponent(planted)}`),
};

test.each(
  Object.entries(PLANTED).flatMap(([what, [text, hidden]]) =>
    Object.entries(PLACES).map(([place, keep]) => ({ what, place, text, hidden, keep })),
  ),
)('$what is not kept in $place', ({ text, hidden, keep }) => {
  expect(text).toContain(hidden);
  expect(keep(text)).not.toContain(hidden);
  expect(keep(text)).toContain('[redacted]');
});

test.each([
  'Basic information about the secret of our tokens',
  'https://shop.example/@ada/orders?mail=ada@shop.example',
  'A cookie: two pieces; seed: none',
  'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC',
])('%s is kept', (text) => {
  expect(redactBody(JSON.stringify({ text }))).toBe(JSON.stringify({ text }));
});

test.each([
  ...[
    'seed',
    '?pwd.',
    '?pwd',
    '&pwd.',
    'token: ',
    'token ',
    'eyJ-',
    '://a@',
    '"',
    '["',
    '%2525',
    '=',
  ],
  ...['-----BEGIN ', 'Basic ', ' '],
])('a body of %s takes a time that grows with its length alone', (part) => {
  const cpuMs = (length: number) => {
    const text = part.repeat(length / part.length);
    const start = process.cpuUsage();
    redactBody(text);
    redactBody(JSON.stringify({ token: 1, text }));
    redactQuery(text);
    return process.cpuUsage(start).user / 1_000;
  };
  cpuMs(4_096);
  // A quadratic search of a quarter of a megabyte takes minutes.
  expect(cpuMs(262_144)).toBeLessThan(10_000);
});
