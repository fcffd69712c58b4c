/**
 * Where the sender goes: what names resolve to at save time and at the attempt, on a name server of
 * the test's own. A trap on a forbidden address of this machine counts who knocks: nobody may.
 */
import { readAddressRules } from '../../../src/adapters/webhooks/address-policy';
import type { AttemptFailure } from '../../../src/adapters/webhooks/attempt-result';
import { dial } from '../../../src/adapters/webhooks/connect';
import {
  createWebhookSender,
  DEFAULT_LIMITS,
  type SenderSettings,
} from '../../../src/adapters/webhooks/sender';
import { type AnswerQuestion, type DnsStub, startDnsStub } from './dns-stub';
import {
  answer,
  type RawReceiver,
  startReceiver,
  startTrap,
  type Trap,
} from '../../support/webhook/raw-receiver';
import {
  attempt,
  EVENT,
  failed,
  outcomeOf,
  succeeded,
  withSender,
} from '../../support/webhook/sender-steps';

const PUBLIC = '93.184.215.14';
const PUBLIC_V6 = '2606:4700::1111';
const RECEIVER = '127.0.0.1';

let trap: Trap;
let receiver: RawReceiver;
let dns: DnsStub;
/** What the name server says; each test sets its own. */
let zone: AnswerQuestion = () => 'no such name';

beforeAll(async () => {
  trap = await startTrap();
  receiver = await startReceiver(answer('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  dns = await startDnsStub((name, kind, nth) => zone(name, kind, nth));
});

beforeEach(() => {
  dns.questions.length = 0;
  receiver.connections = 0;
});

afterEach(() => expect(trap.connections).toBe(0));

afterAll(async () => {
  await Promise.all([trap.close(), receiver.close(), dns.close()]);
});

const withDns = (settings: Partial<SenderSettings> = {}): Partial<SenderSettings> => ({
  dnsServers: [dns.server],
  ...settings,
});

/** The same answer whoever asks, however often. */
const always =
  (addresses: Partial<Record<'A' | 'AAAA', string[]>>): AnswerQuestion =>
  (_name, kind) =>
    addresses[kind] ?? [];

const trapZone = (): AnswerQuestion =>
  always(trap.address.includes(':') ? { AAAA: [trap.address] } : { A: [trap.address] });

describe('when an endpoint is saved', () => {
  const check = (url: string, mode: 'test' | 'live' = 'live') =>
    withSender(withDns({ allowCidrs: [] }), (sender) => sender.check(url, mode));

  test.each([
    ['http://example.com', 'url_scheme'],
    ['ftp://example.com', 'url_scheme'],
    ['file:///etc/passwd', 'url_scheme'],
    ['//e.com', 'url_malformed'],
    ['https://u:p@e.com', 'url_credentials'],
    ['https://127.0.0.1', 'url_blocked'],
    ['https://127.1', 'url_host_form'],
    ['https://2130706433', 'url_host_form'],
    ['https://0x7f000001', 'url_host_form'],
    ['https://0177.0.0.1', 'url_host_form'],
    ['https://0', 'url_host_form'],
    ['https://10.0.0.1', 'url_blocked'],
    ['https://172.31.255.255', 'url_blocked'],
    ['https://192.168.1.1', 'url_blocked'],
    ['https://169.254.169.254', 'url_blocked'],
    ['https://[::1]', 'url_blocked'],
    ['https://[::ffff:127.0.0.1]', 'url_host_form'],
    ['https://[::ffff:7f00:1]', 'url_blocked'],
    ['https://[::127.0.0.1]', 'url_host_form'],
    ['https://[::7f00:1]', 'url_blocked'],
    ['https://[64:ff9b::a9fe:a9fe]', 'url_blocked'],
    ['https://[2002:7f00:1::]', 'url_blocked'],
    ['https://[fd00::1]', 'url_blocked'],
    ['https://[fe80::1]', 'url_blocked'],
    ['https://localhost', 'url_host_name'],
    ['https://postgres:5432', 'url_host_name'],
    ['https://e.com:22', 'url_port'],
    ['https://e.com\\@10.0.0.1', 'url_characters'],
  ])('%s is refused as %s', async (url, code) => {
    zone = always({ A: [PUBLIC] });
    expect(await check(url)).toMatchObject({ ok: false, code });
    expect(dns.questions).toEqual([]);
  });

  test('a name with public addresses is taken, and both kinds were asked', async () => {
    zone = always({ A: [PUBLIC], AAAA: [PUBLIC_V6] });
    expect(await check('HTTPS://Shop.example:443/a/../hook')).toEqual({
      ok: true,
      url: 'https://shop.example/hook',
    });
    expect(dns.questions.toSorted()).toEqual(['A shop.example', 'AAAA shop.example']);
  });

  test.each([
    ['no such name', 'no such name', 'dns_error', /does not resolve/],
    ['a name without addresses', [], 'dns_error', /does not resolve/],
    ['a name server in trouble', 'server failure', 'dns_error', /could not be resolved/],
  ] as const)('%s is refused', async (_, says, code, sentence) => {
    zone = () => says;
    const verdict = await check('https://gone.example/hook');
    expect(verdict).toMatchObject({ ok: false, code, message: expect.stringMatching(sentence) });
  });

  test.each([
    ['a private address', { A: ['10.1.2.3'] }],
    ['a public one and a private one', { A: [PUBLIC, '192.168.7.9'] }],
    ['a public A and an AAAA of ::1', { A: [PUBLIC], AAAA: ['::1'] }],
    ['a mapped address', { AAAA: ['::ffff:10.1.2.3'] }],
    ['the metadata service', { A: ['169.254.169.254'] }],
  ])('a name with %s is refused, and the address stays untold', async (_, addresses) => {
    zone = always(addresses);
    const verdict = await check('https://inside.example/hook');
    expect(verdict).toMatchObject({ ok: false, code: 'url_blocked' });
    const told = JSON.stringify(verdict);
    expect(
      Object.values(addresses)
        .flat()
        .filter((address) => told.includes(address)),
    ).toEqual([]);
  });
});

describe('at the attempt', () => {
  const url = (port = receiver.port): string => `http://shop.example:${port}/hook`;

  test('the receiver is called at the address of its name, which is asked once', async () => {
    zone = always({ A: [RECEIVER] });
    expect(outcomeOf(await attempt(url(), withDns()))).toEqual(succeeded());
    expect(receiver.connections).toBe(1);
    expect(dns.questions.toSorted()).toEqual(['A shop.example', 'AAAA shop.example']);
  });

  test('nothing is remembered: each attempt asks again', async () => {
    zone = always({ A: [RECEIVER] });
    await withSender(withDns(), async (sender) => {
      for (let nth = 0; nth < 3; nth += 1) await sender.send({ ...EVENT, url: url() });
    });
    expect(dns.questions).toHaveLength(6);
  });

  test('a record that was public when it was saved and is now the trap', async () => {
    zone = always({ A: [PUBLIC] });
    await withSender(withDns(), async (sender) => {
      expect(await sender.check(url(), 'test')).toMatchObject({ ok: true });
    });
    zone = trapZone();
    expect(outcomeOf(await attempt(url(trap.port), withDns()))).toEqual(failed('url_blocked'));
  });

  test('a record that flips after the first answer: the vetted address is the one called', async () => {
    zone = (name, kind, nth) =>
      nth === 0 ? always({ A: [RECEIVER] })(name, kind, nth) : trapZone()(name, kind, nth);
    expect(outcomeOf(await attempt(url(), withDns()))).toEqual(succeeded());
    expect(outcomeOf(await attempt(url(trap.port), withDns()))).toEqual(failed('url_blocked'));
    expect(receiver.connections).toBe(1);
  });

  test.each([
    ['a private A beside the receiver', { A: [RECEIVER, '10.0.0.1'] }],
    ['an AAAA of ::1 beside a good A', { A: [RECEIVER], AAAA: ['::1'] }],
    ['a mapped AAAA beside a good A', { A: [RECEIVER], AAAA: ['::ffff:127.0.0.2'] }],
  ])('%s refuses the whole attempt', async (_, addresses) => {
    zone = always(addresses);
    const result = await attempt(url(), withDns());
    expect(outcomeOf(result)).toEqual(failed('url_blocked'));
    expect(receiver.connections).toBe(0);
    expect(result).toMatchObject({ requestHeaders: {}, timing: { connectMs: null } });
    expect(result.error).not.toMatch(/\d+\.\d+|::/);
  });

  test('sixteen addresses are enough for everybody, seventeen are refused', async () => {
    const sixteen = Array.from({ length: 16 }, (_, index) => `127.0.1.${index}`);
    const settings = withDns({ allowCidrs: ['127.0.0.1/32', '127.0.1.0/24'] });
    zone = always({ A: [...sixteen.slice(1), RECEIVER] });
    expect(outcomeOf(await attempt(url(), settings))).toEqual(succeeded());
    zone = always({ A: sixteen, AAAA: [PUBLIC_V6] });
    expect(outcomeOf(await attempt(url(), settings))).toEqual(failed('dns_error'));
  });

  test('a name server that never answers costs the time for it and no more', async () => {
    zone = () => 'silence';
    const settings = withDns({ limits: { deadlineMs: 60_000, dnsMs: 300 } });
    const result = await attempt(url(), settings);
    expect(outcomeOf(result)).toEqual(failed('dns_error'));
    expect(result.error).toBe('The name servers of shop.example did not answer in time.');
  });

  test('the clock of the attempt runs during the resolution too', async () => {
    zone = () => 'silence';
    const settings = withDns({ limits: { deadlineMs: 300, dnsMs: 60_000 } });
    expect(outcomeOf(await attempt(url(), settings))).toEqual(failed('dns_error'));
  });

  test('a name server that keeps quiet about AAAA does not keep the A record from counting', async () => {
    zone = (_name, kind) => (kind === 'A' ? [RECEIVER] : 'silence');
    const settings = withDns({ limits: { deadlineMs: 60_000, dnsMs: 3_000 } });
    expect(outcomeOf(await attempt(url(), settings))).toEqual(succeeded());
  });

  test('an address that refuses gives way to the next one', async () => {
    zone = always({ A: ['127.0.1.1', RECEIVER] });
    const settings = withDns({ allowCidrs: ['127.0.0.1/32', '127.0.1.0/24'] });
    expect(outcomeOf(await attempt(url(), settings))).toEqual(succeeded());
  });

  test('a URL that breaks a rule is refused again, although it was saved', async () => {
    zone = always({ A: [RECEIVER] });
    const result = await attempt(url(), withDns({ ownHosts: ['shop.example'] }));
    expect(outcomeOf(result)).toEqual(failed('url_blocked'));
    expect(dns.questions).toEqual([]);
  });

  test.each([
    ['live mode', `http://${RECEIVER}`, 'live' as const],
    ['a number', 'http://2130706433', 'test' as const],
  ])('a literal address meets the same rules: %s', async (_, origin, mode) => {
    const result = await attempt(`${origin}:${receiver.port}/`, {}, { mode });
    expect(outcomeOf(result)).toEqual(failed('url_blocked'));
  });

  test('a literal address is vetted without any name server', async () => {
    const host = trap.address.includes(':') ? `[${trap.address}]` : trap.address;
    expect(outcomeOf(await attempt(`http://${host}:${trap.port}/`))).toEqual(failed('url_blocked'));
    expect(outcomeOf(await attempt(`http://${RECEIVER}:${receiver.port}/`))).toEqual(succeeded());
  });

  test('what the operator denies is refused although it is allowed', async () => {
    const settings = { allowCidrs: ['127.0.0.0/8'], denyCidrs: [`${RECEIVER}/32`] };
    const result = await attempt(`http://${RECEIVER}:${receiver.port}/`, settings);
    expect(outcomeOf(result)).toEqual(failed('url_blocked'));
  });

  test('the trap would have counted', async () => {
    const cidr = trap.address.includes(':') ? `${trap.address}/128` : `${trap.address}/32`;
    const host = trap.address.includes(':') ? `[${trap.address}]` : trap.address;
    const result = await attempt(`http://${host}:${trap.port}/`, { allowCidrs: [cidr] });
    expect(outcomeOf(result)).toEqual(succeeded());
    expect(trap.connections).toBe(1);
    trap.connections = 0;
  });
});

describe('at the connection itself', () => {
  const never = new AbortController().signal;
  const dialled = (address: string, port: number, allow: string[]): Promise<unknown> =>
    dial([RECEIVER, address], port, readAddressRules(allow, []), never);

  test('one address that is not allowed keeps the others from being dialled', async () => {
    const refused = expect.objectContaining({ code: 'url_blocked' }) as AttemptFailure;
    await expect(dialled(trap.address, trap.port, [`${RECEIVER}/32`])).rejects.toEqual(refused);
    expect(receiver.connections).toBe(0);
  });

  test('an address that leads elsewhere is left before a byte is sent', async () => {
    // The kernel takes 0.0.0.0 for the loopback: the connection's other end is not what was dialled.
    const refused = expect.objectContaining({ code: 'url_blocked' }) as AttemptFailure;
    const url = `http://0.0.0.0:${receiver.port}/`;
    const rules = readAddressRules(['0.0.0.0/32'], []);
    await expect(dial(['0.0.0.0'], receiver.port, rules, never)).rejects.toEqual(refused);
    const before = receiver.received.join('');
    const result = await attempt(url, { allowCidrs: ['0.0.0.0/32'] });
    expect(outcomeOf(result)).toEqual(failed('url_blocked'));
    expect(result.error).not.toMatch(/\d+\.\d+/);
    expect(receiver.received.join('')).toBe(before);
  });
});

describe('in development', () => {
  const testMode = { allowedHosts: ['localhost', '127.0.0.1'], allowCidrs: ['127.0.0.0/8'] };
  const settings = (): Partial<SenderSettings> => withDns({ allowCidrs: [], testMode });

  test.each(['localhost', '127.0.0.1'])('endpoints of test mode may be on %s', async (host) => {
    const url = `http://${host}:${receiver.port}/`;
    await withSender(settings(), async (sender) => {
      expect(await sender.check(url, 'test')).toMatchObject({ ok: true });
    });
    expect(outcomeOf(await attempt(url, settings()))).toEqual(succeeded());
    expect(dns.questions).toEqual([]);
  });

  test.each(['localhost', '127.0.0.1'])('endpoints of live mode may not be on %s', async (host) => {
    await withSender(settings(), async (sender) => {
      const verdict = await sender.check(`https://${host}:${receiver.port}/`, 'live');
      expect(verdict.ok).toBe(false);
    });
  });
});

test('by default the deadline is 10 seconds, 3 for the name, 2 more for the body [limit webhook response time]', () => {
  expect(DEFAULT_LIMITS).toEqual({ deadlineMs: 10_000, dnsMs: 3_000, bodyMs: 2_000 });
});

test('a list that cannot be read stops the start, not an attempt', () => {
  const settings = { allowCidrs: [], denyCidrs: ['10.0.0.0'], ownHosts: [] };
  expect(() => createWebhookSender(settings)).toThrow('10.0.0.0');
});
