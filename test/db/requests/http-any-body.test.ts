/**
 * Whatever anybody sends to a POST that creates is answered with a refusal that a client can read,
 * never with a fault of ours. `TEST_SEED` repeats a run.
 */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { ERRORS } from '../../../src/domain/errors';
import { newId } from '../../../src/platform/lib/new-id';
import { OPERATIONS } from '../../../src/openapi/document';
import { scaled } from '../../support/scale';
import { chooseSeed } from '../../support/seeded-random';
import { bearer, type ErrorBody, startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());

const VALID = {
  '/payouts': {
    amount: '10',
    currency: 'USDT',
    reference: 'order_1',
    destination: {
      type: 'crypto_address',
      value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      memo: null as unknown,
    },
    network: 'tron',
    provider: 'onchain_provider',
    description: 'For Anna',
    metadata: { order: '17' },
  },
  '/payments': {
    amount: '10',
    currency: 'USDT',
    reference: 'order#1',
    description: 'Two books',
    customer_email: 'anna@shop.example',
    success_url: 'https://shop.example/thanks',
    cancel_url: 'https://shop.example/basket',
    network: 'tron',
    provider: 'onchain_provider',
    expires_in: 600,
    metadata: { order: '17' },
  },
};
type Path = keyof typeof VALID;

/** Every check is reached: of the text, of the fields, and the service, which has no provider. */
const REACHED = {
  '/payouts': ['invalid_json', 'validation_failed', 'destination_not_supported'],
  '/payments': ['invalid_json', 'validation_failed'],
} as const satisfies Record<Path, readonly string[]>;

const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(fc.constantFrom('\0', '\ud800', '\udc00', '\u202e', 'é', '0', '-', '.', 'e', ' '))
    .map((letters) => letters.join('')),
  fc.constantFrom('', 'constructor', '__proto__', '1e9999', '0x10', 'NaN', "'; DROP TABLE payouts"),
  fc.constantFrom('xrpl', 'bitcoin', 'exchange_pay', 'email', 'exchange_id', 'XRP', 'BTC'),
);
const value = fc.oneof(hostileText, fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }));

/** The valid request with one of its members, at any depth, another value or under another name. */
function changedBody(valid: object): fc.Arbitrary<string> {
  const change = fc.record({
    path: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...pathsOf(valid)) },
      { weight: 1, arbitrary: fc.array(hostileText, { minLength: 1, maxLength: 3 }) },
    ),
    value: fc.oneof(
      { weight: 7, arbitrary: value },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
  });
  return fc.array(change, { maxLength: 4 }).map((changes) => {
    const body: unknown = structuredClone(valid);
    for (const { path, value } of changes) put(body, path, value);
    return JSON.stringify(body);
  });
}

function pathsOf(valid: object): string[][] {
  return Object.entries(valid).flatMap(([name, member]) => {
    const isObject = typeof member === 'object' && member !== null;
    return [[name], ...(isObject ? pathsOf(member).map((rest) => [name, ...rest]) : [])];
  });
}

function put(target: unknown, [name, ...rest]: string[], value: unknown): void {
  if (typeof target !== 'object' || target === null || name === undefined) return;
  if (rest.length > 0) {
    // Own members only: what a prototype shares would change for the whole process.
    put(Object.getOwnPropertyDescriptor(target, name)?.value, rest, value);
    return;
  }
  // Not by assignment, which would take "__proto__" for something else.
  Reflect.defineProperty(target, name, { value, enumerable: true, configurable: true });
}

function anyBody(valid: object): fc.Arbitrary<string | Uint8Array> {
  const changed = changedBody(valid);
  /** Valid text with numbers of any spelling, and with bytes put in its midst. */
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.stringMatching(/^[0-9]{1,40}(\.[0-9]{1,30})?(e[+-]?[0-9]{1,9})?$/),
    )
    .map((parts) => JSON.stringify(valid).replace('"10"', parts.join('')));
  const spliced = fc
    .tuple(changed, fc.nat(), fc.uint8Array({ maxLength: 8 }), fc.nat(8))
    .map(([text, at, bytes, removed]) => {
      const whole = Buffer.from(text);
      const index = at % (whole.length + 1);
      return Buffer.concat([whole.subarray(0, index), bytes, whole.subarray(index + removed)]);
    });
  return fc.oneof(
    { weight: 6, arbitrary: changed },
    { weight: 1, arbitrary: number },
    { weight: 2, arbitrary: spliced },
    { weight: 1, arbitrary: fc.json({ maxDepth: 5, stringUnit: 'binary' }) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2_000 }) },
  );
}

/** A key takes 1,200 requests a minute. */
const REQUESTS_PER_KEY = 1_000;
let sent = 0;
let secret = '';

async function post(path: Path, sending: string | Uint8Array): Promise<Response> {
  if (sent++ % REQUESTS_PER_KEY === 0) ({ secret } = await harness.createKey());
  return fetch(`${gateway.url}/api/v1${path}`, {
    method: 'POST',
    headers: {
      ...bearer(secret),
      'Content-Type': 'application/json',
      'Idempotency-Key': randomBytes(16).toString('hex'),
    },
    body: Buffer.from(sending),
  });
}

test.each(Object.keys(VALID) as Path[])(
  'no body makes a fault at POST %s',
  async (path) => {
    const seed = chooseSeed();
    process.stderr.write(`http-any-body ${path}: TEST_SEED=${seed}\n`);
    const answers = new Map<string, number>();
    const property = fc.asyncProperty(anyBody(VALID[path]), async (sending) => {
      const response = await post(path, sending);
      const { error } = (await response.json()) as ErrorBody;
      expect(Object.keys(ERRORS)).toContain(error.code);
      expect([400, 413, 422]).toContain(response.status);
      expect(response.headers.get('X-Request-Id')).toBe(error.request_id);
      answers.set(error.code, (answers.get(error.code) ?? 0) + 1);
    });
    await fc.assert(property, { seed, numRuns: scaled(100, 3_000) });

    for (const code of REACHED[path]) {
      expect(answers.get(code) ?? 0).toBeGreaterThan(scaled(3, 50));
    }
    expect(gateway.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect(await harness.owner.query('SELECT 1 FROM idempotency_keys')).toEqual([]);
    expect(await harness.owner.query('SELECT 1 FROM payouts')).toEqual([]);
    expect(await harness.owner.query('SELECT 1 FROM payments')).toEqual([]);
  },
  scaled(300_000, 600_000),
);

/** What PostgreSQL cannot store, and what a reader may take for an object. */
const NEVER_VALID = [
  '\ud800',
  'a\0b',
  null,
  {},
  { a: null },
  { '\ud800': 'x' },
  [null],
  ['\ud800'],
];

test.each(OPERATIONS.filter(({ body }) => body !== undefined))(
  'no member of a body makes a fault at $id',
  async ({ method, path, body }) => {
    const key = await harness.createKey();
    const send = (changed: unknown) =>
      fetch(`${gateway.url}/api/v1${path.replace(/\{\w+\}/, newId('payment'))}`, {
        method: method.toUpperCase(),
        headers: {
          ...bearer(key.secret),
          'Content-Type': 'application/json',
          'Idempotency-Key': randomBytes(16).toString('hex'),
        },
        body: JSON.stringify(changed),
      });
    const [example] = Object.values(body?.examples ?? {});
    for (const [index, place] of pathsOf(example as object).entries()) {
      // By day each member gets two of them, in turn.
      const turn = (index * 2) % NEVER_VALID.length;
      for (const value of scaled(NEVER_VALID.slice(turn, turn + 2), NEVER_VALID)) {
        const changed: unknown = structuredClone(example);
        put(changed, place, value);
        const { status } = await send(changed);
        expect([place, value, status < 500]).toEqual([place, value, true]);
      }
    }
    expect(gateway.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  },
);
