/** The API's description as a running gateway serves it: for programs and for people. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES } from '../../../src/domain/errors';
import { DOCUMENT } from '../../support/merchant/contract';
import type { MerchantClient } from '../../support/merchant/merchant-client';
import { atProvider, openedPayment, whenPayment } from '../../support/payment/payment-steps';
import { openMerchant } from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway);

const operations = Object.values(DOCUMENT.paths).flatMap((methods) => Object.values(methods));

test('openapi.json is served as it is checked in, without a key', async () => {
  const response = await fetch(`${gateway.baseUrl}/openapi.json`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  expect(await response.json()).toEqual(DOCUMENT);
});

const open = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, gateway.baseUrl), { headers });

/** Paths of pages and files that a page links to or loads. */
function targets(page: string): string[] {
  return [...page.matchAll(/\b(?:href|src)="([^"]*)"/g)]
    .map(([, target = '']) => target)
    .filter((target) => target !== 'data:,');
}

describe('/docs', () => {
  let reference: string;
  let guides: { path: string; page: string }[];

  beforeAll(async () => {
    reference = await (await open('/docs')).text();
    const paths = new Set(targets(reference).filter((path) => path.startsWith('/docs/guides/')));
    guides = await Promise.all(
      [...paths].map(async (path) => ({ path, page: await (await open(path)).text() })),
    );
  });

  it('lists every operation and every guide without JavaScript', () => {
    expect(operations.length).toBeGreaterThan(0);
    for (const [path, methods] of Object.entries(DOCUMENT.paths)) {
      for (const method of Object.keys(methods)) {
        expect(reference).toContain(`<code>${method.toUpperCase()} /api/v1${path}</code>`);
      }
    }
    const files = readdirSync(join(__dirname, '../../../docs/guides'));
    expect(guides.map(({ path }) => `${path.split('/').at(-1) ?? ''}.md`).sort()).toEqual(
      files.sort(),
    );
  });

  it('has a page for each error, which doc_url of the error leads to', async () => {
    const answer = await open('/api/v1/payouts');
    const { code, doc_url: url } = ((await answer.json()) as { error: Record<string, string> })
      .error;
    expect(url).toMatch(new RegExp(`/docs/errors/${code}$`));
    for (const known of ERROR_CODES) {
      const page = await open(`/docs/errors/${known}`);
      expect([known, page.status]).toEqual([known, 200]);
      const text = await page.text();
      expect(text).toContain(`<h1>Error <code>${known}</code></h1>`);
      for (const target of targets(text).filter((each) => each.startsWith('/docs#'))) {
        expect(reference).toContain(`id="${target.slice('/docs#'.length)}"`);
      }
    }
  });

  it('loads everything from the gateway, and links to what exists', async () => {
    for (const { path, page } of [{ path: '/docs', page: reference }, ...guides]) {
      const ids = new Set([...page.matchAll(/\bid="([^"]*)"/g)].map(([, id]) => `#${id ?? ''}`));
      const found = targets(page);
      expect(found.filter((target) => target.startsWith('#') && !ids.has(target))).toEqual([]);
      const others = [...new Set(found.filter((target) => !target.startsWith('#')))];
      const statuses = await Promise.all(
        others.map(async (target) => {
          if (!/^\/(?!\/)/.test(target)) return `${path}: ${target} is elsewhere`;
          const [file = '', id] = target.split('#');
          const response = await open(file);
          const hasId = id === undefined || (await response.text()).includes(`id="${id}"`);
          return response.status === 200 && hasId ? 'ok' : `${path}: ${target} is missing`;
        }),
      );
      expect(statuses.filter((status) => status !== 'ok')).toEqual([]);
    }
  });

  it('allows only its own scripts, and inline styles only in the reference', async () => {
    const policies = await Promise.all(
      ['/docs', guides[0]!.path].map(async (path) => {
        const { headers } = await open(path);
        return headers.get('content-security-policy') ?? '';
      }),
    );
    expect(policies[0]).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';/,
    );
    expect(policies[0]).not.toContain('unsafe-eval');
    expect(policies[1]).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policies[1]).not.toContain('unsafe');
    for (const { page } of guides) {
      const others = page.replace(
        /<script defer src="\/docs\/assets\/copy-\w+\.js"><\/script>/,
        '',
      );
      expect(others).not.toMatch(/<script|\sstyle=|\son[a-z]+=/);
    }
  });

  it('sends scripts and styles with names that never change their content', async () => {
    const assets = targets(reference).filter((path) => path.startsWith('/docs/assets/'));
    expect(assets).toHaveLength(3);
    for (const path of assets) {
      const { status, headers } = await open(path, { 'accept-encoding': 'gzip' });
      expect({ status, encoding: headers.get('content-encoding') }).toEqual({
        status: 200,
        encoding: 'gzip',
      });
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('vary')).toBe('Accept-Encoding');
      expect(path).toMatch(/-[0-9a-f]{12}\.(js|css)$/);
    }
    expect((await open('/docs/assets/scalar-000000000000.js')).status).toBe(404);
  });
});

const REFUNDS = '/payments/{id}/refunds';

async function paid(client: MerchantClient): Promise<string> {
  const id = await openedPayment(client, { provider: 'onchain_provider' });
  await atProvider(gateway, id, 'pay');
  await whenPayment(client, id, 'completed');
  return id;
}

/** The status of a success, and that of a creation where there are two. */
const successOf = ({ responses }: { responses: object }) => ('201' in responses ? 201 : 200);

test('the example requests, posted as they stand, succeed', async () => {
  const funds = { USDT: '20000', USDC: '1000' };
  const { client } = await openMerchant(gateway, { mode: 'test', funds });
  const all = Object.entries(DOCUMENT.paths).flatMap(([path, { post }]) =>
    Object.entries(post?.requestBody?.content['application/json']?.examples ?? {}).map(
      ([name, { value }]) => ({ path, name: `${path} ${name}`, value, is: successOf(post!) }),
    ),
  );
  // The others name an object or a host that does not exist.
  const examples = all.filter(
    ({ path, value }) =>
      (path === REFUNDS || !path.includes('{id}')) &&
      !Object.hasOwn(value as object, 'recipient') &&
      !Object.hasOwn(value as object, 'release') &&
      !Object.hasOwn(value as object, 'url'),
  );
  expect(examples.length).toBeGreaterThan(1);
  const answers: Record<string, number> = {};
  for (const { path, name, value } of examples) {
    // Each refund is of a payment of its own.
    const id = path === REFUNDS ? await paid(client) : '';
    const at = path.replace('{id}', id);
    const { status } = await client.create(at, value, name);
    answers[name] = status;
  }
  expect(answers).toEqual(Object.fromEntries(examples.map(({ name, is }) => [name, is])));
});
