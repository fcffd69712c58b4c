/**
 * The documentation for merchants, without authentication: openapi.json, the API reference and the guides.
 * Each is made when somebody first asks for it.
 */
import type Router from '@koa/router';
import { ApiError, ERROR_CODES } from '../../domain/errors';
import { type Assets, readAssets } from '../../openapi/assets';
import { buildDocument } from '../../openapi/document';
import { type Guide, GUIDE_NAMES, readGuides } from '../../openapi/guides';
import {
  renderErrorPage,
  renderGuidePage,
  renderMissingPage,
  renderReference,
} from '../../openapi/pages';
import { errorPagePath } from '../../kit/api/error-bodies';
import type { GatewayContext, GatewayMiddleware, GatewayState } from '../../kit/api/context';

const FOR_EVER = 'public, max-age=31536000, immutable';

/** The guides load nothing from other hosts and have nothing inline; their script copies samples. */
const GUIDE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** Scalar writes style elements and attributes, and sends the requests that a reader tries. */
const REFERENCE_POLICY = {
  ...GUIDE_POLICY,
  'style-src': "'self' 'unsafe-inline'",
  'connect-src': "'self'",
};

export function docsRoutes(router: Router<GatewayState>, publicUrl: string): void {
  const document = once(() => JSON.stringify(buildDocument()));
  const docs = once(() => ({ assets: readAssets(), guides: readGuides(publicUrl) }));

  router.get('/api/v1/openapi.json', (ctx) => {
    ctx.type = 'application/json';
    ctx.body = document();
  });

  const page = (
    render: (guides: Guide[], assets: Assets) => string,
    policy: Policy,
    status?: number,
  ): GatewayMiddleware => {
    const html = once(() => render(docs().guides, docs().assets));
    return (ctx) => {
      answer(ctx, html(), policy, status);
    };
  };

  router.get('/docs', page(renderReference, REFERENCE_POLICY));
  for (const [index, name] of GUIDE_NAMES.entries()) {
    const render = (guides: Guide[], assets: Assets) =>
      renderGuidePage(guides[index] as Guide, guides, assets);
    router.get(`/docs/guides/${name}`, page(render, GUIDE_POLICY));
  }

  for (const code of ERROR_CODES) {
    const render = (guides: Guide[], assets: Assets) => renderErrorPage(code, guides, assets);
    router.get(errorPagePath(code), page(render, GUIDE_POLICY));
  }

  router.get('/', (ctx) => {
    ctx.redirect('/docs');
  });

  router.get('/docs/assets/:name', async (ctx) => {
    const asset = Object.values(docs().assets).find(({ name }) => name === ctx.params['name']);
    if (asset === undefined)
      throw new ApiError({ code: 'not_found', details: { resource: 'asset' } });
    ctx.set({
      'Cache-Control': FOR_EVER,
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept-Encoding',
    });
    ctx.type = asset.type;
    const isCompressed = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (isCompressed) ctx.set('Content-Encoding', 'gzip');
    ctx.body = isCompressed ? await asset.gzipped() : asset.body;
  });

  router.get('/docs/*path', page(renderMissingPage, GUIDE_POLICY, 404));
}

type Policy = Readonly<Record<string, string>>;

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function answer(ctx: GatewayContext, html: string, policy: Policy, status = 200): void {
  const directives = Object.entries(policy).map(([name, value]) => `${name} ${value}`);
  ctx.set({
    'Content-Security-Policy': directives.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
  });
  ctx.status = status;
  ctx.type = 'text/html';
  ctx.body = html;
}
