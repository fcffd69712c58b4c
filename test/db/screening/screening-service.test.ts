/**
 * What a screening service can answer, over HTTP: only a documented answer about exactly this question
 * counts, and everything else is no answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ScreeningSubject } from '../../../src/domain/screening';
import { createScreeningService } from '../../../src/adapters/screening/service';
import { startHttpServer } from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SUBJECT: ScreeningSubject = {
  objectId: 'po_1',
  accountId: 'acc_1',
  mode: 'live',
  destination: { type: 'crypto_address', value: ADDRESS },
  network: 'ethereum',
  beneficiary: null,
};
const TIMEOUT_MS = 1_000;
const CLEAR = { reference: 'po_1', destination: ADDRESS, verdict: 'clear' };

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** Asks a server that answers in this way. */
async function ask(answer: Answer) {
  const server = await startHttpServer((request, response) => {
    request.resume().on('end', () => {
      answer(response, request);
    });
  });
  const service = createScreeningService({
    url: `${server.url}/ask`,
    apiKey: 'key',
    timeoutMs: TIMEOUT_MS,
  });
  try {
    return await service.ask(SUBJECT);
  } finally {
    await service.close();
    await server.stop();
  }
}

const json = (body: unknown, status = 200): Answer => {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
};

test('a documented answer counts, with its id and reasons', async () => {
  const body = { ...CLEAR, verdict: 'review', id: 'a-1', reasons: ['Mixer.', 7, 'x'.repeat(600)] };
  expect(await ask(json(body))).toEqual({
    kind: 'answer',
    verdict: 'review',
    reference: 'a-1',
    reasons: ['Mixer.', 'x'.repeat(500)],
  });
  expect(await ask(json({ ...CLEAR, reasons: 'none', id: 7 }))).toEqual({
    ...{ kind: 'answer', verdict: 'clear', reference: null, reasons: [] },
  });
});

test('the question names the payout and its destination, and has the key', async () => {
  let asked: { authorization: string | undefined; body: unknown } | null = null;
  const server = await startHttpServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(parts).toString());
      asked = { authorization: request.headers.authorization, body };
      json(CLEAR)(response, request);
    });
  });
  const service = createScreeningService({ url: server.url, apiKey: 'k1', timeoutMs: TIMEOUT_MS });
  await service.ask(SUBJECT);
  expect(asked).toEqual({
    authorization: 'Bearer k1',
    body: {
      reference: 'po_1',
      mode: 'live',
      destination: { type: 'crypto_address', value: ADDRESS, network: 'ethereum' },
      beneficiary: null,
    },
  });
  await service.close();
  await server.stop();
});

const LIES: readonly (readonly [string, Answer, RegExp])[] = [
  ['another reference', json({ ...CLEAR, reference: 'po_2' }), /another reference/],
  ['no reference', json({ ...CLEAR, reference: undefined }), /another reference/],
  ['another destination', json({ ...CLEAR, destination: '0x0' }), /another destination/],
  [
    'the destination in another case',
    json({ ...CLEAR, destination: ADDRESS.toLowerCase() }),
    /another destination/,
  ],
  ['an unknown verdict', json({ ...CLEAR, verdict: 'ok' }), /unknown verdict/],
  ['a verdict in another case', json({ ...CLEAR, verdict: 'CLEAR' }), /unknown verdict/],
  ['a verdict of the prototype', json({ ...CLEAR, verdict: 'toString' }), /unknown verdict/],
  ['no verdict', json({ reference: 'po_1', destination: ADDRESS }), /unknown verdict/],
  ['a list', json([CLEAR]), /another reference/],
  ['null', json(null), /another reference/],
  ['a clear answer with status 500', json(CLEAR, 500), /status 500/],
  ['a clear answer with status 201', json(CLEAR, 201), /status 201/],
  ['a refusal', json({ error: 'key' }, 401), /status 401/],
  ['HTML', (response) => response.end('<html></html>'), /not valid JSON/],
  ['truncated JSON', (response) => response.end(JSON.stringify(CLEAR).slice(0, -1)), /not valid/],
  [
    'a repeated key',
    (response) => response.end(`{"verdict":"block",${JSON.stringify(CLEAR).slice(1)}`),
    /not valid JSON/,
  ],
  [
    'a redirect to a clear answer',
    (response, request) => {
      if (request.url === '/clear') json(CLEAR)(response, request);
      else response.writeHead(307, { location: '/clear' }).end('{}');
    },
    /status 307/,
  ],
  [
    'a broken connection',
    (response) => response.destroy(),
    /connection to the screening service failed/,
  ],
  ['too much', (response) => response.end(`"${'x'.repeat(300_000)}"`), /too much data/],
  ['nothing', () => undefined, /did not answer within 1000 ms/],
];

test.each(LIES)('%s is no answer', async (_, answer, why) => {
  const given = await ask(answer);
  expect(given).toMatchObject({ kind: 'unknown' });
  expect('reason' in given ? given.reason : '').toMatch(why);
});

test('an answer that drips in is given up at the time-out', async () => {
  let drips = 0;
  const given = await ask((response) => {
    const text = JSON.stringify(CLEAR);
    const timer = setInterval(() => {
      response.write(text.charAt(drips++ % text.length));
    }, 50);
    response.on('close', () => {
      clearInterval(timer);
    });
  });
  expect(given).toMatchObject({ kind: 'unknown' });
  await waitFor('the drips', () => Promise.resolve(drips > 0 || undefined));
});

test.each([
  ['7', 7_000],
  ['soon', 5_000],
  [undefined, 5_000],
] as const)('429 with Retry-After %s asks to wait', async (retryAfter, retryAfterMs) => {
  const answer: Answer = (response) => {
    response.writeHead(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end();
  };
  expect(await ask(answer)).toMatchObject({ kind: 'limited', retryAfterMs });
});
