/** Which URLs an endpoint may have: the text alone, before anything is resolved. */
import { checkWebhookUrl, type UrlRules } from '../../../src/adapters/webhooks/url-policy';

const RULES: UrlRules = { ownHosts: ['pay.gateway.example'], allowedHosts: [] };
const DEVELOPMENT: UrlRules = { ownHosts: ['localhost'], allowedHosts: ['localhost', '127.0.0.1'] };

const code = (url: string, mode: 'test' | 'live' = 'live', rules = RULES): string | null =>
  checkWebhookUrl(url, mode, rules)?.code ?? null;

test.each([
  'https://example.com',
  'https://example.com/',
  'https://EXAMPLE.com/Hook',
  'HTTPS://example.com/hook',
  'https://example.com:443/hook',
  'https://example.com:8443/hook?a=b&c=%20d',
  'https://a.b.c.example.co.uk/~x/..;/y',
  'https://xn--bcher-kva.example/hook',
  'https://under_score.example/hook',
  'https://93.184.215.14/hook',
  'https://[2606:4700::1111]/hook',
  'https://[2606:4700::1111]:8443/hook',
  'https://localhost.example.com/',
  'https://example.com/?next=http://x@y/#'.slice(0, -1),
  `https://example.com/${'a'.repeat(2048 - 'https://example.com/'.length)}`,
])('allowed in both modes: %s', (url) => {
  expect(code(url)).toBeNull();
  expect(code(url, 'test')).toBeNull();
});

test.each(['http://example.com', 'http://example.com:80/', 'http://example.com:8080/hook'])(
  'allowed in test mode only: %s',
  (url) => {
    expect(code(url, 'test')).toBeNull();
    expect(code(url, 'live')).toBe('url_scheme');
  },
);

test.each([
  ['ftp://example.com', 'url_scheme'],
  ['file:///etc/passwd', 'url_scheme'],
  ['gopher://example.com', 'url_scheme'],
  ['javascript://example.com/%0aalert(1)', 'url_scheme'],
  ['ws://example.com', 'url_scheme'],
  ['//e.com', 'url_malformed'],
  ['e.com', 'url_malformed'],
  ['/hook', 'url_malformed'],
  ['https:e.com', 'url_malformed'],
  ['https:/e.com', 'url_malformed'],
  ['https://', 'url_malformed'],
  ['https:///e.com', 'url_malformed'],
  ['https://:443', 'url_malformed'],
  ['https://?e.com', 'url_malformed'],
  ['https://e.com:443:443', 'url_malformed'],
  ['https://e.com:port', 'url_malformed'],
  ['https://[2606:4700::1111', 'url_malformed'],
  ['', 'url_characters'],
  [`https://example.com/${'a'.repeat(2029)}`, 'url_characters'],
  ['https://e.com\\@10.0.0.1', 'url_characters'],
  ['https:\\\\e.com', 'url_characters'],
  ['https://e.com/a b', 'url_characters'],
  [' https://e.com', 'url_characters'],
  ['https://e.com\n', 'url_characters'],
  ['ht\ttps://e.com', 'url_characters'],
  ['https://e.com/\r\nX-Evil: 1', 'url_characters'],
  ['https://e.com/\0', 'url_characters'],
  ['https://e.com/%00', 'url_characters'],
  ['https://e.com/\x7f', 'url_characters'],
  ['https://bücher.example', 'url_characters'],
  ['https://ｅ.com', 'url_characters'],
  ['https://e。com', 'url_characters'],
  ['https://u:p@e.com', 'url_credentials'],
  ['https://u@e.com', 'url_credentials'],
  ['https://@e.com', 'url_credentials'],
  ['https://e.com@10.0.0.1', 'url_credentials'],
  ['https://e.com/#a', 'url_fragment'],
  ['https://e.com#', 'url_fragment'],
  ['https://e.com#@10.0.0.1', 'url_fragment'],
  ['https://127.1', 'url_host_form'],
  ['https://2130706433', 'url_host_form'],
  ['https://0x7f000001', 'url_host_form'],
  ['https://0x7f.1', 'url_host_form'],
  ['https://0177.0.0.1', 'url_host_form'],
  ['https://017700000001', 'url_host_form'],
  ['https://0', 'url_host_form'],
  ['https://134744072', 'url_host_form'],
  ['https://8.8.2056', 'url_host_form'],
  ['https://127.0.0.1.', 'url_host_form'],
  ['https://256.1.1.1', 'url_host_form'],
  ['https://[0:0:0:0:0:0:0:1]', 'url_host_form'],
  ['https://[::127.0.0.1]', 'url_host_form'],
  ['https://[::ffff:127.0.0.1]', 'url_host_form'],
  ['https://[2606:4700:0::1111]', 'url_host_form'],
  ['https://[fe80::1%25eth0]', 'url_host_form'],
  ['https://%31%32%37.0.0.1', 'url_host_form'],
  ['https://e%2ecom', 'url_host_form'],
  ['https://exa<mple.com', 'url_host_form'],
  ['https://e.com:99999', 'url_host_form'],
  ['https://localhost', 'url_host_name'],
  ['https://LOCALHOST', 'url_host_name'],
  ['https://postgres:5432', 'url_host_name'],
  ['https://com', 'url_host_name'],
  ['https://e.com.', 'url_host_name'],
  ['https://.e.com', 'url_host_name'],
  ['https://e..com', 'url_host_name'],
  ['https://-e.com', 'url_host_name'],
  ['https://e-.com', 'url_host_name'],
  ['https://e.c!m', 'url_host_name'],
  [`https://${'a'.repeat(64)}.com`, 'url_host_name'],
  [`https://${'a.'.repeat(127)}com`, 'url_host_name'],
  ['https://a.localhost', 'url_host_name'],
  ['https://printer.local', 'url_host_name'],
  ['https://metadata.google.internal', 'url_host_name'],
  ['https://1.0.0.127.in-addr.arpa', 'url_host_name'],
  ['https://a.test', 'url_host_name'],
  ['https://a.invalid', 'url_host_name'],
  ['https://a.onion', 'url_host_name'],
  ['https://pay.gateway.example/hook', 'url_host_name'],
  ['https://PAY.gateway.example/hook', 'url_host_name'],
  ['https://e.com:22', 'url_port'],
  ['https://e.com:80', 'url_port'],
  ['https://e.com:0', 'url_port'],
  ['https://e.com:1023', 'url_port'],
  ['https://e.com:6000', 'url_port'],
  ['https://e.com:6667', 'url_port'],
  ['https://e.com:10080', 'url_port'],
])('refused in live mode: %j as %s', (url, expected) => {
  expect(code(url)).toBe(expected);
});

test.each([
  ['http://e.com:25', 'url_port'],
  ['http://e.com:6000', 'url_port'],
  ['http://localhost:8080', 'url_host_name'],
  ['http://u:p@e.com', 'url_credentials'],
])('refused in test mode too: %s as %s', (url, expected) => {
  expect(code(url, 'test')).toBe(expected);
});

test.each(['http://localhost:8080/hook', 'https://localhost:8443', 'http://127.0.0.1:8080/hook'])(
  'development admits %s for test mode alone',
  (url) => {
    expect(code(url, 'test', DEVELOPMENT)).toBeNull();
    expect(code(url.replace('http:', 'https:'), 'live', DEVELOPMENT)).toBe(
      url.includes('localhost') ? 'url_host_name' : null,
    );
  },
);

test('a refusal is a sentence that says what to do', () => {
  const messages = ['', 'x', 'ftp://e.com', 'https://u@e.com', 'https://e.com#', 'https://127.1']
    .concat('https://localhost', 'https://e.com:22')
    .map((url) => checkWebhookUrl(url, 'live', RULES)?.message ?? '');
  for (const message of messages) expect(message).toMatch(/^The [A-Za-z ]+ must .*\.$/s);
  expect(new Set(messages).size).toBe(messages.length);
});
