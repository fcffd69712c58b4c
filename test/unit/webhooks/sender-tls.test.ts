/** Receivers that speak TLS, with certificates made for the purpose: good ones and bad ones. */
import type tls from 'node:tls';
import { type DnsStub, startDnsStub } from './dns-stub';
import {
  answer,
  RECEIVER_ADDRESS,
  type RawReceiver,
  startRawListener,
  startReceiver,
} from '../../support/webhook/raw-receiver';
import { attempt, failed, outcomeOf, succeeded } from '../../support/webhook/sender-steps';
import { type Certificate, createAuthority } from '../../support/servers/throw-away-certificates';
import type { AttemptResult, SenderSettings } from '../../../src/adapters/webhooks/sender';

const HOST = 'shop.example';
const OK = answer('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi');
const DAY_MS = 24 * 60 * 60 * 1000;
const days = (count: number): Date => new Date(Date.now() + count * DAY_MS);

const authority = createAuthority();
const stranger = createAuthority('Another authority');
const good = authority.issue({ hosts: [HOST, RECEIVER_ADDRESS] });

let dns: DnsStub;

beforeAll(async () => {
  dns = await startDnsStub((_name, kind) => (kind === 'A' ? [RECEIVER_ADDRESS] : []));
});

afterAll(() => dns.close());

async function attemptAt(
  receiver: RawReceiver,
  host = HOST,
  settings: Partial<SenderSettings> = {},
): Promise<AttemptResult> {
  try {
    return await attempt(
      `https://${host}:${receiver.port}/hook`,
      { dnsServers: [dns.server], extraCa: [authority.cert], ...settings },
      { mode: 'live' },
    );
  } finally {
    await receiver.close();
  }
}

test.each([HOST, RECEIVER_ADDRESS])('a good certificate of %s', async (host) => {
  const asked: unknown[] = [];
  const receiver = await startReceiver((socket) => {
    asked.push('servername' in socket ? socket.servername : null);
    OK(socket);
  }, good);
  const result = await attemptAt(receiver, host);
  expect(outcomeOf(result)).toEqual(succeeded());
  expect(result.responseBody.toString()).toBe('hi');
  expect(result.timing).toMatchObject({
    tlsMs: expect.any(Number) as number,
    firstByteMs: expect.any(Number) as number,
  });
  // The name stays the URL's, whatever address was dialled; an address is never sent as a name.
  expect(asked).toEqual([host === HOST ? HOST : false]);
});

test.each<[string, Certificate, RegExp]>([
  [
    'has expired',
    authority.issue({ hosts: [HOST], validFrom: days(-9), validTo: days(-1) }),
    /expired/,
  ],
  [
    'is not valid yet',
    authority.issue({ hosts: [HOST], validFrom: days(1), validTo: days(9) }),
    /not valid yet/,
  ],
  [
    'is for another name',
    authority.issue({ hosts: ['other.example'] }),
    /not valid for this host name/,
  ],
  ['is of an unknown authority', stranger.issue({ hosts: [HOST] }), /authority/],
  ['is self-signed', createAuthority(HOST), /self-signed/],
])('a certificate that %s', async (_, certificate, sentence) => {
  const receiver = await startReceiver(OK, certificate);
  const result = await attemptAt(receiver);
  expect(outcomeOf(result)).toEqual(failed('tls_error'));
  expect(result.error).toMatch(sentence);
  expect(result.requestHeaders).toEqual({});
  expect(receiver.received.join('')).toBe('');
});

test('without an authority of the test, the usual ones count', async () => {
  const receiver = await startReceiver(OK, good);
  const result = await attempt(`https://${HOST}:${receiver.port}/`, { dnsServers: [dns.server] });
  expect(outcomeOf(result)).toEqual(failed('tls_error'));
  await receiver.close();
});

test('TLS 1.2 is enough, TLS 1.1 is not', async () => {
  const upTo = (maxVersion: tls.SecureVersion): Promise<RawReceiver> =>
    startReceiver(OK, {
      ...good,
      minVersion: 'TLSv1',
      maxVersion,
      // OpenSSL 3 takes the old versions only at its lowest level of security.
      ciphers: 'DEFAULT:@SECLEVEL=0',
    });
  expect(outcomeOf(await attemptAt(await upTo('TLSv1.2')))).toEqual(succeeded());
  expect(outcomeOf(await attemptAt(await upTo('TLSv1.1')))).toEqual(failed('tls_error'));
});

test('a receiver that speaks plain HTTP on the port', async () => {
  const receiver = await startRawListener(answer('HTTP/1.1 200 OK\r\n\r\n'));
  expect(outcomeOf(await attemptAt(receiver))).toEqual(failed('tls_error'));
});

test('a receiver that wants a certificate of ours', async () => {
  const receiver = await startReceiver(OK, {
    ...good,
    requestCert: true,
    rejectUnauthorized: true,
    ca: [authority.cert],
  });
  const { errorCode } = await attemptAt(receiver);
  // With TLS 1.3 the refusal comes after the handshake, and may be overtaken by the end of it all.
  expect(['tls_error', 'connection_reset']).toContain(errorCode);
});

test('a receiver that is silent in the handshake', async () => {
  const receiver = await startRawListener(() => undefined);
  const result = await attemptAt(receiver, HOST, { limits: { deadlineMs: 4_000 } });
  expect(outcomeOf(result)).toEqual(failed('timeout'));
  expect(result.timing).toMatchObject({ connectMs: expect.any(Number) as number, tlsMs: null });
});

test('a receiver that breaks off the handshake', async () => {
  const receiver = await startRawListener((socket) => {
    socket.once('data', () => socket.resetAndDestroy());
  });
  expect(outcomeOf(await attemptAt(receiver))).toEqual(failed('connection_reset'));
});
