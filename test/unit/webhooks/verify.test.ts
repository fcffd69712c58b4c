/** The receiver's check, against vectors that other programs made, and the signature it checks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  signWebhook,
  verifyWebhook,
  WebhookVerificationError,
} from '../../../clients/typescript/src/webhooks';
import { VECTORS } from './webhook-vectors';

interface SignatureVector {
  secret: string;
  timestamp: number;
  body: string;
  header: string;
}

const SIGNATURES = JSON.parse(
  readFileSync(join(__dirname, '../../fixtures/signatures.json'), 'utf8'),
) as SignatureVector[];

const [GOOD] = VECTORS;
const at = new Date(GOOD!.now * 1000);

/** `ok`, or the code of the refusal. */
function verdict(check: () => unknown): string {
  try {
    check();
    return 'ok';
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
}

test.each(SIGNATURES)('the signature of vector $timestamp is the one made elsewhere', (vector) => {
  const { secret, timestamp, body, header } = vector;
  expect(signWebhook(secret, timestamp, Buffer.from(body))).toBe(header);
});

test.each(SIGNATURES)('the receiver takes vector $timestamp', (vector) => {
  const { secret, timestamp, body, header } = vector;
  const { id } = JSON.parse(body) as { id: string };
  const headers = { 'x-gateway-signature': header, 'x-gateway-event-id': id };
  const event = verifyWebhook(body, headers, secret, { now: new Date(timestamp * 1000) });
  expect(event).toEqual(JSON.parse(body));
});

test.each(VECTORS)('$name: $expect', ({ body, headers, secrets, now, expect: expected }) => {
  const options = { now: new Date(now * 1000) };
  for (const form of [body, Buffer.from(body), new Uint8Array(Buffer.from(body))]) {
    expect(verdict(() => verifyWebhook(form, headers, secrets, options))).toBe(expected);
    const fetched = new Headers(headers);
    expect(verdict(() => verifyWebhook(form, fetched, secrets, options))).toBe(expected);
  }
});

test('what it says of a refusal names the header, the age or the remedy [limit webhook timestamp tolerance]', () => {
  const { body, headers, secrets } = GOOD!;
  const message = (change: object, now = at): unknown => {
    try {
      return verifyWebhook(body, { ...headers, ...change }, secrets, { now });
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(message({ 'X-Gateway-Signature': undefined })).toContain('X-Gateway-Signature');
  expect(message({ 'X-Gateway-Event-Id': undefined })).toContain('X-Gateway-Event-Id');
  expect(message({ 'X-Gateway-Signature': 'v1=' })).toContain('t=1700000000,v1=');
  expect(message({}, new Date(at.getTime() + 301_000))).toContain('301 seconds ago');
  expect(message({}, new Date(at.getTime() - 301_000))).toContain('301 seconds in the future');
});

test('the tolerance is the caller’s', () => {
  const { body, headers, secrets } = GOOD!;
  const late = new Date(at.getTime() + 10_000);
  const check = (toleranceSeconds: number) => (): unknown =>
    verifyWebhook(body, headers, secrets, { now: late, toleranceSeconds });
  expect(verdict(check(10))).toBe('ok');
  expect(verdict(check(9))).toBe('timestamp_too_old');
});

test.each([
  ['a tolerance that is no number', { toleranceSeconds: NaN }],
  ['a tolerance below zero', { toleranceSeconds: -1 }],
  ['a tolerance out of a variable', { toleranceSeconds: '300' as unknown as number }],
  ['a tolerance that is null', { toleranceSeconds: null as unknown as number }],
  ['a time that is none', { now: new Date('yesterday') }],
  ['a time that is a number', { now: Date.now() as unknown as Date }],
])('nothing is accepted, and nothing refused as untrue, with %s', (_, options) => {
  const { body, headers, secrets } = GOOD!;
  for (const given of [headers, {}]) {
    expect(() => verifyWebhook(body, given, secrets, { now: at, ...options })).toThrow(TypeError);
  }
});

test('the present is the default time', () => {
  const body = Buffer.from(GOOD!.body);
  const [secret] = GOOD!.secrets;
  const headers = {
    ...GOOD!.headers,
    'X-Gateway-Signature': signWebhook(secret!, Math.floor(Date.now() / 1000), body),
  };
  expect(verdict(() => verifyWebhook(body, headers, secret!))).toBe('ok');
});

test('one secret may stand without a list', () => {
  const { body, headers, secrets } = GOOD!;
  expect(verifyWebhook(body, headers, secrets[0]!, { now: at }).type).toBe('payout.completed');
});

test('a header that came twice is read as one list, as HTTP has it', () => {
  const { body, headers, secrets } = GOOD!;
  const signature = headers['X-Gateway-Signature']!;
  const [t, v1] = signature.split(',');
  const split = { ...headers, 'X-Gateway-Signature': [t!, v1!] };
  const doubled = { ...headers, 'X-Gateway-Signature': [signature, signature] };
  expect(verdict(() => verifyWebhook(body, split, secrets, { now: at }))).toBe('ok');
  expect(verdict(() => verifyWebhook(body, doubled, secrets, { now: at }))).toBe(
    'malformed_signature',
  );
});

test.each([
  ['no secret', []],
  ['an empty secret', ''],
  ['an empty secret beside a good one', ['', 'whsec_EXAMPLE']],
  ['a variable that is not set', undefined as unknown as string],
  ['a list with such a variable', [undefined as unknown as string]],
])('%s is a mistake of the caller, since everybody could sign with it', (_, secret) => {
  expect(() => verifyWebhook(GOOD!.body, GOOD!.headers, secret, { now: at })).toThrow(TypeError);
});

test('a body that a framework has parsed is a mistake of the caller', () => {
  const parsed = JSON.parse(GOOD!.body) as unknown as string;
  expect(() => verifyWebhook(parsed, GOOD!.headers, GOOD!.secrets, { now: at })).toThrow(
    /not parsed JSON/,
  );
});
