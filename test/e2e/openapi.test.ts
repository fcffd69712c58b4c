/** The API's description as a running gateway serves it: for programs and for people. */
import { type TestGateway, useSharedGateway } from '../support/gateway';
import { DOCUMENT } from '../support/contract';
import { openMerchant } from '../support/payout-steps';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await useSharedGateway();
});

afterAll(async () => {
  await gateway.stop();
});

const operations = Object.values(DOCUMENT.paths).flatMap((methods) => Object.values(methods));

test('openapi.json is served as it is checked in, without a key', async () => {
  const response = await fetch(`${gateway.baseUrl}/openapi.json`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  expect(await response.json()).toEqual(DOCUMENT);
});

describe('/docs', () => {
  let response: Response;
  let page: string;

  beforeAll(async () => {
    response = await fetch(new URL('/docs', gateway.baseUrl));
    page = await response.text();
  });

  it('is a page of HTML that has every operation and every path', () => {
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(operations.length).toBeGreaterThan(0);
    for (const { operationId } of operations) {
      expect(page).toContain(`<section id="${operationId}">`);
      expect(page).toContain(`href="#${operationId}"`);
    }
    for (const path of Object.keys(DOCUMENT.paths)) expect(page).toContain(path);
  });

  it('runs nothing and asks for nothing elsewhere', () => {
    expect(page).not.toMatch(/<(script|link|img|iframe|object|embed|base|form|svg)\b/i);
    expect(page).not.toMatch(/\son[a-z]+\s*=|javascript:|@import|url\(/i);
    const addresses = [...page.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses.length).toBeGreaterThan(operations.length);
    expect(addresses.filter((address) => !/^(#|\/(?!\/))/.test(address!))).toEqual([]);
    expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
  });

  it('has no link that leads nowhere', () => {
    const anchors = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id!);
    expect(anchors.filter((id) => !page.includes(`id="${id}"`))).toEqual([]);
  });
});

test('the example requests, posted as they stand, make payments and payouts', async () => {
  const { client } = await openMerchant(gateway, { funds: { USDT: '20000', USDC: '1000' } });
  const examples = Object.entries(DOCUMENT.paths).flatMap(([path, { post }]) =>
    Object.entries(post?.requestBody?.content['application/json']?.examples ?? {}).map(
      ([name, { value }]) => ({ path, name, value }),
    ),
  );
  expect(examples.length).toBeGreaterThan(1);
  const answers: Record<string, number> = {};
  for (const { path, name, value } of examples) {
    const { status } = await client.post(path, value, { 'idempotency-key': name });
    answers[name] = status;
  }
  expect(answers).toEqual(Object.fromEntries(examples.map(({ name }) => [name, 201])));
});
